// The calls of one session of a client whose end has not come. Some never get one, because the user said no to
// a call that the policy allowed: these give way to new calls, so that no session is stuck behind them.

import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import type { JsonObject } from '@sluice/policy/values/json'
import { CLIENT_TOOLS } from '../../hooks/client-tools.ts'
import type { HookAnswer, HookedCall } from '../../hooks/clients/hook-event.ts'
import type { CallReply } from '../sessions/kept-links.ts'
import type { EndCall, HookAdmission } from './hook-server.ts'
import { HOOK_CALLS_MAX } from './limits.ts'

export interface OpenCall extends Pick<HookedCall, 'tool' | 'args'> {
  /** What the hook before the tool is answered. */
  readonly verdict: Promise<HookAnswer>
  /** The reply as the model may see it. Never rejects. */
  readonly reply: Promise<CallReply>
  /** Records the call as cancelled: nobody waits for its end any more. */
  readonly giveUp: () => void
  /** Ends the call; undefined until the call is admitted. */
  end?: EndCall
  /** The admission; undefined until then, and for a call whose arguments an approver changed. */
  admission?: HookAdmission | undefined
  /** The box that its line runs in; undefined if it needs none, or until it is known. */
  box?: string
  /** The user has said something since it began. */
  isBeforePrompt?: boolean
}

export class OpenCalls {
  /** Where the client stood at the first call of the session: a real path. */
  project: string | undefined
  /** A call of the session was changed after it had been decided. */
  isRewritten = false
  /** The calls by the client's id, the oldest first. */
  readonly #calls = new Map<string, OpenCall>()

  get(id: string): OpenCall | undefined {
    return this.#calls.get(id)
  }

  /** The call that has ended, as the client reports it. */
  findEnded(call: HookedCall, box: string | undefined): OpenCall | undefined {
    if (call.id !== undefined) return this.#calls.get(call.id)
    return this.findAdmitted(call, box)
  }

  /** A call that runs with these arguments and in this box, whose id the client does not say; else one with
   * these arguments. */
  findAdmitted(call: HookedCall, box: string | undefined): OpenCall | undefined {
    const same = [...this.#calls.values()].filter(
      (open) => open.end !== undefined && isSameInput(open, call),
    )
    return same.find((open) => open.box === box) ?? same[0]
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

/** The client's own tools have in `cwd` where the client stood when it sent the hook, and no input: after `cd` it
 * stands elsewhere. */
function withoutDirectory({ tool, args }: Pick<HookedCall, 'tool' | 'args'>): JsonObject {
  if (!CLIENT_TOOLS.has(tool)) return args
  const { cwd: _, ...input } = args
  return input
}

function textOf(value: JsonObject[string] | undefined): string | undefined {
  return value === undefined ? undefined : writeCanonicalJson(value)
}
