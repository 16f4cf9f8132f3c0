// How full limits are: remembers what calls were charged to, and asks the counters when somebody wants to
// know. One look into a map for a call with limits; nothing for any other.

import type { LimitCharge } from '@sluice/policy/core/counters'
import { formatDecimal, subtractDecimal, ZERO } from '@sluice/policy/core/decimal'
import { LruMap } from '../../core/lru-map.ts'
import type { AdmissionStore } from '../../store/admission.ts'
import { LIMITS_REMEMBERED_MAX } from './limits.ts'

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
  #usage: AdmissionStore<never>['usage'] | undefined

  /** The same store, overheard. */
  watch<Entry>(store: AdmissionStore<Entry>): AdmissionStore<Entry> {
    this.#usage = store.usage
    return {
      usage: store.usage,
      refund: (receipt) => store.refund(receipt),
      admit: (batch) => {
        for (const { mode, charges } of batch)
          if (mode === 'charge') for (const charge of charges) this.#charged.set(charge.key, charge)
        return store.admit(batch)
      },
    }
  }

  /** The fullest first; those that are empty again are left out. */
  list(now: { readonly wallMs: number; readonly monotonicMs: number }): LimitInUse[] {
    const limits: LimitInUse[] = []
    for (const [key, charge] of this.#charged) {
      const { kind, windowMs, max } = charge
      const remaining = this.#usage?.look({ ...charge, amount: ZERO }, now).remaining ?? max
      const used = subtractDecimal(max, remaining)
      if (used.units <= 0n) continue
      const [text, most] = [formatDecimal(used), formatDecimal(max)]
      const share = Number(most) === 0 ? 1 : Number(text) / Number(most)
      limits.push({ key, kind, windowMs, used: text, max: most, share })
    }
    return limits.sort((one, other) => other.share - one.share)
  }
}
