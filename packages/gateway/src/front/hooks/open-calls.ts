// The calls of one session of a client whose end has not come. Some never get one, because the user said no to
// a call that the policy allowed: these give way to new calls, so that no session is stuck behind them.

import { writeCanonicalJson } from '@sluice/policy/core/canonical-json'
import type { JsonObject } from '@sluice/policy/core/json'
import { CLIENT_TOOLS } from '../../hooks/client-tools.ts'
import type { HookAnswer, HookedCall } from '../../hooks/hook-event.ts'
import type { CallReply } from '../sessions/kept-links.ts'
import type { EndCall } from './hook-server.ts'
import { HOOK_CALLS_MAX } from './limits.ts'

export interface OpenCall extends Pick<HookedCall, 'tool' | 'args'> {
  /** What the hook before the tool is answered. */
  readonly verdict: Promise<HookAnswer>
  /** As the model may see it. Never rejects. */
  readonly reply: Promise<CallReply>
  /** Records the call as cancelled: nobody waits for its end any more. */
  readonly giveUp: () => void
  /** Undefined until the call is admitted. */
  end?: EndCall
  /** The user has said something since it began. */
  isBeforePrompt?: boolean
}

export class OpenCalls {
  /** By the client's id, the oldest first. */
  readonly #calls = new Map<string, OpenCall>()

  get(id: string): OpenCall | undefined {
    return this.#calls.get(id)
  }

  /** The call that has ended, as the client reports it. */
  findEnded(call: HookedCall): OpenCall | undefined {
    if (call.id !== undefined) return this.#calls.get(call.id)
    return [...this.#calls.values()].find((open) => isSameInput(open, call))
  }

  add(id: string, call: OpenCall): void {
    this.#calls.set(id, call)
    void call.reply.then(() => {
      if (this.#calls.get(id) === call) this.#calls.delete(id)
    })
  }

  /** False if the session has as many calls as are kept, and all of them still wait to be admitted. */
  makeRoom(): boolean {
    if (this.#calls.size < HOOK_CALLS_MAX) return true
    const oldest = [...this.#calls].find(([, { end }]) => end !== undefined)
    if (oldest !== undefined) this.#giveUp(...oldest)
    return oldest !== undefined
  }

  /** What was open at the prompt before this one will not end any more. One prompt is not enough: a user may
   * write while a command runs, or while an agent works in the background. */
  notePrompt(): void {
    for (const [id, call] of [...this.#calls]) {
      if (call.end === undefined) continue
      if (call.isBeforePrompt === true) this.#giveUp(id, call)
      call.isBeforePrompt = true
    }
  }

  #giveUp(id: string, call: OpenCall): void {
    this.#calls.delete(id)
    call.giveUp()
  }
}

/** Decided with the same arguments, directory included. */
export function isSameCall(open: OpenCall, { tool, args }: HookedCall): boolean {
  return open.tool === tool && writeCanonicalJson(open.args) === writeCanonicalJson(args)
}

/** Whether the client ran what was decided. */
export function isSameInput(open: OpenCall, call: HookedCall): boolean {
  return open.tool === call.tool && listChangedInput(open, call).length === 0
}

/** The arguments that are not those of the decision. */
export function listChangedInput(open: OpenCall, call: HookedCall): string[] {
  const [judged, ran] = [withoutDirectory(open), withoutDirectory(call)]
  const names = [...new Set([...Object.keys(judged), ...Object.keys(ran)])]
  return names.filter((name) => textOf(judged[name]) !== textOf(ran[name]))
}

/** For the client's own tools `cwd` is where the client stood when it sent the hook, and no input: after `cd` it
 * stands elsewhere. */
function withoutDirectory({ tool, args }: Pick<HookedCall, 'tool' | 'args'>): JsonObject {
  if (!CLIENT_TOOLS.has(tool)) return args
  const { cwd: _, ...input } = args
  return input
}

function textOf(value: JsonObject[string] | undefined): string | undefined {
  return value === undefined ? undefined : writeCanonicalJson(value)
}
