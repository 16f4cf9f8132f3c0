// `sluice approvers …`: who may decide, and how they show that it is they. Everything but listing needs
// the PIN of an admin, at the terminal; the very first PIN needs none, and is announced on every channel.

import {
  ADD_PERSON,
  CHANGE_PIN,
  LIST_PEOPLE,
  REMOVE_PERSON,
} from '@sluice/gateway/operations/people'
import { InputError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { JsonObject } from '@sluice/policy/values/json'
import type { Command } from 'commander'
import { addOperationCommand, OperationClient } from '../connect/ask-operation.ts'
import { DATA, type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import { askFirstPin, askNewPin, askPeople, PROOF } from '../connect/prove-person.ts'
import { defineCommand } from '../terminal/define-command.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, printable } from '../terminal/output.ts'
import { showPeople } from './show-people.ts'

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

export function add(program: Command, answer: SetExitCode): void {
  const parent = program.command('approvers').helpCommand(false)
  addAdd(parent, answer)
  addOperationCommand(parent, answer, {
    row: REMOVE_PERSON,
    args: { name: '<name>' },
    print: (_, output, { name }) => output.line(`${printable(name)} decides no more`),
  })
  addPin(parent, answer)
  addOperationCommand(parent, answer, {
    row: LIST_PEOPLE,
    print: (list, output) => {
      showPeople(list, output)
      return list.anybody ? 0 : 1
    },
  })
}

function addAdd(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: ADD_PERSON,
    description: 'add an approver',
    args: { name: '<name>' },
    omit: ['pin'],
    options: { '--pin': 'the person is here and types a PIN now' },
    examples: ADD_EXAMPLES,
    before: ({ token }, _, { pin }) =>
      token === true && pin === true
        ? new InputError('--token is for systems, --pin for people', 'one of them')
        : undefined,
    ask: async (client, input, { pin }) => {
      const { name, token } = input
      const proof = await client.prove()
      const typed = pin === true ? { pin: await askNewPin(name) } : {}
      const response = await client.ask(ADD_PERSON, { ...input, ...typed })
      if (token === true || pin === true) return response
      return { ...response, ...(await invite(client.place.data, name, proof)) }
    },
    print: ({ token, invitation }, output, { name }, { pin }) => {
      output.line(`${output.paint('bold', printable(name))} is an approver`)
      const once = output.paint('dim', 'it is shown this once and kept nowhere')
      if (token !== null) output.line(`token  ${token}\n${once}`)
      if (invitation !== undefined)
        output.line(`link   ${invitation}\n${once}; within a day ${name} adds a passkey there`)
      if (token === null && invitation === undefined && pin !== true)
        output.remark(
          `note: ${name} has nothing to prove it by: \`sluice approvers pin ${name}\`, or add again while the gate serves HTTP, for a link`,
        )
    },
  })
}

/** A link for the page of the running gate; undefined if none serves one. */
async function invite(
  data: string,
  name: string,
  proof: JsonObject,
): Promise<{ readonly invitation: string } | undefined> {
  try {
    const { invitation } = (await askGate(data, { do: 'invite', name, proof })) ?? {}
    return typeof invitation === 'string' ? { invitation } : undefined
  } catch {
    return undefined // It serves pipes only.
  }
}

const addPin = defineCommand({
  name: 'pin',
  description: 'set the first PIN, or change one',
  args: { '[name]': 'whose; yours without' },
  options: { ...DATA, ...PROOF },
  examples: PIN_EXAMPLES,
  run: setPin,
})

async function setPin(
  { name, ...options }: DataOptions & { readonly name?: string },
  output: Output,
): Promise<0 | 1> {
  // The configuration names it: it is made here, before any agent can start the gate.
  const place = findData(options, { mayBeMissing: options.data === undefined })
  const client = new OperationClient(place, options)
  const { anybody } = await client.ask(LIST_PEOPLE, {})
  if (!anybody) {
    const why = 'This is the first PIN here: the person who sets it may approve everything.'
    const first = await askFirstPin((request) => askPeople(place.data, request), {
      why,
      ...pickDefined({ name }),
    })
    output.value({ set: first !== undefined, first: true })
    return first === undefined ? 1 : 0
  }
  const proof = await client.prove()
  const whose = name ?? String(proof.name)
  await client.ask(CHANGE_PIN, { name: whose, pin: await askNewPin(whose) })
  output.value({ set: true, first: false })
  output.line(`the PIN of ${printable(whose)} is changed`)
  return 0
}
