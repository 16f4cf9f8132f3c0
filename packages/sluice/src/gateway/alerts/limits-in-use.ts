// How full limits are: remembers what calls were charged to, and asks the counters when somebody wants to
// know. One look into a map for a call with limits; nothing for any other. Gates that share a store ask it:
// what one of them charges is part of what all have used.

import type { LimitCharge } from '@sluice/policy/core/counters'
import {
  type Decimal,
  formatDecimal,
  parseDecimal,
  subtractDecimal,
  ZERO,
} from '@sluice/policy/core/decimal'
import { LruMap } from '../../core/lru-map.ts'
import type { AdmissionStore } from '../../store/admission.ts'
import { LIMITS_LOOKED_MAX, LIMITS_REMEMBERED_MAX } from './limits.ts'

export interface LimitInUse {
  /** Names the limit and whose it is. */
  readonly key: string
  readonly kind: LimitCharge['kind']
  readonly windowMs: number
  readonly used: string
  readonly max: string
  /** 0 to 1, or more if the limit was lowered. */
  readonly share: number
}

/** A counter and how far it may go. */
export type Counter = Pick<LimitCharge, 'key' | 'kind' | 'windowMs' | 'max'>

/** One amount for each counter. */
export type ReadUsage = (counters: readonly Counter[]) => Promise<readonly Decimal[]>

export class LimitsInUse {
  readonly #charged = new LruMap<string, Counter>(LIMITS_REMEMBERED_MAX)
  /** Charged since they were looked at for an alert. */
  readonly #unseen = new Set<string>()
  /** Nearly full when they were last looked at. */
  #full: readonly string[] = []
  #usage: AdmissionStore<never>['usage'] | undefined
  readonly #readShared: ReadUsage | undefined

  /** `readShared`: of gates that share a store; without it the counters of this process are asked. */
  constructor(readShared?: ReadUsage) {
    this.#readShared = readShared
  }

  /** The same store, overheard. */
  watch<Entry>(store: AdmissionStore<Entry>): AdmissionStore<Entry> {
    this.#usage = store.usage
    return {
      usage: store.usage,
      refund: (receipt) => store.refund(receipt),
      admit: (batch) => {
        for (const { mode, charges } of batch)
          if (mode === 'charge') for (const charge of charges) this.#note(charge)
        return store.admit(batch)
      },
    }
  }

  #note(charge: LimitCharge): void {
    this.#charged.set(charge.key, charge)
    if (this.#unseen.size < LIMITS_REMEMBERED_MAX) this.#unseen.add(charge.key)
  }

  /** The fullest first; those that are empty again are left out. Rejects if the store does not answer. */
  async list(now: Now): Promise<LimitInUse[]> {
    const limits = await this.#look(
      [...this.#charged].map(([, counter]) => counter),
      now,
    )
    return limits.filter(({ share }) => share > 0).sort(byShare)
  }

  /**
   * Those of which at least this share is used, the fullest first. Looks at `watched` and at what was
   * charged since the last time, some at a time: with thousands of counters calls would wait for it.
   */
  async listNearlyFull(
    share: number,
    watched: readonly Counter[],
    now: Now,
  ): Promise<LimitInUse[]> {
    const keys = new Set(this.#full)
    for (const key of this.#unseen) {
      if (keys.size >= LIMITS_LOOKED_MAX) break
      this.#unseen.delete(key)
      keys.add(key)
    }
    const counters = new Map(watched.map((counter) => [counter.key, counter]))
    for (const key of keys) {
      const counter = this.#charged.get(key)
      if (counter !== undefined) counters.set(key, counter)
    }
    const limits = await this.#look([...counters.values()], now)
    const full = limits.filter((limit) => limit.share >= share).sort(byShare)
    // As many again are looked at next time.
    this.#full = full.slice(0, LIMITS_LOOKED_MAX / 2).map(({ key }) => key)
    return full
  }

  async #look(counters: readonly Counter[], now: Now): Promise<LimitInUse[]> {
    const used = await this.#readShared?.(counters)
    return counters.map((counter, at) => {
      const { key, kind, windowMs, max } = counter
      const amount = used === undefined ? this.#lookHere(counter, now) : (used[at] ?? ZERO)
      const [text, most] = [formatDecimal(amount), formatDecimal(max)]
      const isEmpty = amount.units <= 0n
      const share = isEmpty ? 0 : Number(most) === 0 ? 1 : Number(text) / Number(most)
      return { key, kind, windowMs, used: text, max: most, share }
    })
  }

  #lookHere(counter: Counter, now: Now): Decimal {
    const status = this.#usage?.look({ ...counter, amount: ZERO }, now)
    return subtractDecimal(counter.max, status?.remaining ?? counter.max)
  }
}

/** A counter as the subject of an alert: any gate can look at it again, also after a restart. */
export function nameCounter({ key, kind, windowMs, max }: LimitInUse): string {
  return JSON.stringify([key, kind, windowMs, max])
}

export function readCounter(subject: string): Counter {
  const [key, kind, windowMs, max] = JSON.parse(subject) as [
    string,
    Counter['kind'],
    number,
    string,
  ]
  return { key, kind, windowMs, max: parseDecimal(max) ?? ZERO }
}

interface Now {
  readonly wallMs: number
  readonly monotonicMs: number
}

function byShare(one: LimitInUse, other: LimitInUse): number {
  return other.share - one.share
}
