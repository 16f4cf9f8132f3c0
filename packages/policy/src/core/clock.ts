// Time as an argument. `wallMs` is for people and for expressions (`now`); `monotonicMs` is what
// windows run on, so that setting the machine's clock gives nobody a fresh budget.

export interface Instant {
  readonly wallMs: number
  readonly monotonicMs: number
}
