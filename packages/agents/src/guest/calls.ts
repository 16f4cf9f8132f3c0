// The calls of one turn, from the model's asking to all results being there. Tools inside answer at
// once, tools outside leave as effects side by side, a program runs alone. Results enter the
// conversation in the order of the calls, whatever order they came in.

import type { ToolCall } from './protocol.ts'

export interface ToolResult {
  readonly content: string
  readonly isError: boolean
}

interface Slot {
  readonly call: ToolCall
  effectId?: string
  isProgram?: boolean
  waitingOn?: string
  outcome?: ToolResult
}

/** What becomes of a call: an outcome at once, an effect that was sent, or not yet. */
export type CallStart =
  | { readonly outcome: ToolResult }
  | { readonly effectId: string; readonly isProgram: boolean }
  | 'not yet'

export class TurnCalls {
  readonly #slots: Slot[]

  constructor(calls: readonly ToolCall[], slots: Slot[] = calls.map((call) => ({ call }))) {
    this.#slots = slots
  }

  get isDone(): boolean {
    return this.#slots.every(({ outcome }) => outcome !== undefined)
  }

  get hasProgram(): boolean {
    return this.#open().some(({ isProgram }) => isProgram === true)
  }

  get waitingOn(): string | undefined {
    return this.#open().find(({ waitingOn }) => waitingOn !== undefined)?.waitingOn
  }

  /** Effects that were sent and have no result. */
  get open(): string[] {
    return this.#open().map(({ effectId }) => effectId as string)
  }

  /** Begins what can begin. `begin` is asked in order, and told whether earlier calls are open. */
  advance(begin: (call: ToolCall, isAlone: boolean) => CallStart): void {
    let alone = true
    for (const slot of this.#slots) {
      if (slot.outcome === undefined && slot.effectId === undefined) {
        const begun = begin(slot.call, alone)
        if (begun === 'not yet') return
        if ('outcome' in begun) slot.outcome = begun.outcome
        else {
          slot.effectId = begun.effectId
          slot.isProgram = begun.isProgram
        }
      }
      if (slot.outcome !== undefined) continue
      alone = false
      if (slot.isProgram === true) return
    }
  }

  /** False where no call waits for this effect. */
  settle(effectId: string, outcome: ToolResult): boolean {
    const slot = this.#open().find((each) => each.effectId === effectId)
    if (slot === undefined) return false
    slot.outcome = outcome
    delete slot.waitingOn
    return true
  }

  wait(effectId: string, on: string): boolean {
    const slot = this.#open().find((each) => each.effectId === effectId)
    if (slot === undefined) return false
    // Nothing to wait for any more: a program goes on after the verdict on one of its calls.
    if (on === '') delete slot.waitingOn
    else slot.waitingOn = on
    return true
  }

  /** Whatever has no result gets one that says why, so that no call is left without. */
  giveUp(why: string): void {
    for (const slot of this.#slots) {
      if (slot.outcome !== undefined) continue
      slot.outcome = failed(slot.effectId === undefined ? 'NOT_RUN' : 'OUTCOME_UNKNOWN', why)
    }
  }

  /** A copy in which no sent call is waited for; those that were not sent can still begin. */
  settleSent(): TurnCalls {
    const why = 'not known: the agent was stopped first'
    const slots = this.#slots.map(({ call, effectId, outcome }): Slot => {
      const known = outcome ?? (effectId === undefined ? undefined : failed('OUTCOME_UNKNOWN', why))
      return known === undefined ? { call } : { call, outcome: known }
    })
    return new TurnCalls([], slots)
  }

  *results(): Generator<{ call: ToolCall; outcome: ToolResult }> {
    for (const { call, outcome } of this.#slots) if (outcome !== undefined) yield { call, outcome }
  }

  #open(): Slot[] {
    return this.#slots.filter(
      ({ effectId, outcome }) => effectId !== undefined && outcome === undefined,
    )
  }
}

function failed(code: string, message: string): ToolResult {
  return { content: JSON.stringify({ error: { code, message } }), isError: true }
}
