// Names under which a value is a secret. Decisions need a name that says so and a value that looks like one;
// masks and exports go by the name alone, unless it says that the value is about a secret. Pure.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import { isPlaceholder, looksRandom } from './secret-checks.ts'

const STRICT_NAME =
  /(passw(?:or)?d|passphrase|pwd)$|(?:secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key)$/i

/** Whether a member of an object is a named secret: its name says so, and its value is none that stands
 * for another. What is called a password need not be random. */
export function isNamedSecret(name: string, value: string): boolean {
  if (value.length < 8 || value.length > 400 || name.length > 200) return false
  const found = STRICT_NAME.exec(name)
  if (found === null || isPlaceholder(value)) return false
  return (
    looksRandom(value) ||
    (found[1] !== undefined && /^(?=.*[A-Za-z])(?=.*[^A-Za-z\s])\S+$/.test(value))
  )
}

/** Whether the value of a member is a password by its name alone. */
export function isPasswordName(name: string): boolean {
  return name.length <= 200 && /(?:passw(?:or)?d|passphrase|passcode)$/i.test(name)
}

/** Whether texts under this name are masked: nobody needs to see them in order to decide. */
export function isMaskedName(name: string): boolean {
  return MASKED_NAME.test(name) && !ABOUT_SECRET.test(name)
}

/** Whether numbers under this name are masked. Under any other name a number is an amount, and the approver
 * decides by amounts. */
export function isMaskedNumberName(name: string): boolean {
  return /^(?:pin|pass(?:word|wd|phrase|code))$/i.test(name)
}

/** The names whose values are masked. `pwd` is not among them: it is a directory as often, and an approver has to see
 * paths. */
const MASKED_NAME =
  /pass(?:word|wd|phrase|code)|secret|token|(?:api|access|private)[_-]?key|authori[sz]ation|credential|^pin$|cookie/i
/** How many, which, of which kind, until when. */
const ABOUT_SECRET = new RegExp(
  alternatives([
    sequence(
      group(
        toWords(`
          amount count limit budget max min size length total usage used price cost fee number
          symbol type kind name policy address contract url uri path file expiry expires ttl age
        `),
      ),
      /s?$/,
    ),
    /^(?:max|min|num|total|input|output|prompt|completion|used|remaining)[_-]?(?:[a-z]{1,20}[_-]?)?tokens$/,
  ]),
  'i',
)
