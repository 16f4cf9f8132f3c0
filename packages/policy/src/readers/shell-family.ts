// Families of command lines, for standing approvals: `npm test` and, with a star at its end, `npm test *`. A line
// is of a family if it is certain, stays in a directory, and starts nothing but programs of the family and
// filters that read their input alone. What is not proved is of no family. Pure.

import { readShell } from './shell-command.ts'
import type { ShellWord } from './shell-words.ts'

/** The words that a program starts with, in the order of the text; after a last `*` any may follow. */
export type LineFamily = readonly string[]

/** The words of the programs that a line starts, without filters. */
export type LinePrograms = readonly (readonly ShellWord[])[]

const FAMILIES_MAX = 20
const FAMILY_WORDS_MAX = 100

/** Forms that only put programs one after another. Expansions, loops and here-documents are not among them. */
const FORMS: ReadonlySet<string> = new Set(
  'Script Statement AndOr Pipeline Negation Time Subshell BraceGroup CompoundList Command Assignment Redirect FileDescriptor Word Literal SingleQuoted DoubleQuoted Glob BraceExpansion'.split(
    ' ',
  ),
)
/** Variables that change only how a program prints. */
const HARMLESS = /^(?:CI|NO_COLOR|FORCE_COLOR|COLUMNS|LANG|LC_[A-Z]+)=[\w.-]*$/
/** Filters, and what their words may be, each after a zero character: nothing that could name a file. */
const FILTERS: ReadonlyMap<string, RegExp> = new Map([
  ['cd', /^\0[^\0]+$/],
  ['true', /^$/],
  ['set', /^(?:\0[-+][eufx]*o?|\0pipefail)*$/],
  ['echo', /^/],
  ['tr', /^/],
  ['head', /^(?:\0-\d+|\0-[nc]\0?[-+]?\d+)*$/],
  ['tail', /^(?:\0-\d+|\0-[nc]\0?[-+]?\d+)*$/],
  ['wc', /^(?:\0-[clmwL]+)*$/],
  ['sort', /^(?:\0-[bdfghnruVM]+|\0-k\0?[\d,.]+)*$/],
  ['uniq', /^(?:\0-[cdiu]+)*$/],
  ['cat', /^(?:\0-[AbeEnstTv]+)*$/],
  ['cut', /^(?:\0-[bcf]\0?[\d,-]+|\0-d\0?[^\0-])*$/],
  ...['grep', 'egrep', 'fgrep'].map(
    (name) =>
      [name, /^(?:\0-[bchinoqsvwxEFGP]+|\0-[ABCm]\0?\d+)*(?:\0-e)?\0[^\0-][^\0]*$/] as const,
  ),
  ...['time', 'timeout', 'nice'].map((name) => [name, /^(?:\0-[knp]|\0-?\d+[smh]?)*$/] as const),
])

/**
 * Lists what a line starts, or says why the line is of no family. `root` is the directory that it may not leave;
 * it begins there or below.
 *
 * @example
 * ```ts
 * listPrograms('cd a && npm test 2>&1 | tail -5', '/srv') // [[npm, test]]
 * listPrograms('npm test > out', '/srv') // 'a redirection reads or writes a file'
 * ```
 */
export function listPrograms(line: string, root: string): LinePrograms | string {
  const reading = readShell(line)
  const doubt = reading.uncertain ?? reading.uncertainHosts
  if (doubt !== undefined) return `what it starts is not certain: ${doubt}`
  const form = [...reading.forms].find((each) => !FORMS.has(each))
  if (form !== undefined) return `it has a part that may be anything (${form})`
  if (reading.isRedirected) return 'a redirection reads or writes a file'
  const assigned = reading.variables.find((each) => !HARMLESS.test(each))
  if (assigned !== undefined) return `it assigns \`${assigned}\``
  const left = reading.directories.find((each) => !isIn(each, root))
  if (left !== undefined) return `it enters \`${left}\`, which is not below \`${root}\``
  const programs: (readonly ShellWord[])[] = []
  for (const { words, isFed } of reading.programs) {
    if (words === undefined) return 'it starts a program by another one'
    if (isFilter(words)) continue
    // What it does may be in its input.
    if (isFed) return `a pipe brings \`${words[0]?.text}\` its input`
    programs.push(words)
  }
  return programs.length === 0 ? 'it starts no program but filters' : programs
}

/** Whether each of the programs is of one of the families. */
export function areOfFamilies(programs: LinePrograms, families: readonly LineFamily[]): boolean {
  return programs.every((words) => families.some((family) => isOfFamily(words, family)))
}

/**
 * Reads families as a person writes them, or says what is wrong: a line whose programs are the families.
 *
 * @example
 * ```ts
 * readFamilies('npm run lint && npm test *') // [['npm', 'run', 'lint'], ['npm', 'test', '*']]
 * ```
 */
export function readFamilies(text: string): readonly LineFamily[] | string {
  const programs = listPrograms(text, '/')
  if (typeof programs === 'string') return `\`${text}\` names no programs: ${programs}`
  const families: LineFamily[] = []
  for (const words of programs) {
    const open = words.findIndex(isInexact)
    if (open !== -1 && (words[open]?.text !== '*' || open !== words.length - 1))
      return '`*` stands only at the end, as a word of its own'
    families.push(words.map(({ text: word }) => word))
  }
  return findFamilyFault(families) ?? families
}

/** What is wrong with families as they are sent; undefined if nothing is. */
export function findFamilyFault(families: readonly LineFamily[]): string | undefined {
  if (families.length === 0 || families.length > FAMILIES_MAX)
    return `give 1 to ${FAMILIES_MAX} families of lines`
  const [wrong] = families.filter(([name = '*']) => name === '*' || name === '')
  if (wrong !== undefined) return 'a family names no program'
  if (families.some((family) => family.slice(0, -1).includes('*')))
    return '`*` stands only at the end'
  const isLong = families.some(({ length }) => length > FAMILY_WORDS_MAX)
  return isLong ? `a family has more than ${FAMILY_WORDS_MAX} words` : undefined
}

/** Whether a path as it is written is this directory or below it. */
export function isBelow(path: string, directory: string): boolean {
  const isPlain = path.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(path.replace(/(?!^)\/$/, ''))
  return path === directory || (isPlain && path.startsWith(`${directory.replace(/\/$/, '')}/`))
}

/** Called for each of up to a thousand approvals: most differ in the first word. */
function isOfFamily(words: readonly ShellWord[], family: LineFamily): boolean {
  if (words[0]?.text !== family[0]) return false
  const isOpen = family.at(-1) === '*'
  const fixed = isOpen ? family.slice(0, -1) : family
  if (words.length < fixed.length || (!isOpen && words.length > fixed.length)) return false
  return fixed.every((text, at) => {
    const word = words[at]
    return word !== undefined && word.text === text && !isInexact(word)
  })
}

function isFilter([name, ...words]: readonly ShellWord[]): boolean {
  const allowed = FILTERS.get(name?.text ?? '')
  if (allowed === undefined || words.some(isInexact)) return false
  return allowed.test(words.map(({ text }) => `\0${text}`).join(''))
}

/** Bash replaces a tilde at the beginning and after `=`. */
function isInexact({ text, isExact }: ShellWord): boolean {
  return !isExact || /(?:^|[=:])~/.test(text)
}

function isIn(directory: string, root: string): boolean {
  if (/[$~`*?[{]/.test(directory)) return false
  if (directory.startsWith('/')) return isBelow(directory, root)
  return !/^\.\.(?:\/|$)/.test(directory)
}
