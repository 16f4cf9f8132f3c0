// The proof that loosening commands carry: the PIN of a person, asked for at the terminal device and
// sent with the request to the process that owns the data directory. If no approver has a PIN yet, the first use
// sets it, there and then, so that a first approval takes a minute.

import { userInfo } from 'node:os'
import { PIN_LENGTH_MIN } from '@sluice/access/identity/limits'
import { isPersonName } from '@sluice/access/identity/names'
import { checkNewPin } from '@sluice/access/identity/people/pin'
import type { PeopleList } from '@sluice/access/identity/person'
import type { Operation } from '@sluice/gateway/operations/operation'
import { PEOPLE_OPERATIONS } from '@sluice/gateway/operations/people'
import { runOperation } from '@sluice/gateway/operations/run-operation'
import type { JsonObject } from '@sluice/policy/values/json'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { PIN_TRIES_MAX } from '../terminal/limits.ts'
import { type TerminalPromptOptions, terminal } from '../terminal/terminal.ts'
import { withOfflineParts } from './offline-parts.ts'
import { runOnOwner } from './run-on-owner.ts'

export interface ProofOptions {
  readonly as?: string
}

type PeopleRequest = JsonObject & { readonly do: string }
type AskPeople = (request: PeopleRequest) => Promise<JsonObject>

export const PROOF = { '--as <name>': 'your name, if several people have a PIN' } as const

/** Asks the owner of a data directory for something about people. */
export function askPeople(data: string, request: PeopleRequest): Promise<JsonObject> {
  return runOnOwner(data, request, () => peopleOffline(data, request))
}

/** What goes along with a request as `proof`. */
export async function provePerson(data: string, { as }: ProofOptions): Promise<JsonObject> {
  return proofFrom((request) => askPeople(data, request), as)
}

/** The same for the process that has the lock of the data directory. */
export async function provePersonAlone(data: string, { as }: ProofOptions): Promise<JsonObject> {
  return proofFrom((request) => peopleOffline(data, request), as)
}

/** Sets the first PIN; undefined if the person would rather not now. */
export async function askFirstPin(
  ask: AskPeople,
  how: TerminalPromptOptions & { readonly why: string; readonly name?: string },
): Promise<JsonObject | undefined> {
  const { username } = userInfo()
  const name = how.name ?? (isPersonName(username) ? username : 'owner')
  process.stderr.write(
    `${how.why}\nChoose a PIN for ${name}: at least ${PIN_LENGTH_MIN} characters, unknown to any agent.\n`,
  )
  const pin = await askTwice('new PIN (Enter for none): ', how)
  if (pin === undefined || pin === '') return undefined
  await ask({ do: 'first-pin', name, pin, at: terminal.name() })
  process.stderr.write(`the PIN is set: ${name} may approve; \`sluice status\` shows who may\n`)
  return { name, pin }
}

/** A PIN for somebody, typed twice. */
export async function askNewPin(name: string): Promise<string> {
  return (await askTwice(`new PIN of ${name}: `)) ?? ''
}

/** Errors are shown at once, and the person may type again; undefined or empty if they give up. */
async function askTwice(
  prompt: string,
  how: TerminalPromptOptions = {},
): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const pin = await terminal.ask(prompt, how)
    if (pin === undefined || pin === '') return pin
    const why = findPinProblem(pin)
    if (why === undefined && (await terminal.ask('once more: ')) === pin) return pin
    const what = why ?? 'the two PINs differ'
    if (tries === PIN_TRIES_MAX)
      throw new CliError('CLI_TERMINAL', what, 'nothing was set: run the command again')
    process.stderr.write(`${what}; try again\n`)
  }
}

function findPinProblem(pin: string): string | undefined {
  try {
    checkNewPin(pin)
    return undefined
  } catch (error) {
    const { message, help } = error as Error & { readonly help?: string }
    return `${message}: ${help}`
  }
}

/** The words about people, as the gate would do them. */
export function peopleOffline(data: string, request: PeopleRequest): Promise<JsonObject> {
  const row = PEOPLE_OPERATIONS.find(({ socket }) => socket === request.do) as Operation
  return withOfflineParts({ data }, (parts) => runOperation(row, parts, request))
}

async function proofFrom(ask: AskPeople, as: string | undefined): Promise<JsonObject> {
  const { people, anybody } = (await ask({ do: 'people' })) as JsonObject & PeopleList
  const why = 'Nobody can approve anything here yet.'
  if (!anybody) {
    const first = await askFirstPin(ask, { why })
    if (first !== undefined) return first
    throw new CliError('CLI_TERMINAL', 'this needs a PIN', '`sluice approvers pin` sets it')
  }
  const name = as ?? whose(people.filter(({ pinSet }) => pinSet !== null).map((one) => one.name))
  const pin = (await terminal.ask(`PIN of ${name}: `)) ?? ''
  return { name, pin }
}

function whose(names: readonly string[]): string {
  const [only] = names
  if (only === undefined)
    throw new CliError('CLI_TERMINAL', 'nobody here has a PIN', 'decide in the console instead')
  if (names.length === 1) return only
  const { username } = userInfo()
  if (names.includes(username)) return username
  throw new ArgumentError('who are you?', `say --as ${names.join(' or --as ')}`)
}
