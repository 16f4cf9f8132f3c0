// Handles that a server gives out (cursors, tasks, the state of a call that wants input) as one
// principal may hold them: sealed on the way out, opened on the way in. A server knows the gate by
// one credential, so that unsealed A's would work for B.

import type { SealedFor, Seals } from '../identity/seal.ts'
import { digestOf } from '../ledger/record.ts'
import type { Era } from '../wire/eras.ts'
import { withMembers } from '../wire/members.ts'
import type { Request } from '../wire/message.ts'
import { membersOf } from '../wire/spans.ts'
import { writeMembers } from '../wire/write-message.ts'
import type { Continuations } from './continuations.ts'

export interface HandlesContext {
  readonly era: Era
  readonly seals: Seals
  readonly server: string
  readonly principal: string
  readonly continuations: Continuations
}

export type Opened =
  | { readonly request: Request; readonly continues: boolean }
  | { readonly request?: undefined; readonly refused: string }

/** What a retry must be equal in. */
export interface CallName {
  readonly method: string
  readonly name: string
  readonly argsText: string | undefined
}

export class Handles {
  readonly #context: HandlesContext
  readonly #for: SealedFor

  constructor(context: HandlesContext) {
    this.#context = context
    this.#for = { server: context.server, principal: context.principal }
  }

  /** A client's request as the server is to have it. */
  open(request: Request, name: string): Opened {
    const { era, seals, continuations } = this.#context
    const { method, params } = request
    const given = params?.value ?? {}
    if (typeof given.cursor === 'string') {
      const cursor = seals.open('cursor', this.#for, given.cursor)
      if (cursor === undefined) return { refused: 'this cursor is not one that was given here' }
      return { request: put(request, 'cursor', cursor), continues: false }
    }
    if (era === 'session') return { request, continues: false }
    if (typeof given.taskId === 'string') {
      const task = seals.open('task', this.#for, given.taskId)
      if (task === undefined) return { refused: 'Task not found' }
      return { request: put(request, 'taskId', task), continues: false }
    }
    if (typeof given.requestState !== 'string') return { request, continues: false }
    const argsText = params?.text.get('arguments')
    const call = callDigest({ method, name, argsText })
    const state = seals.open('requestState', { ...this.#for, call }, given.requestState)
    if (state === undefined)
      return { refused: 'this requestState is not one that was given for this call' }
    const continues = continuations.take(given.requestState)
    // The server itself may have had none.
    return { request: put(request, 'requestState', state === '' ? undefined : state), continues }
  }

  /** A list's result, with its cursor sealed. */
  sealCursor(resultText: string): string {
    if (!resultText.includes('"nextCursor"')) return resultText
    return this.#sealed(resultText, 'nextCursor', (cursor) =>
      this.#context.seals.seal('cursor', this.#for, cursor),
    )
  }

  /** The result of a call that has become a task, or of asking about one. */
  sealTask(resultText: string): string {
    if (!resultText.includes('"taskId"')) return resultText
    return this.#sealed(resultText, 'taskId', (task) =>
      this.#context.seals.seal('task', this.#for, task),
    )
  }

  /** The state of a call that wants input: for just this call, and uncounted once. */
  sealState(state: string | undefined, name: CallName): string {
    const call = callDigest(name)
    const sealed = this.#context.seals.seal('requestState', { ...this.#for, call }, state ?? '')
    this.#context.continuations.give(sealed)
    return sealed
  }

  #sealed(resultText: string, key: string, seal: (handle: string) => string): string {
    const members = membersOf(resultText)
    const handle: unknown = JSON.parse(members.get(key) ?? 'null')
    if (typeof handle !== 'string') return resultText
    members.set(key, JSON.stringify(seal(handle)))
    return writeMembers(members)
  }
}

function put(request: Request, key: string, handle: string | undefined): Request {
  const text = handle === undefined ? undefined : JSON.stringify(handle)
  return { ...request, params: withMembers(request.params, { [key]: text }) }
}

function callDigest({ method, name, argsText }: CallName): string {
  return digestOf(JSON.stringify([method, name, argsText ?? null]))
}
