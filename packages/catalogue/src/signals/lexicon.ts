// The verbs that a tool is judged by (verbs.ts), found by any of their forms: `deletes` and `deleting` are `delete`.
// Pure; called by the readers.

import type { Category } from '@sluice/policy/calls/tools'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { ALSO_NOUNS, FAMILIES, type Family } from './verbs.ts'

export const FAMILY_NAMES = Object.keys(FAMILIES) as Family[]

export function classOf(family: Family): Category {
  return FAMILIES[family].category
}

export function actOf(family: Family): string {
  return FAMILIES[family].act
}

const NOUNISH = toWordSet(ALSO_NOUNS.join(' '))

interface VerbEntry {
  readonly families: readonly Family[]
  readonly nounish: boolean
  readonly base: string
  /** `base` and `third person` head a clause; a participle or gerund does so only after a hint. */
  readonly form: 'base' | 'third' | 'gerund' | 'participle'
}

const VERBS = new Map<string, VerbEntry>()

for (const family of FAMILY_NAMES)
  for (const base of toWordSet(FAMILIES[family].english.join(' '))) {
    const known = VERBS.get(base)
    const families = known?.form === 'base' ? [...new Set([...known.families, family])] : [family]
    VERBS.set(base, { families, nounish: NOUNISH.has(base), base, form: 'base' })
  }
for (const [base, entry] of [...VERBS]) {
  for (const [form, spelt] of [
    ['third', thirdPerson(base)],
    ['gerund', `${stemOf(base)}ing`],
    ['participle', base.endsWith('e') ? `${base}d` : `${stemOf(base)}ed`],
  ] as const)
    if (!VERBS.has(spelt)) VERBS.set(spelt, { ...entry, form })
}
for (const [spelt, base, form] of [
  ['sent', 'send', 'participle'],
  ['sold', 'sell', 'participle'],
  ['bought', 'buy', 'participle'],
  ['ran', 'run', 'participle'],
  ['paid', 'pay', 'participle'],
] as const) {
  const entry = VERBS.get(base)
  if (entry !== undefined) VERBS.set(spelt, { ...entry, form })
}
for (const family of FAMILY_NAMES)
  for (const spelt of otherVerbsOf(family))
    if (!VERBS.has(spelt))
      VERBS.set(spelt, { families: [family], nounish: false, base: spelt, form: 'base' })

/** Spanish, Portuguese, French, Italian, German, Dutch: imperatives, infinitives, third persons. */
export function otherVerbsOf(family: Family): readonly string[] {
  const entry = FAMILIES[family]
  return ('otherLanguages' in entry ? entry.otherLanguages : []).flatMap((line) => line.split(' '))
}

/** Whether every family of a verb speaks for the class. */
export function isVerbOf(category: Category, word: string): boolean {
  return verbAt(word)?.families.every((family) => classOf(family) === category) ?? false
}

export function verbAt(word: string): VerbEntry | undefined {
  return VERBS.get(word) ?? again(word)
}

/** `rerequest` is to request again. Only acts: `relocate` has nothing of `locate`. */
function again(word: string): VerbEntry | undefined {
  if (word.length < AGAIN_CHARS_MIN) return undefined
  if (word.startsWith('un')) return undone(word)
  if (!word.startsWith('re')) return undefined
  const known = VERBS.get(word.charCodeAt(2) === HYPHEN ? word.slice(3) : word.slice(2))
  const acts = known?.families.every((family) => classOf(family) !== 'Read') ?? false
  if (known === undefined || !acts || (known.form !== 'base' && known.form !== 'third'))
    return undefined
  return { ...known, nounish: false }
}

/** `unreject` takes a `reject` back. */
function undone(word: string): VerbEntry | undefined {
  const known = VERBS.get(word.slice(2))
  const backs = known?.families.every((family) => BACKS.has(family)) ?? false
  if (known?.form !== 'base' || !backs) return undefined
  return { families: ['settle'], nounish: false, base: word, form: 'base' }
}

const BACKS: ReadonlySet<Family> = new Set(['settle', 'link', 'change', 'power', 'keep', 'send'])
const AGAIN_CHARS_MIN = 6
const HYPHEN = 45

function thirdPerson(base: string): string {
  if (/(s|x|z|ch|sh)$/.test(base)) return `${base}es`
  return /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}ies` : `${base}s`
}

/** What `-ing` and `-ed` are put behind: `creat`, `dropp`, `modifi` is left to `modifying`. */
function stemOf(base: string): string {
  if (base.endsWith('e') && !base.endsWith('ee')) return base.slice(0, -1)
  if (/^[^aeiou]*[aeiou][bdgklmnprt]$/.test(base)) return base + base.slice(-1)
  return base
}
