// A row of the table of operations: what a person or a program can ask of a gate, once for all faces.
// The control socket, `/api` with its OpenAPI document and the command line are derived from the rows;
// run-operation.ts is the only way to run one.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { Grants } from '@sluice/access/identity/callers/grants'
import type { People } from '@sluice/access/identity/people/people'
import type { Person, Role } from '@sluice/access/identity/person'
import type { Ledger } from '@sluice/ledger/ledger'
import {
  asFields,
  type FieldValues,
  type Shape,
  type ShapeFields,
  type ShapeValue,
} from '@sluice/policy/document/shape'
import type { JsonObject } from '@sluice/policy/values/json'
import type { Gate } from '../gate.ts'
import type { ParseConfig } from '../start/open-servers.ts'
import type { CommandParts } from '../start/run-admin.ts'
import type { FreezeStore } from '../state/freezes.ts'
import type { Policies } from '../state/policies.ts'
import type { Servers } from '../state/servers.ts'
import type { ActiveLockFile } from '../tools/active-lock-file.ts'
import type { Pins } from '../tools/pins.ts'
import type { ApprovalNews } from './approval-news.ts'
import type { VerifyPerson } from './verify-person.ts'

/** What operations work on: of a running gate, or of a data directory if none runs. */
export interface OperationParts {
  readonly people: People
  /** `recordFirst` of an event of now. */
  readonly record: (event: string, detail: JsonObject) => Promise<number>
  readonly ledger: Pick<Ledger, 'event'>
  readonly prove: VerifyPerson
  /** Wall clock, for the audit log. */
  readonly nowMs: () => number
  /** A warning in the log: its reader must see who may decide from now on. */
  readonly announce: (what: string) => void
  readonly freezes: FreezeStore
  /** Names of the configured servers; undefined if they are not known. */
  readonly servers: readonly string[] | undefined
  /** Ends what is open and now frozen; the number of calls that were cancelled. */
  readonly interrupt: () => number
  readonly grants: Grants
  readonly authenticator: Pick<Authenticator, 'callerOf'>
  readonly gate: Pick<Gate, 'decide'>
  /** The names of the documents that a grant may name. */
  readonly policies: readonly string[]
  /** Sessions of callers who may no longer call are to be ended. */
  readonly grantsChanged: () => void
  readonly pins: Pins
  /** What callers may see has changed. */
  readonly toolsChanged: () => void
  readonly approvals: ApprovalService
  /** Absent without the console, whose thread reads the ledger. */
  readonly lookup?: LedgerLookup | undefined
  /** The data directory. */
  readonly data: string
  readonly serverFile: ServerFile
  readonly policyFiles: PolicyFiles
  /** For operations that need a running gate. */
  readonly running: CommandParts
  readonly news: ApprovalNews
  /** Commits what was changed to the store that gates share. */
  readonly settle?: (() => Promise<void>) | undefined
  /** Before an operation. What it returns commits the change, and rejects if another gate was faster. */
  readonly beginChange?: (() => () => Promise<void>) | undefined
  /** Gates that have not applied it yet. */
  readonly unconfirmed?: (() => Promise<readonly string[]>) | undefined
}

/** What the ledger has of what operations list. */
export interface LedgerLookup {
  /** The recorded arguments of requests for approval as JSON: of these ids, or of all that have a text in them. */
  readonly recordedArguments: (
    of: readonly string[] | string,
  ) => Promise<ReadonlyMap<string, string>>
  /** When each principal made its last call; 0 if there is none. */
  readonly lastCalls: (principals: readonly string[]) => Promise<ReadonlyMap<string, number>>
}

/** sluice.yaml, whose servers are changed. */
export interface ServerFile {
  readonly file: string
  readonly parse: ParseConfig
  /** `api: { change_servers: true }` of sluice.yaml, as it was when the gate started. */
  readonly isOpenToApi?: boolean
  /** Of the gate that runs; without one only the file is changed. */
  readonly running?: { readonly servers: Servers; readonly gate: Pick<Gate, 'restart'> }
}

/** What is in force, and what waits for a person. */
export interface PolicyFiles {
  readonly policies: Policies
  readonly lock: ActiveLockFile
  /** Looks at the policy files at once. */
  readonly reload: () => void | Promise<void>
}

/** Who asks, and over which face. */
export interface Requester {
  /** Nobody in particular on the socket if the operation needs no proof. */
  readonly by: Person
  readonly channel: 'terminal' | 'console'
}

/** On the socket: nothing, a PIN, a PIN. In the API: signed in, signed in, a passkey assertion for just
 * this request. */
export type Proof = 'none' | 'identity' | 'fresh'

export interface HttpFace {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/grants/:name`: what is named in it is a field of the input. The other fields come from the
   * query of a GET or DELETE, else from the body. */
  readonly path: string
  /** Fields that are not accepted here. */
  readonly omit?: readonly string[]
  /** Fields that are required here beside those of the row. */
  readonly require?: readonly string[]
  /** A passkey assertion is needed here, though the socket asks for no PIN. */
  readonly proof?: true
}

export interface Operation {
  /** `grants.add`. */
  readonly name: string
  readonly summary: string
  /** The least role of the person. */
  readonly role: Role | ((input: JsonObject) => Role)
  readonly proof: Proof | ((input: JsonObject) => Proof)
  /** The word on the control socket. */
  readonly socket?: string
  readonly http?: HttpFace
  /** The command that runs it, as the audit log names it where a PIN was wrong. A row with a word on the socket has
   * one: `grants add` for `grants.add`, if nothing else is given. */
  readonly command?: string | ((input: JsonObject) => string)
  /** Only a running gate can do it: what it works on is not in the data directory. */
  readonly needsGate?: true
  /** It changes what gates with one store have in common, or what one gate has stored. It is refused if their store is
   * down; else its answer waits until that is committed, and is an error if another gate was faster. What is done `at once`
   * holds at this gate whatever the store says. A row without it does at most record that it was asked. */
  readonly changes?: true | 'at once'
  readonly input: ShapeFields
  /** The answer over HTTP (access/identity/answer-shapes.ts); every row with `http` has one. */
  readonly output?: Shape
  /** `input` has been checked; `by` has the role. */
  readonly run: (
    parts: OperationParts,
    input: JsonObject,
    asker: Requester,
  ) => object | Promise<object>
}

/** What a row answers with. */
export type AnswerOf<Of extends Operation> = Of['run'] extends (
  parts: OperationParts,
  input: JsonObject,
  asker: Requester,
) => infer Answer
  ? Awaited<Answer>
  : never

interface OperationDefinition<Fields extends ShapeFields, Answer>
  extends Omit<Operation, 'input' | 'run'> {
  readonly input: Fields
  readonly run: (
    parts: OperationParts,
    input: FieldValues<Fields>,
    asker: Requester,
  ) => Answer | Promise<Answer>
}

type Row<Fields extends ShapeFields, Answer> = Omit<Operation, 'input' | 'run'> & {
  readonly input: Fields
  readonly run: (
    parts: OperationParts,
    input: JsonObject,
    asker: Requester,
  ) => Answer | Promise<Answer>
}

/** Keeps the types of the input for `run`, and of the answer for those who ask. */
export function operation<const Fields extends ShapeFields, const Output extends Shape>(
  row: OperationDefinition<Fields, ShapeValue<Output>> & { readonly output: Output },
): Row<Fields, ShapeValue<Output>> {
  return withCheckedInput(row)
}

/** The same for an operation that only commands ask for: what `run` returns is the type of the answer. */
export function commandOperation<const Fields extends ShapeFields, Answer extends object>(
  row: OperationDefinition<Fields, Answer>,
): Row<Fields, Answer> {
  return withCheckedInput(row)
}

function withCheckedInput<Fields extends ShapeFields, Answer>(
  row: OperationDefinition<Fields, Answer>,
): Row<Fields, Answer> {
  const { run } = row
  return {
    ...(row.socket === undefined ? {} : { command: row.name.replace('.', ' ') }),
    ...row,
    run: (parts, input, asker) => run(parts, asFields(row.input, input), asker),
  }
}
