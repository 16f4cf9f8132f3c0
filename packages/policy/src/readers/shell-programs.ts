// What is known of programs on a command line (shell-programs.json): which of their words are the
// subcommand, which options keep them reading, where a wrapper's own command begins, and which operands
// are files or hosts. A program or an option that is not listed is never a read; only entries marked `any` take
// what is not listed, as all options of these programs but the forbidden ones are known to read. Pure.

import { toWordSet } from '../structures/word-set.ts'
import programs from './shell-programs.json' with { type: 'json' }
import type { ShellWord } from './shell-words.ts'
import { readsOnly } from './sql-reads.ts'

export interface StartedCommand {
  /** Program and subcommands, such as `git`, `stash` and `list`. */
  readonly path: readonly string[]
  /** All other words, in their order. */
  readonly rest: readonly ShellWord[]
  /** How many of the rest stand before the last subcommand: options of the program as a whole. */
  readonly ahead: number
}

/** One entry of the table. Each word of its text is a mark and what it marks. */
interface Program {
  /** `!-o`: with this option it does not only read. Of a group, an option before the subcommand. */
  readonly never: readonly string[]
  /** `+-o`: with this option it still reads. */
  readonly only: readonly string[]
  /** `?-l`: it reads with one of these alone; with `ornone` also without an operand. */
  readonly needs: readonly string[]
  /** `=-C`: so does this one, which takes the next word. Of a group also behind the subcommand. */
  readonly allowed: readonly string[]
  /** These, and `:-d`, which takes the next word and does not only read. */
  readonly values: readonly string[]
  /** `*-r`: with this option it reads all that is below its operands. With the mark `below` it always does. */
  readonly below: readonly string[]
  /** Everything else: `no` (never reads), `any` (options), `max1` (operands), `host`, … Each program has `local` (it reads
   * this machine, and of its files those that the line names) or `beyond` (it may read others, or another machine). */
  readonly marks: ReadonlySet<string>
}

function parseProgram(text: string): Program {
  const words = text.split(' ')
  const marked = (mark: string) =>
    words.filter((word) => word.startsWith(mark)).map((word) => word.slice(1))
  const allowed = marked('=')
  return {
    never: marked('!'),
    only: marked('+'),
    needs: marked('?'),
    allowed,
    values: [...allowed, ...marked(':')],
    below: marked('*'),
    marks: new Set(words),
  }
}

const UNKNOWN = parseProgram('no')

function parseTable(table: Readonly<Record<string, string>>): ReadonlyMap<string, Program> {
  return new Map(
    Object.entries(table).flatMap(([names, text]) =>
      names.split('|').map((name) => [name, parseProgram(text)]),
    ),
  )
}

const PROGRAMS = parseTable(programs.programs)
const WRAPPERS = parseTable(programs.wrappers)
/** Names that are followed by a subcommand. */
const GROUPS = new Set([...PROGRAMS.keys()].flatMap(listPrefixes))
/** `aws ec2 describe-instances`: the verb says what it does. */
const AWS_VERB = /^aws [a-z\d-]+ (describe|list)-[a-z-]+$/
const STANDARD_PLACE = /^\/(?:usr\/)?(?:local\/)?s?bin\/(?=[^/]+$)/

function listPrefixes(key: string): string[] {
  const end = key.lastIndexOf(' ')
  return end === -1 ? [] : [key.slice(0, end), ...listPrefixes(key.slice(0, end))]
}

/** Puts subcommands before the options that precede them: `git -C x log` is `git log`, then `-C x`. */
export function locateProgram([name, ...words]: readonly ShellWord[]): StartedCommand {
  const path = [name?.text.replace(STANDARD_PLACE, '') ?? '']
  let rest = words
  let ahead = 0
  if (/^python[\d.]*$/.test(path.join()) && words[0]?.text === '-m')
    return { path: ['python', '-m'], rest: words.slice(1), ahead }
  for (let key = path.join(' '); GROUPS.has(key) || /^aws [^ ]+$/.test(key); key = path.join(' ')) {
    const group = findProgram(path)
    const at = findOperand(rest, group)
    const word = rest[at]
    const next = `${key} ${word?.text}`
    const isKnown = PROGRAMS.has(next) || GROUPS.has(next)
    if (word?.isExact !== true || !(isKnown || group.marks.has('no'))) break
    path.push(word.text)
    rest = rest.toSpliced(at, 1)
    ahead = at
  }
  return { path, rest, ahead }
}

/** The first word that is neither an option nor the value of one; `+nightly` chooses a toolchain. */
function findOperand(words: readonly ShellWord[], { values }: Program): number {
  let at = 0
  for (
    let text = words[at]?.text;
    text !== undefined && /^[-+]./.test(text);
    text = words[at]?.text
  )
    at += values.includes(text) ? 2 : 1
  return at
}

/** The command inside of a wrapper; undefined if its options are not known. */
export function unwrap(
  name: string,
  words: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  const wrapper = WRAPPERS.get(name) ?? UNKNOWN
  const at = findOperand(words, wrapper)
  const options = words.slice(0, at).filter((_, index) => !isValue(words, index, wrapper))
  const areKnown = options.every(({ text, isExact }) => isExact && isListed(text, wrapper))
  return areKnown ? words.slice(at + (wrapper.marks.has('1') ? 1 : 0)) : undefined
}

export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name)
}

function isValue(words: readonly ShellWord[], at: number, { values }: Program): boolean {
  return values.includes(words[at - 1]?.text ?? '')
}

/** Options that only print something, of programs that take them in short form. */
const SHORT_ASKS = ['-h', '-v', '-V', '-version']

/** Whether a started command is certain to change nothing. */
export function readsCommand({ path, rest, ahead }: StartedCommand): boolean {
  const keys = path.map((_, index) => path.slice(0, index + 1).join(' '))
  const isAws = path[0] === 'aws'
  const toKey = (key: string) => (isAws ? key.replace(AWS_VERB, 'aws $1') : key)
  const levels = keys.map((key) => PROGRAMS.get(toKey(key)) ?? UNKNOWN)
  const last = levels.at(-1) ?? UNKNOWN
  const program = last === UNKNOWN ? (WRAPPERS.get(path.join(' ')) ?? UNKNOWN) : last
  const short = !levels[0]?.marks.has('v') ? [] : levels.length === 1 ? SHORT_ASKS : ['-h']
  const asks = ['--help', '--version', ...short]
  if (levels[0] !== UNKNOWN && rest.length === 1 && asks.includes(rest[0]?.text ?? '')) return true
  if (program.marks.has('no')) return false
  if (!keepsReading({ path, rest, ahead }, levels, program)) return false
  const [operands, options] = partition(rest, program)
  const isBare = operands.length === 0 && program.marks.has('ornone')
  const { needs } = program
  if (needs.length > 0 && !isBare && !options.some((text) => matchesAny(text, needs))) return false
  return [...program.marks].every((mark) => readsMark(mark, operands, rest))
}

/** Words with which a program reads files that the line does not name and that are not below what it names: those
 * behind links, those of a list, those that its own text names, and the environment. Beside a name, abbreviations of
 * the option. */
const READS_MORE: readonly (readonly [programs: ReadonlySet<string>, word: RegExp])[] = [
  [toWordSet('grep egrep fgrep'), /^-[^-]*[Rdf]|^--(?:de|di|fil(?!es-with))/],
  [toWordSet('date file'), /^-[^-]*[fm]|^--(?:fi|ma)/],
  [toWordSet('git'), /^--no-i/],
  [toWordSet('fd fdfind find'), /^-\w*L|^--?fol|^-files0/],
  [toWordSet('ls eza exa lsd du'), /^-\w*[LDX]|^--(?:d|fol)/],
  [toWordSet('tree'), /^-\w*l/],
  // Two folders are compared with all that is in them: only what other commands print is certain to be none.
  [toWordSet('diff colordiff'), /^(?:[^<-]|-\w*r|--(?:rec|from|to-))/],
  [toWordSet('sqlite3'), /select|values|with/i],
  [toWordSet('wc sort du'), /^--f/],
  [toWordSet('jq gojq'), /\b(?:import|include|env|ENV)\b|^-[^-]*[fL]|^--from/],
  [toWordSet('awk gawk mawk nawk'), /ARG|ENVIRON|PROCINFO|SYMTAB/],
  [toWordSet('ps'), /^[a-zA-Z]*e/],
]

/** If one of these options is given, the first operand is no pattern. */
const GIVES_PATTERN = /^-e|^--regexp(?:=|$)|^--files$/
const HELP = /^(?:--help|--version|-h)$/
const DECLARING = toWordSet('export declare typeset local readonly set')

/** The folders below which a command that reads may read anything, beside the files that its words name; undefined if
 * it may read yet others, or another machine. */
export function listSearched(command: StartedCommand): readonly string[] | undefined {
  const { path, rest } = command
  if (rest.length === 1 && HELP.test(rest[0]?.text ?? '')) return []
  if (!isLocalCommand(command)) return undefined
  const program = findProgram(path)
  const [operands, options] = partition(rest, program)
  const searches =
    program.marks.has('below') || options.some((text) => matchesAny(text, program.below))
  if (!searches) return []
  if (mayHoldOptions(rest, program) || !areOptionsKnown(rest, program)) return undefined
  const isPatternGiven = options.some((text) => GIVES_PATTERN.test(text))
  const folders = operands.slice(isPatternGiven ? 0 : 1).map(({ text }) => text)
  return folders.length === 0 ? ['.'] : folders
}

function isLocalCommand({ path, rest }: StartedCommand): boolean {
  const [name = ''] = path
  // What assigns nothing prints the environment.
  if (name === 'set' ? rest.length === 0 : DECLARING.has(name) && !rest.some(isAssignment))
    return false
  const program = findProgram(path)
  if (!program.marks.has('local')) return isWrapper(path.join(' '))
  // Where git has no repository, two operands are folders that it compares.
  if (path.join(' ') === 'git diff' && partition(rest, program)[0].length > 1) return false
  const words = READS_MORE.filter(([programs]) => programs.has(name))
  if (words.length > 0 && mayHoldOptions(rest, program)) return false
  if (name.endsWith('jq') && !listFilters(rest, program).every(({ isExact }) => isExact))
    return false
  return !rest.some(({ text }) => words.some(([, word]) => word.test(text)))
}

/** The words of which one is the filter of `jq`. */
function listFilters(rest: readonly ShellWord[], program: Program): readonly ShellWord[] {
  const isCertain = !mayHoldOptions(rest, program) && areOptionsKnown(rest, program)
  return isCertain ? partition(rest, program)[0].slice(0, 1) : rest
}

/** Whether each option is listed, so that it is certain which of the other words are operands. */
function areOptionsKnown(words: readonly ShellWord[], program: Program): boolean {
  const { only, allowed } = program
  return words.every(({ text }, at) => {
    if (isValue(words, at, program)) return !text.startsWith('-')
    if (!text.startsWith('-') || text === '-') return true
    const name = text.replace(/=.*/s, '')
    if (only.includes(name) || allowed.includes(text)) return true
    if (allowed.includes(text.startsWith('--') && name !== text ? name : text.slice(0, 2)))
      return true
    return (
      /^-[A-Za-z]+$/.test(text) && [...text.slice(1)].every((letter) => only.includes(`-${letter}`))
    )
  })
}

function isAssignment({ text }: ShellWord): boolean {
  return /^\w+=/.test(text)
}

/** Whether no option makes it do more: those ahead of a subcommand are the group's, all others the program's. */
function keepsReading(
  { rest, ahead }: StartedCommand,
  levels: readonly Program[],
  program: Program,
): boolean {
  const takesAny = program.marks.has('any')
  if ((!takesAny || program.never.length > 0) && mayHoldOptions(rest, program)) return false
  const groups = ahead === 0 ? [] : levels.slice(0, -1).flatMap(({ never }) => never)
  if (listOptions(rest.slice(0, ahead)).some((text) => matchesAny(text, groups))) return false
  const own = listOptions(takesAny ? rest.slice(ahead) : rest)
  if (own.some((text) => matchesAny(text, program.never))) return false
  if (takesAny || own.length === 0) return true
  const only = [...program.only, ...program.needs]
  const allowed = levels.flatMap((level) => level.allowed)
  return own.every((text) => isListed(text, { only, allowed }))
}

function partition(words: readonly ShellWord[], program: Program): [ShellWord[], string[]] {
  const operands = words.filter((word, at) => !isValue(words, at, program) && !isOption(word))
  return [operands, listOptions(words)]
}

function listOptions(words: readonly ShellWord[]): string[] {
  return words.filter(isOption).map(({ text }) => text)
}

function isOption({ text }: ShellWord): boolean {
  return /^[-+]./.test(text) && text !== '--'
}

/** An expansion may become any option, except behind `--`. An expression, as of `find`, has no such end. */
function mayHoldOptions(words: readonly ShellWord[], { marks }: Program): boolean {
  const end = words.findIndex(({ text }) => text === '--' && !marks.has('expression'))
  return (end === -1 ? words : words.slice(0, end)).some(
    ({ isOpen, isExact, text }) => isOpen || (!isExact && text.startsWith('-')),
  )
}

/** Options also in clusters (`-ni`) and as abbreviations (`--outp`). */
function matchesAny(text: string, options: readonly string[]): boolean {
  const name = text.replace(/=.*/s, '')
  return options.some((option) => {
    if (option.includes('=')) return text === option
    if (option.startsWith('--')) return name.length > 2 && option.startsWith(name)
    if (option.length > 2) return name === option
    return /^-[^-]/.test(text) && text.includes(option.charAt(1), 1)
  })
}

/** Options exactly, with a value attached (`-n1`, `--max=1`), or each letter of a cluster. */
function isListed(text: string, { only, allowed }: Pick<Program, 'only' | 'allowed'>): boolean {
  const listed = [...only, ...allowed]
  const name = text.replace(/=.*/s, '')
  if (text === '--' || listed.includes(text)) return true
  if (name.length > 2 && listed.includes(name)) return true
  if (allowed.includes(text.slice(0, 2))) return true
  const [, letters] = /^-([A-Za-z]+)\d*$/.exec(text) ?? []
  return letters !== undefined && [...letters].every((letter) => listed.includes(`-${letter}`))
}

/** `sed`: printing, deleting from the output, `s` without its flags `e` and `w`. */
const SED_PART =
  /^(?:[\s;{}]|(?:\d+|\$|\/(?:\\.|[^/\\\n])*\/I?)(?:,(?:[+~]?\d+|\$|\/(?:\\.|[^/\\\n])*\/I?))?[ !]*|[pdq=lnNDgGhHx](?=[\s;}]|$)|s([/|#,:@])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiI\d]*(?=[\s;}]|$))/
/** `awk`: what may write, start a program or load code; `print … >` too. */
const AWK_ACTS = /system|getline|close|fflush|[@|]/
const STDERR = '> "/dev/stderr"'
const SQL_SHOWS =
  /^(?:\\(?:d[a-zA-Z+]{0,4}|l\+?|conninfo)(?: [\w.*"]+)?|pragma (?:table_info|table_list|index_list|foreign_key_list)\s?\(['"\w]+\);?|\.(?:tables|schema|indexes)(?: \w+)?|show (?:tables|databases|columns from \w+|create table \w+);?|describe \w+;?)$/i
const WEB_ADDRESS = /^(?:https?:\/\/)?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$)/i

function readsMark(
  mark: string,
  operands: readonly ShellWord[],
  rest: readonly ShellWord[],
): boolean {
  const [first] = operands
  if (mark.startsWith('max'))
    return operands.length <= Number(mark.slice(3)) && !operands.some(({ splits }) => splits)
  // `tar cf x -O`: without a dash the first operand is options.
  if (mark === 'dashed') return !/^[A-Za-z]+$/.test(first?.text ?? '')
  if (mark === 'web') return readsWeb(operands, rest)
  if (mark === 'awk') {
    const text = first?.text.replaceAll('||', '') ?? ''
    const prints = text.indexOf('print')
    const redirects = prints !== -1 && text.replaceAll(STDERR, '').includes('>', prints)
    return first?.isExact === true && !AWK_ACTS.test(text) && !redirects
  }
  if (mark === 'sed') {
    const scripts = valuesOf(rest, 'e', 'expression')
    return (scripts.length > 0 ? scripts : operands.slice(0, 1)).every(readsSed)
  }
  if (!mark.startsWith('sql')) return true
  const option = mark.slice(4)
  const statements =
    option === '' ? operands.slice(1) : valuesOf(rest, option, 'command', 'execute', 'query')
  const shows = ({ text, isExact }: ShellWord) =>
    isExact && (readsOnly(text) || SQL_SHOWS.test(text))
  return statements.length > 0 && statements.every(shows)
}

/** `curl`: a request that only fetches, and whose answer is printed or thrown away. */
function readsWeb(operands: readonly ShellWord[], rest: readonly ShellWord[]): boolean {
  return (
    operands.every(({ text, isExact }) => isExact && WEB_ADDRESS.test(text)) &&
    valuesOf(rest, 'o', 'output').every(({ text }) => /^(?:\/dev\/null|-)$/.test(text)) &&
    valuesOf(rest, 'X', 'request').every(({ text }) => /^(?:GET|HEAD|OPTIONS)$/.test(text)) &&
    rest.every(({ text }) => !/^@|%output|^-[oX].|^--(?:output|request)=/.test(text))
  )
}

function readsSed({ text, isExact }: ShellWord): boolean {
  let left = text
  for (let part = ' '; left !== '' && part !== ''; left = left.slice(part.length))
    part = SED_PART.exec(left)?.[0] ?? ''
  return isExact && left === ''
}

/** The words behind an option, which may be the last letter of a cluster. */
function valuesOf(words: readonly ShellWord[], letter: string, ...names: string[]): ShellWord[] {
  const long = names.map((name) => `--${name}`)
  return words.filter((_, at) => {
    const before = words[at - 1]?.text ?? ''
    return long.includes(before) || (/^-\w+$/.test(before) && before.endsWith(letter))
  })
}

/** The entry of the longest part of the path that has one. */
function findProgram(path: readonly string[]): Program {
  const found = PROGRAMS.get(path.join(' '))
  return found ?? (path.length > 1 ? findProgram(path.slice(0, -1)) : UNKNOWN)
}

/** Between the two operands of `test`, neither of which is a file. */
export const COMPARES_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/

/** Words that may name a file: operands, values behind `=`, `:` or `@`, and what is attached to an option. */
export function listFiles({ path, rest }: StartedCommand, isWritten: boolean): string[] {
  const program = findProgram(path)
  const { marks } = program
  if ((path[0] === 'test' || path[0] === '[') && COMPARES_NUMBERS.test(rest[1]?.text ?? ''))
    return []
  if (marks.has('text') || (isWritten && marks.has('none'))) return []
  const hasScript = rest.some(({ text }) => /^-[^-]*[ef]|^--(?:reg|exp|fil|from)/.test(text))
  const [operands] = partition(rest, program)
  const isFirstRead = (marks.has('text1') && !hasScript) || (isWritten && marks.has('from2'))
  const end = isWritten && marks.has('last') ? -1 : isFirstRead ? 1 : 0
  const scripts = marks.has('text1') ? valuesOf(rest, 'e', 'expression', 'regexp') : []
  const skipped = [...operands.slice(0, end), ...scripts]
  return rest.filter((word) => !skipped.includes(word)).flatMap(({ text }) => filesInWord(text))
}

function filesInWord(text: string): string[] {
  if (text.includes('://')) return []
  const [, behind = ''] = /^[^=:@]*[=:@]+(.+)$/s.exec(text) ?? []
  const [, attached = ''] = /^-\w([~/.$].*)$/s.exec(text) ?? []
  return [text.startsWith('-') ? '' : text, behind, attached].filter((file) => file !== '')
}

const ADDRESS = /:\/\/([^\s/?#'"]*)/g
const REMOTE = /^((?:[\w.-]+@)?[^\s:/@]+):/
const AT_HOST = /^[\w.-]+@[^\s/@]+/
const IP6 = /^[\da-f]*:[\da-f]*:[\da-f:.]*$/i

/** Hosts that the words name, with `undefined` for one that an expansion names. */
export function listHosts({ path, rest }: StartedCommand): (string | undefined)[] {
  const program = findProgram(path)
  const { marks } = program
  const [operands] = partition(rest, program)
  const named = marks.has('host') ? operands : marks.has('host1') ? operands.slice(0, 1) : []
  const found = [...named, ...(marks.has('hostoption') ? valuesOf(rest, 'h', 'host') : [])]
    .filter(({ text }) => !text.includes('://'))
    .map(({ text, isOpen }) => (isOpen ? '$' : text.replace(/[/?].*/s, '')))
  for (const { text, isOpen } of rest) {
    for (const [, host = ''] of text.matchAll(ADDRESS)) found.push(host)
    if (marks.has('remote')) found.push(isOpen ? '$' : (REMOTE.exec(text)?.[1] ?? ''))
    else found.push(AT_HOST.exec(text)?.[0] ?? '')
    if (text.startsWith('--host=')) found.push(text.slice(7))
  }
  return found.flatMap((written) => {
    const name = written.slice(written.lastIndexOf('@') + 1)
    const host = IP6.test(name) ? `[${name}]` : (/^(?:\[[^\]]*\]|[^:]*)/.exec(name)?.[0] ?? '')
    return host === '' ? [] : [/[$*?{`]/.test(host) ? undefined : host.toLowerCase()]
  })
}
