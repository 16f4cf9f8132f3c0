// How full limits are: remembers what calls were charged to, and asks the counters when somebody wants to
// know. One look into a map for a call with limits; nothing for any other. Gates that share a store ask it:
// what one of them charges is part of what all have used.

import type { AdmissionStore } from '@sluice/ledger/store/admission'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { LruMap } from '@sluice/policy/structures/lru-map'
import {
  type Decimal,
  formatDecimal,
  parseDecimal,
  subtractDecimal,
  ZERO,
} from '@sluice/policy/values/decimal'
import { Slices } from '../shared/slices.ts'
import { LIMITS_LOOKED_MAX, LIMITS_REMEMBERED_MAX } from './limits.ts'

/** How far a limit is used. */
export interface LimitFill {
  readonly kind: LimitCharge['kind']
  readonly windowMs: number
  readonly used: string
  readonly max: string
  /** 0 to 1, or more if the limit was lowered. */
  readonly share: number
}

export interface LimitInUse extends LimitFill {
  /** Names the limit and whose it is; empty if this gate has never charged it. */
  readonly key: string
  readonly id: string
}

type ChargedCounter = Pick<LimitCharge, 'key' | 'kind' | 'windowMs' | 'max'>

/** A counter that an alert is about. */
export interface WatchedCounter extends Pick<LimitCharge, 'kind' | 'windowMs' | 'max'> {
  /** Its key, or in a shared store its digest: a key has values of arguments, which are not stored there. */
  readonly id: string
}

/** The counters of gates that share a store. */
export interface SharedUsage {
  digest(counter: Pick<LimitCharge, 'key' | 'windowMs'>): string
  /** One amount for each counter. */
  read(counters: readonly Pick<WatchedCounter, 'id' | 'windowMs'>[]): Promise<readonly Decimal[]>
}

export class LimitsInUse {
  readonly #charged = new LruMap<string, ChargedCounter>(LIMITS_REMEMBERED_MAX)
  /** Charged since they were looked at for an alert. */
  readonly #unseen = new Set<string>()
  /** Nearly full when they were last looked at. */
  #full: readonly string[] = []
  #usage: AdmissionStore<never>['usage'] | undefined
  readonly #shared: SharedUsage | undefined

  /** Without `shared` the counters of this process are asked. */
  constructor(shared?: SharedUsage) {
    this.#shared = shared
  }

  /** The same store, overheard. */
  watch<Entry>(store: AdmissionStore<Entry>): AdmissionStore<Entry> {
    this.#usage = store.usage
    return {
      usage: store.usage,
      refund: (receipt) => store.refund(receipt),
      admit: (request) => {
        if (request.mode === 'charge') for (const charge of request.charges) this.#note(charge)
        return store.admit(request)
      },
    }
  }

  /** Bounds are objects of the policy: a counter that is noted with this one is noted in full. */
  #note(charge: LimitCharge): void {
    const { key, max } = charge
    if (this.#unseen.has(key) && this.#charged.peek(key)?.max === max) return
    this.#charged.set(key, charge)
    if (this.#unseen.size < LIMITS_REMEMBERED_MAX) this.#unseen.add(key)
  }

  /** The fullest first; those that are empty again are left out. Rejects if the store does not answer. */
  async list(now: Now): Promise<LimitInUse[]> {
    const counters = [...this.#charged].map(([, counter]) => this.#identify(counter))
    const limits = await this.#look(counters, now)
    return limits.filter(({ share }) => share > 0).sort(byShare)
  }

  /**
   * Those of which at least this share is used, the fullest first. Looks at `watched` and at what was
   * charged since the last time, some at a time: with thousands of counters calls would wait for it.
   */
  async listNearlyFull(
    share: number,
    watched: readonly WatchedCounter[],
    now: Now,
  ): Promise<LimitInUse[]> {
    const keys = new Set(this.#full)
    for (const key of this.#unseen) {
      if (keys.size >= LIMITS_LOOKED_MAX) break
      this.#unseen.delete(key)
      keys.add(key)
    }
    const isShared = this.#shared !== undefined
    const counters = new Map(
      watched.map((one) => [one.id, { ...one, key: isShared ? '' : one.id }]),
    )
    for (const key of keys) {
      const charged = this.#charged.get(key)
      if (charged === undefined) continue
      const counter = this.#identify(charged)
      counters.set(counter.id, counter)
    }
    const limits = await this.#look([...counters.values()], now)
    const full = limits.filter((limit) => limit.share >= share).sort(byShare)
    // As many again are looked at next time.
    const known = full.filter(({ key }) => key !== '')
    this.#full = known.slice(0, LIMITS_LOOKED_MAX / 2).map(({ key }) => key)
    return full
  }

  #identify(counter: ChargedCounter): IdentifiedCounter {
    const { key, kind, windowMs, max } = counter
    return { id: this.#shared?.digest(counter) ?? key, key, kind, windowMs, max }
  }

  async #look(counters: readonly IdentifiedCounter[], now: Now): Promise<LimitInUse[]> {
    const used = await this.#shared?.read(counters)
    const limits: LimitInUse[] = []
    const slices = new Slices()
    for (const [at, counter] of counters.entries()) {
      if (slices.isOver) await slices.next()
      const amount = used === undefined ? this.#lookHere(counter, now) : (used[at] ?? ZERO)
      const [text, most] = [formatDecimal(amount), formatDecimal(counter.max)]
      const isEmpty = amount.units <= 0n
      const share = isEmpty ? 0 : Number(most) === 0 ? 1 : Number(text) / Number(most)
      limits.push({ ...counter, used: text, max: most, share })
    }
    return limits
  }

  #lookHere(counter: IdentifiedCounter, now: Now): Decimal {
    const status = this.#usage?.look({ ...counter, amount: ZERO }, now)
    return subtractDecimal(counter.max, status?.remaining ?? counter.max)
  }
}

interface IdentifiedCounter extends WatchedCounter {
  readonly key: string
}

/** A counter as the subject of an alert: any gate can look at it again, also after a restart. */
export function nameCounter({ id, kind, windowMs, max }: LimitInUse): string {
  return JSON.stringify([id, kind, windowMs, max])
}

export function readCounter(subject: string): WatchedCounter {
  type Parts = [id: string, kind: WatchedCounter['kind'], windowMs: number, max: string]
  const [id, kind, windowMs, max] = JSON.parse(subject) as Parts
  return { id, kind, windowMs, max: parseDecimal(max) ?? ZERO }
}

interface Now {
  readonly wallMs: number
  readonly monotonicMs: number
}

function byShare(one: LimitInUse, other: LimitInUse): number {
  return other.share - one.share
}
