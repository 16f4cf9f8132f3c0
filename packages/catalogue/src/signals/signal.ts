// One thing a definition says about its tool: the feature it counts as, how much of it, and the
// place it stands at. The readers make these, the model weighs them, the evidence shows them.

export interface Signal {
  /** The name that weights.json has for it. */
  readonly feature: string
  /** 1, or less where one word counts for several families. */
  readonly amount: number
  /** JSON Pointer of the text in the definition. */
  readonly at: string
  readonly start: number
  readonly end: number
}

/** A place in a definition, by pointer. */
export type SignalSpan = Pick<Signal, 'at' | 'start' | 'end'>

/** Receives each signal as it is found; `amount` is 1 unless it is given. */
export type EmitSignal = (feature: string, place: SignalSpan, amount?: number) => void

/** The name of the tool as a whole. */
export const WHOLE_NAME: SignalSpan = { at: '/name', start: 0, end: 0 }

/** JSON Pointer of a member. */
export function below(at: string, key: string): string {
  const plain = !key.includes('~') && !key.includes('/')
  return `${at}/${plain ? key : key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
