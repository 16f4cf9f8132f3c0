// How full limits are: remembers what calls were charged to, and asks the counters when somebody wants to
// know. One look into a map for a call with limits; nothing for any other.

import type { LimitCharge } from '@sluice/policy/core/counters'
import { formatDecimal, subtractDecimal, ZERO } from '@sluice/policy/core/decimal'
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

export class LimitsInUse {
  readonly #charged = new LruMap<string, LimitCharge>(LIMITS_REMEMBERED_MAX)
  /** Charged since they were looked at for an alert. */
  readonly #unseen = new Set<string>()
  /** Nearly full when they were last looked at. */
  #full: readonly string[] = []
  #usage: AdmissionStore<never>['usage'] | undefined

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

  /** The fullest first; those that are empty again are left out. */
  list(now: Now): LimitInUse[] {
    const limits: LimitInUse[] = []
    for (const [, charge] of this.#charged) {
      const limit = this.#look(charge, now)
      if (limit.share > 0) limits.push(limit)
    }
    return limits.sort(byShare)
  }

  /**
   * Those of which at least this share is used, the fullest first. Looks at what was charged since the
   * last time, some at a time: with thousands of counters calls would wait for it.
   */
  listNearlyFull(share: number, now: Now): LimitInUse[] {
    const keys = new Set(this.#full)
    for (const key of this.#unseen) {
      if (keys.size >= LIMITS_LOOKED_MAX) break
      this.#unseen.delete(key)
      keys.add(key)
    }
    const full = [...keys]
      .flatMap((key) => this.#charged.get(key) ?? [])
      .map((charge) => this.#look(charge, now))
      .filter((limit) => limit.share >= share)
      .sort(byShare)
    // As many again are looked at next time.
    this.#full = full.slice(0, LIMITS_LOOKED_MAX / 2).map(({ key }) => key)
    return full
  }

  #look(charge: LimitCharge, now: Now): LimitInUse {
    const { key, kind, windowMs, max } = charge
    const remaining = this.#usage?.look({ ...charge, amount: ZERO }, now).remaining ?? max
    const used = subtractDecimal(max, remaining)
    const [text, most] = [formatDecimal(used), formatDecimal(max)]
    const isEmpty = used.units <= 0n
    const share = isEmpty ? 0 : Number(most) === 0 ? 1 : Number(text) / Number(most)
    return { key, kind, windowMs, used: text, max: most, share }
  }
}

interface Now {
  readonly wallMs: number
  readonly monotonicMs: number
}

function byShare(one: LimitInUse, other: LimitInUse): number {
  return other.share - one.share
}
