// `sluice approvers …`: who may decide, and how they show that it is they. Everything but listing needs
// the PIN of an admin, at the terminal; the very first PIN needs none, and is announced on every channel.

import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { ROLES } from '../../core/person.ts'
import { REMOVE_PERSON } from '../../operations/people.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, printable } from '../../terminal/output.ts'
import { addOperationCommand } from '../connect/ask-operation.ts'
import { type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import {
  addProvenCommand,
  askFirstPin,
  askNewPin,
  peopleOffline,
  provePerson,
} from '../connect/prove-person.ts'
import { runOnOwner } from '../connect/run-on-owner.ts'
import { showPeople } from './show-people.ts'

interface Options extends DataOptions {
  readonly roles?: string
  readonly groups?: string
  readonly owns?: string
  readonly token?: boolean
  readonly pin?: boolean
}

const ADD_EXAMPLES = `
Examples:
  sluice approvers add bob --groups security              prints a link: bob adds a passkey there, once
  sluice approvers add bob --pin                          bob types a PIN at this terminal
  sluice approvers add eve --roles approver,policy-manager --owns ci
  sluice approvers add chatbot --token --groups ops       a system: prints its credential, once

Roles: viewer looks; approver decides over held calls; policy-manager also applies policies, accepts
pins and thaws; admin does everything. --owns names principals whose calls this person may not approve
if a rule asks for separation of duties. A system's token goes in \`Authorization: Bearer TOKEN\` to
/api/approvals. Asks for the PIN of an admin at the terminal.`

const PIN_EXAMPLES = `
Examples:
  sluice approvers pin            the first time: sets the first PIN, and you have all roles
  sluice approvers pin ann        the same, under another name than the user's
  sluice approvers pin            later: changes yours, with the old one
  sluice approvers pin bob        an admin sets bob's

The PIN is read from the terminal itself: never from a pipe, a flag, a file or the environment. After 5
wrong ones there is a pause, which grows, and which no restart shortens.`

export function addApprovers(program: Command, answer: SetExitCode): void {
  const parent = program.command('approvers').helpCommand(false)
  addProvenCommand(parent, 'add', 'add an approver')
    .argument('<name>', 'who, as the record names them')
    .option('--roles <a,b>', `of ${ROLES.join(', ')}`, 'approver')
    .option('--groups <a,b>', 'what rules name as `approvers`')
    .option('--owns <a,b>', 'principals that are this one’s own')
    .option('--token', 'a system: prints a credential for the API, once')
    .option('--pin', 'the person is here and types a PIN now')
    .addHelpText('after', ADD_EXAMPLES)
    .action((name: string, options: Options) => add(name, options, answer))
  addOperationCommand(
    parent,
    {
      row: REMOVE_PERSON,
      name: 'remove',
      flags: { name: '<name>' },
      print: (_, output, { name }) => {
        output.line(`${printable(String(name))} decides no more`)
        return 0
      },
    },
    answer,
  )
  addProvenCommand(parent, 'pin', 'set the first PIN, or change one')
    .argument('[name]', 'whose; yours without')
    .addHelpText('after', PIN_EXAMPLES)
    .action((name: string | undefined, options: Options) => setPin(name, options, answer))
  addProvenCommand(parent, 'list', 'who may decide').action(async (options: Options) => {
    const output = new Output(options)
    const response = await ask(findData(options).data, { do: 'people' })
    output.value(response)
    showPeople(response, output)
    answer(response.anybody === true ? 0 : 1)
  })
}

function ask(data: string, request: JsonObject & { readonly do: string }): Promise<JsonObject> {
  return runOnOwner(data, request, () => peopleOffline(data, request))
}

async function add(name: string, options: Options, answer: SetExitCode): Promise<void> {
  const output = new Output(options)
  const { data } = findData(options)
  if (options.token === true && options.pin === true)
    throw new CliError('CLI_ARGUMENT', '--token is for systems, --pin for people', 'one of them')
  const proof = await provePerson(data, options)
  const names = (text: string | undefined): string[] => (text === undefined ? [] : text.split(','))
  const pin = options.pin === true ? { pin: await askNewPin(name) } : {}
  const response = await ask(data, {
    do: 'approver-add',
    name,
    proof,
    token: options.token === true,
    ...pin,
    roles: names(options.roles),
    groups: names(options.groups),
    owns: names(options.owns),
  })
  const isInvited = options.token !== true && options.pin !== true
  const invited = isInvited ? await invite(data, name, proof) : undefined
  const { token } = response
  const { invitation } = invited ?? {}
  output.value({ ...response, ...invited })
  output.line(`${output.paint('bold', printable(name))} is an approver`)
  const once = output.paint('dim', 'it is shown this once and kept nowhere')
  if (typeof token === 'string') output.line(`token  ${token}\n${once}`)
  if (typeof invitation === 'string')
    output.line(`link   ${invitation}\n${once}; within a day ${name} adds a passkey there`)
  if (token === null && invitation === undefined && options.pin !== true)
    output.remark(
      `note: ${name} has nothing to prove it by: \`sluice approvers pin ${name}\`, or add again while the gate serves HTTP, for a link`,
    )
  answer(0)
}

/** A link for the page of the running gate; undefined if none serves one. */
async function invite(
  data: string,
  name: string,
  proof: JsonObject,
): Promise<JsonObject | undefined> {
  try {
    return await askGate(data, { do: 'invite', name, proof })
  } catch {
    return undefined // It serves pipes only.
  }
}

async function setPin(
  name: string | undefined,
  options: Options,
  answer: SetExitCode,
): Promise<void> {
  const output = new Output(options)
  // The configuration names it: it is made here, before any agent can start the gate.
  const { data } = findData(options, { mayBeMissing: options.data === undefined })
  const { anybody } = await ask(data, { do: 'people' })
  if (anybody !== true) {
    const why = 'This is the first PIN here: the person who sets it may approve everything.'
    const first = await askFirstPin((request) => ask(data, request), {
      why,
      ...(name === undefined ? {} : { name }),
    })
    output.value({ set: first !== undefined, first: true })
    return answer(first === undefined ? 1 : 0)
  }
  const proof = await provePerson(data, options)
  const whose = name ?? String(proof.name)
  const pin = await askNewPin(whose)
  await ask(data, { do: 'change-pin', name: whose, pin, proof })
  output.value({ set: true, first: false })
  output.line(`the PIN of ${printable(whose)} is changed`)
  answer(0)
}
