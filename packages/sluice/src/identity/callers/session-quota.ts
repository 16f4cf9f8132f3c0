// Sessions as the gate counts them. A principal has a few slots, and nothing a client sends chooses
// one: reconnecting, re-initialising or a restart of the gate gives nobody a fresh budget. A slot
// keeps its counters and labels until half an hour has passed without a call.

import type { SessionFacts } from '@sluice/policy/core/call'
import { SLOT_IDLE_MS, SLOT_PRINCIPALS_KEPT } from '../limits.ts'

interface AgentSession {
  readonly principal: string
  readonly number: number
  id: string
  startedAtMs: number
  lastUsedMs: number
  calls: number
  /** A call was judged in it, so the record has it. */
  isAsked: boolean
  readonly saw: Set<string>
  /** Connections that use it now. */
  users: number
}

export class SessionQuota {
  readonly #held = new Map<string, AgentSession[]>()
  /** Whose slots do not begin anew after a rest. */
  readonly #lasting = new Set<string>()
  #sweepAt = SLOT_PRINCIPALS_KEPT

  /** The slot for a new connection: a free one, the longest unused first; where none is free, the
   * one with the fewest connections. */
  open(principal: string, count: number, nowMs: number): SessionLease {
    const slots = this.#held.get(principal) ?? []
    if (slots.length === 0 && this.#held.size >= this.#sweepAt) this.#sweep(nowMs)
    this.#held.set(principal, slots)
    for (let number = slots.length; number < count; number++)
      slots.push(newSlot(principal, number, nowMs))
    const usable = slots.slice(0, Math.max(1, count))
    const slot = usable.reduce((best, other) =>
      other.users < best.users || (other.users === best.users && other.lastUsedMs < best.lastUsedMs)
        ? other
        : best,
    )
    slot.users += 1
    return new SessionLease(slot, this.#lasting.has(principal))
  }

  /** Of principals that nobody is and whose slots would begin anew. How many there are is for an
   * authorisation server to say, not for this memory. */
  #sweep(nowMs: number): void {
    for (const [principal, slots] of this.#held) {
      const isOver = slots.every(
        ({ users, lastUsedMs }) => users === 0 && nowMs - lastUsedMs >= SLOT_IDLE_MS,
      )
      if (isOver && !this.#lasting.has(principal)) this.#held.delete(principal)
    }
    this.#sweepAt = Math.max(SLOT_PRINCIPALS_KEPT, 2 * this.#held.size)
  }

  get principals(): number {
    return this.#held.size
  }

  /** A slot of its own that rests as long as it likes. */
  openLasting(name: string, nowMs: number): SessionLease {
    this.#lasting.add(name)
    return this.open(name, 1, nowMs)
  }

  /** Puts back what the record says of a slot: after a restart it goes on as it was. */
  restore(id: string, lastUsedMs: number, calls: number, saw: Iterable<string>): void {
    const match = /^(.*)#(\d+)@(\d+)$/s.exec(id)
    if (match === null) return
    const [, principal = '', number = '0', startedAtMs = '0'] = match
    const slots = this.#held.get(principal) ?? []
    this.#held.set(principal, slots)
    while (slots.length <= Number(number)) slots.push(newSlot(principal, slots.length, 0))
    const slot = slots[Number(number)] as AgentSession
    Object.assign(slot, { id, startedAtMs: Number(startedAtMs), lastUsedMs, calls, isAsked: true })
    for (const label of saw) slot.saw.add(label)
  }

  /** Those that the record has, of late, for a restart: one that was never used must not stand in the
   * place of one that was. */
  list(nowMs: number): { id: string; lastUsedMs: number; calls: number; saw: readonly string[] }[] {
    return [...this.#held.values()]
      .flat()
      .filter(({ isAsked, lastUsedMs }) => isAsked && nowMs - lastUsedMs < SLOT_IDLE_MS)
      .map(({ id, lastUsedMs, calls, saw }) => ({ id, lastUsedMs, calls, saw: [...saw] }))
  }

  /** Since when the record is needed to put back the slots that are in use. */
  neededSinceMs(nowMs: number): number {
    let sinceMs = nowMs - SLOT_IDLE_MS
    for (const slots of this.#held.values())
      for (const { lastUsedMs, startedAtMs } of slots)
        if (nowMs - lastUsedMs < SLOT_IDLE_MS) sinceMs = Math.min(sinceMs, startedAtMs)
    return sinceMs
  }
}

/** One connection's hold on a slot. */
export class SessionLease {
  readonly #slot: AgentSession
  readonly #lasts: boolean

  constructor(slot: AgentSession, lasts: boolean) {
    this.#slot = slot
    this.#lasts = lasts
  }

  get id(): string {
    return this.#slot.id
  }

  /** The session as rules see it; a slot that has rested too long begins anew. */
  facts(nowMs: number): SessionFacts {
    this.#renewIfRested(nowMs)
    const { id, startedAtMs, calls, saw } = this.#slot
    return { id, startedAtMs, calls, saw: [...saw] }
  }

  /** A call was judged: also one that is refused keeps the slot as it is. */
  asked(nowMs: number): void {
    this.#slot.lastUsedMs = nowMs
    this.#slot.isAsked = true
  }

  /** A call went on. */
  used(): void {
    this.#slot.calls += 1
  }

  #renewIfRested(nowMs: number): void {
    const slot = this.#slot
    if (this.#lasts || nowMs - slot.lastUsedMs < SLOT_IDLE_MS) return
    Object.assign(slot, newSlot(slot.principal, slot.number, nowMs), { users: slot.users })
  }

  /** Says which of them are new. Counts as use: what a session reads before its first call, or long
   * after its last one, must not be forgotten by the call that follows. */
  see(labels: readonly string[], nowMs: number): readonly string[] {
    if (labels.length === 0) return labels
    this.#renewIfRested(nowMs)
    this.asked(nowMs)
    const added = [...new Set(labels)].filter((label) => !this.#slot.saw.has(label))
    for (const label of added) this.#slot.saw.add(label)
    return added
  }

  release(): void {
    this.#slot.users -= 1
  }
}

function newSlot(principal: string, number: number, nowMs: number): AgentSession {
  const id = `${principal}#${number}@${nowMs}`
  return {
    principal,
    number,
    id,
    startedAtMs: nowMs,
    lastUsedMs: nowMs,
    calls: 0,
    isAsked: false,
    saw: new Set(),
    users: 0,
  }
}
