// The call that a new rule is made from: its tool, the document that decides it, and numbers among its
// arguments. Pure.

export interface RuleSubject {
  readonly server: string
  readonly name: string
  /** The document; undefined if the only one is meant. */
  readonly policy: string | undefined
  /** Arguments on the first level that a rule can compare, by name. */
  readonly numbers: readonly (readonly [name: string, value: string])[]
  /** Texts among them that a rule can name. */
  readonly texts: readonly (readonly [name: string, value: string])[]
  /** As the test case names it. */
  readonly called: string
}

/** A number that a rule may be written with. */
export const VALUE = /^\d{1,15}(\.\d{1,15})?$/
export const NAME = /^[A-Za-z_]\w{0,63}$/

export function listTexts(args: readonly (readonly [string, unknown])[]): RuleSubject['texts'] {
  return args.flatMap(([name, value]) =>
    NAME.test(name) && typeof value === 'string' && /^\P{C}{1,400}$/u.test(value)
      ? [[name, value] as const]
      : [],
  )
}

export function listNumbers(args: readonly (readonly [string, string])[]): RuleSubject['numbers'] {
  return args.filter(([name, value]) => NAME.test(name) && VALUE.test(value))
}
