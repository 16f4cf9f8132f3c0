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

/** What may be allowed beside the condition of a rule, and the same as a sentence. */
export interface Alternative {
  readonly argument: string
  /** A number, or the JSON of a text. */
  readonly value: string
  readonly by: 'value' | 'host' | 'folder'
  readonly says: string
}

const SHOWN_LENGTH = 80

/** What this call has: each number and text as it is, the host of an address, and the folder of a path. */
export function listAlternatives({ numbers, texts }: RuleSubject): Alternative[] {
  return [
    ...numbers.map(([argument, value]) => ({
      argument,
      value,
      by: 'value' as const,
      says: `${argument} up to ${value}`,
    })),
    ...texts.flatMap(([argument, text]): Alternative[] => {
      const host = /^https?:\/\//.test(text) ? URL.parse(text)?.hostname : undefined
      const [, folder] = /^(\/[^\s]*|~\/[^\s]*)\/[^/\s]+$/.exec(text) ?? []
      const to = (by: Alternative['by'], value: string, says: string) => ({
        argument,
        value: JSON.stringify(value),
        by,
        says,
      })
      return [
        ...(host ? [to('host', host, `${argument} is on the host ${host}`)] : []),
        ...(folder
          ? [to('folder', folder, `${argument} is in the folder ${folder} or below`)]
          : []),
        to('value', text, `${argument} is exactly “${text.slice(0, SHOWN_LENGTH)}”`),
      ]
    }),
  ]
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
