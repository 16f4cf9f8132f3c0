// A client with hooks as a server behind the gate: its tools are those of the catalogue, and a call that the
// gate forwards to it is a hook that waits. Admitting the call answers the hook; the end that the client
// reports later is the server's answer.

import { setImmediate } from 'node:timers/promises'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import type { RequestId } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import type { Admission } from '../../call/call-request.ts'
import { CLIENT_TOOLS, listClientTools, listOtherTools } from '../../hooks/client-tools.ts'
import type { HookSource } from '../../hooks/clients/table.ts'
import { readPackageVersion } from '../../shared/package-version.ts'
import type { StartInProcess } from '../../upstream/in-process.ts'
import { HOOK_OTHER_TOOLS_MAX } from './limits.ts'

/** Names the hook that a call belongs to, in `_meta`. */
export const HOOK_META = 'sluice/hook'

/** Gives the gate the result of an admitted call. */
export type EndCall = (result: JsonObject) => void

/** What hooks need of the admission of a call. */
export type HookAdmission = Pick<Admission, 'intent' | 'quiet' | 'approval'>

/** Told when a call is admitted; `args` are those that were approved. */
export type OnAdmitted = (
  end: EndCall,
  args: JsonObject,
  admission: HookAdmission | undefined,
) => void

export class HookServer {
  readonly #client: HookSource
  /** Hooks whose call has not been forwarded yet, by the value of HOOK_META. */
  readonly #waiting = new Map<string, OnAdmitted>()
  /** The admissions of calls that are being forwarded, by the same key. */
  readonly #admissions = new Map<string, HookAdmission>()
  readonly #others = new Set<string>()
  readonly #listeners = new Set<(message: object) => void>()

  constructor(client: HookSource) {
    this.#client = client
  }

  /** Until the call is forwarded, or `forget`. */
  await(hook: string, onAdmitted: OnAdmitted): void {
    this.#waiting.set(hook, onAdmitted)
  }

  forget(hook: string): void {
    this.#waiting.delete(hook)
    this.#admissions.delete(hook)
  }

  /** The call of a hook may be made; it is forwarded next. */
  noteAdmission(hook: string, admission: HookAdmission): void {
    if (this.#waiting.has(hook)) this.#admissions.set(hook, admission)
  }

  /** A tool that the catalogue has not is listed from now on: a new version of a client is held by the policy
   * and not broken. */
  async learn(tool: string): Promise<void> {
    const isListed = this.#client !== 'acs' && CLIENT_TOOLS.has(tool)
    if (isListed || this.#others.has(tool)) return
    const [oldest = ''] = this.#others
    if (this.#others.size >= HOOK_OTHER_TOOLS_MAX) this.#others.delete(oldest)
    this.#others.add(tool)
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    for (const say of this.#listeners) say(changed)
    // The gate may handle the notification in the next turn.
    await setImmediate()
  }

  readonly connect: StartInProcess = (_caller, say) => {
    this.#listeners.add(say)
    return {
      receive: (message) => this.#receive(message as Request, say),
      close: async () => void this.#listeners.delete(say),
    }
  }

  #receive({ id, method, params = {} }: Request, say: (message: object) => void): void {
    if (id === undefined) return
    const answer = (result: JsonObject) => say({ jsonrpc: '2.0', id, result })
    const fail = (code: number, message: string) =>
      say({ jsonrpc: '2.0', id, error: { code, message } })
    if (method === 'initialize')
      return answer({
        protocolVersion: params.protocolVersion ?? '',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: this.#client, version: readPackageVersion() },
      })
    if (method === 'ping') return answer({})
    if (method === 'tools/list') return answer({ tools: this.#list() })
    if (method !== 'tools/call') return fail(RPC.methodNotFound, `\`${method}\` is not served here`)
    const hook = isObject(params._meta) ? String(params._meta[HOOK_META]) : ''
    const onAdmitted = this.#waiting.get(hook)
    if (onAdmitted === undefined) return fail(RPC.invalidParams, 'the hook of this call is over')
    const admission = this.#admissions.get(hook)
    this.forget(hook)
    onAdmitted(answer, isObject(params.arguments) ? params.arguments : {}, admission)
  }

  /** An agent has tools of its own, which are known once it has asked for them. */
  #list(): JsonObject[] {
    return this.#client === 'acs'
      ? listOtherTools(this.#others, 'A tool of an agent that asks by the Agent Control Standard')
      : listClientTools(this.#client, this.#others)
  }
}

interface Request {
  readonly id?: RequestId
  readonly method: string
  readonly params?: JsonObject
}
