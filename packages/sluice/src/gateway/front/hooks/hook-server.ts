// A client with hooks as a server behind the gate: its tools are those of the catalogue, and a call that the
// gate forwards to it is a hook that waits. Admitting the call answers the hook; the end that the client
// reports later is the server's answer. One for all clients of a gate.

import { setImmediate } from 'node:timers/promises'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { CLIENT_TOOLS, listClientTools } from '../../../hooks/client-tools.ts'
import type { HookClient } from '../../../hooks/hook-event.ts'
import type { RequestId } from '../../../protocol/message.ts'
import { RPC } from '../../../protocol/rpc-codes.ts'
import { readPackageVersion } from '../../shared/package-version.ts'
import type { StartInProcess } from '../../upstream/in-process.ts'
import { HOOK_OTHER_TOOLS_MAX } from './limits.ts'

/** Names the hook that a call belongs to, in `_meta`. */
export const HOOK_META = 'sluice/hook'

/** Gives the gate the result of an admitted call. */
export type EndCall = (result: JsonObject) => void

export class HookServer {
  /** Hooks whose call has not been forwarded yet, by the value of HOOK_META. */
  readonly #waiting = new Map<string, (end: EndCall) => void>()
  readonly #others = new Map<HookClient, Set<string>>()
  readonly #listeners = new Map<HookClient, Set<(message: object) => void>>()

  /** Until the call is forwarded, or `forget`. */
  await(hook: string, onAdmitted: (end: EndCall) => void): void {
    this.#waiting.set(hook, onAdmitted)
  }

  forget(hook: string): void {
    this.#waiting.delete(hook)
  }

  /** A tool that the catalogue has not is listed from now on: a new version of a client is held by the policy
   * and not broken. */
  async learn(client: HookClient, tool: string): Promise<void> {
    const others = this.#others.get(client) ?? new Set()
    if (CLIENT_TOOLS.has(tool) || others.has(tool)) return
    const [oldest] = others
    if (others.size >= HOOK_OTHER_TOOLS_MAX) others.delete(oldest as string)
    this.#others.set(client, others.add(tool))
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    for (const say of this.#listeners.get(client) ?? []) say(changed)
    // The gate may handle the notification in the next turn.
    await setImmediate()
  }

  connect(client: HookClient): StartInProcess {
    return (_caller, say) => {
      const listeners = this.#listeners.get(client) ?? new Set()
      this.#listeners.set(client, listeners.add(say))
      return {
        receive: (message) => this.#receive(client, message as Request, say),
        close: async () => void listeners.delete(say),
      }
    }
  }

  #receive(
    client: HookClient,
    { id, method, params = {} }: Request,
    say: (message: object) => void,
  ): void {
    if (id === undefined) return
    const answer = (result: JsonObject) => say({ jsonrpc: '2.0', id, result })
    const fail = (code: number, message: string) =>
      say({ jsonrpc: '2.0', id, error: { code, message } })
    if (method === 'initialize')
      return answer({
        protocolVersion: params.protocolVersion ?? '',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: client, version: readPackageVersion() },
      })
    if (method === 'ping') return answer({})
    if (method === 'tools/list')
      return answer({ tools: listClientTools(client, this.#others.get(client) ?? []) })
    if (method !== 'tools/call') return fail(RPC.methodNotFound, `\`${method}\` is not served here`)
    const hook = isObject(params._meta) ? String(params._meta[HOOK_META]) : ''
    const onAdmitted = this.#waiting.get(hook)
    if (onAdmitted === undefined) return fail(RPC.invalidParams, 'the hook of this call is over')
    this.#waiting.delete(hook)
    onAdmitted(answer)
  }
}

interface Request {
  readonly id?: RequestId
  readonly method: string
  readonly params?: JsonObject
}
