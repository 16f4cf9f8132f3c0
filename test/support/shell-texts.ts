// Random command lines, and what Bash starts for each: with an empty PATH every program is unknown, and
// `command_not_found_handle` reports its name and arguments instead of starting it. Many texts run in one
// process, each in a subshell.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readShell } from '@sluice/policy/readers/shell-command'
import { areOfFamilies, type LineFamily, listPrograms } from '@sluice/policy/readers/shell-family'
import type { Random } from '../fuzz/mutate.ts'

const NAMES = [
  'aa',
  'bb',
  'cc',
  'zz',
  'yy',
  'r""r',
  "q'q'",
  'o\\o',
  '$n',
  '`aa`',
  'echo',
  ':',
  'true',
  'aa.b',
]
const WORDS = [
  'x',
  '-y',
  '"a b"',
  "'c d'",
  '$v',
  '"$v"',
  `\${v}`,
  `\${v:-w}`,
  '~',
  '*',
  '{a,b}',
  'k=1',
  '\\;',
  '"\\""',
]
const ODD = [
  "$'x\\ny'",
  '$"x"',
  '!',
  '#c',
  '"a\\\nb"',
  '\\\n',
  '[',
  ']',
  '}',
  '{',
  '((',
  '))',
  '=',
  '\\',
  '"',
  "'",
  '`',
  '$(',
  ')',
  '&',
  '<(',
  '${',
  'if',
  'fi',
  'do',
  'done',
  'in',
  'then',
  ';;',
  '$((1+1))',
  '$[1]',
  '((1))',
  '[[ x ]]',
  'a[1]=2',
  "$'\\\n'",
]
const JOINS = ['; ', ' && ', ' || ', ' | ', '\n', ' & ', ' |& ', ';', '|', '&&']
const REDIRECTIONS = [
  '> f1',
  '2>&1',
  '>f2',
  '< f1',
  '>> f1',
  '&> f2',
  '<<< x',
  '2>/dev/null',
  '3>&1',
  '>| f1',
]
const ASSIGNMENTS = [
  'v=1',
  'n=aa',
  'v=$(bb)',
  'v="x y"',
  'a=(x y)',
  'IFS=x',
  'export v=2',
  'declare w=3',
  'v+=1',
]
const BUILTINS = [
  'test -n x',
  '[ x = y ]',
  'command cc x',
  'builtin echo x',
  'read v',
  'set -e',
  'local v',
  'unset v',
  'eval dd',
  'printf %s x',
  'bash -c "ee x"',
  "bash -c 'ff; gg'",
  'env v=1 hh x',
  'nice ii',
  'type aa',
  'cd .',
  'shift',
  'return',
  'let 1',
  '. ./none',
  'trap jj EXIT',
  'alias aa=kk',
  'hash -r',
  'exec ll',
]

/** A text of a random grammar: mostly right, with odd pieces put anywhere. */
export function generateShellText(random: Random): string {
  const text = generateList(random, 0)
  if (random.next(3) > 0) return text
  const at = random.next(text.length + 1)
  return text.slice(0, at) + random.pick(ODD) + text.slice(at)
}

function generateList(random: Random, depth: number): string {
  let text = generateCommand(random, depth)
  for (let more = random.next(3); more > 0; more--)
    text += random.pick(JOINS) + generateCommand(random, depth)
  return text
}

function generateCommand(random: Random, depth: number): string {
  const form = depth > 2 ? 0 : random.next(26)
  const inner = () => generateList(random, depth + 1)
  switch (form) {
    case 1:
      return `( ${inner()} )`
    case 2:
      return `{ ${inner()}; }`
    case 3:
      return `if ${inner()}; then ${inner()}; else ${inner()}; fi`
    case 4:
      return `for v in x "y z"; do ${inner()}; done`
    case 5:
      return `while zz; do ${inner()}; done`
    case 6:
      return `case x in x) ${inner()} ;; *) ${inner()};; esac`
    case 7:
      return `aa <<E\n${random.pick(WORDS)} $(${inner()})\nE\n`
    case 8:
      return `aa <<'E'\n$(${inner()})\nE\n`
    case 9:
      return `f() { ${inner()}; }`
    case 10:
      return `! ${inner()}`
    case 11:
      return `time ${inner()}`
    case 12:
      return `[[ -n $(${inner()}) ]]`
    case 13:
    case 14:
      return random.pick(BUILTINS)
    case 15:
      return random.pick(ASSIGNMENTS)
    case 16:
      return `# ${inner()}\n`
    default:
      return generateSimple(random, depth)
  }
}

function generateSimple(random: Random, depth: number): string {
  const parts = random.next(6) === 0 ? [random.pick(ASSIGNMENTS)] : []
  parts.push(random.pick(NAMES))
  for (let more = random.next(4); more > 0; more--) parts.push(generateWord(random, depth))
  if (random.next(5) === 0)
    parts.splice(random.next(parts.length + 1), 0, random.pick(REDIRECTIONS))
  return parts.join(random.next(20) === 0 ? ' \\\n' : ' ')
}

function generateWord(random: Random, depth: number): string {
  const form = depth > 2 ? 9 : random.next(24)
  const inner = () => generateList(random, depth + 1)
  if (form === 0) return `$(${inner()})`
  if (form === 1) return `"x$(${inner()})"`
  if (form === 2) return `\`${random.pick(NAMES).replaceAll('`', '')} x\``
  if (form === 3) return `<(${inner()})`
  if (form === 4) return `\${v:-$(${inner()})}`
  if (form === 5) return `$(( 1 + $(${inner()}) ))`
  return random.pick(WORDS) + (form === 6 ? random.pick(WORDS) : '')
}

/** From the root of the repository, where tests and fuzzing run: a fuzz target is bundled elsewhere. */
const DRIVER = resolve('test/support/report-commands.sh')

export interface BashComparison {
  readonly texts: number
  /** Texts that are certain, and for which Bash started something. */
  readonly compared: number
  /** Texts for which Bash started what `shell()` does not have. */
  readonly differences: readonly string[]
}

/** Runs the certain ones among the texts; `isRestricted` keeps Bash from writing and from paths. */
export function compareWithBash(texts: readonly string[], isRestricted = false): BashComparison {
  const certain = texts
    .map((text) => ({ text, reading: readShell(text) }))
    .filter(
      ({ text, reading }) => reading.uncertain === undefined && !/\/dev\/(?:tcp|udp)/.test(text),
    )
  const { started } = runInBash(
    certain.map(({ text }) => text),
    isRestricted,
  )
  const differences = certain.flatMap(({ text, reading }, index) =>
    (started.get(index) ?? []).flatMap((words) => {
      const isName = reading.commands.includes(words[0] ?? '')
      // Without expansions the arguments are known too; of a wrapper there is the name alone.
      const isLine =
        /[$`*?[{~]|[<>]\(/.test(text) ||
        reading.lines.some((line) => sortWords(line) === sortWords(words.join(' '))) ||
        reading.lines.some((line) => `${words.join(' ')} `.startsWith(`${line} `))
      return isName && isLine ? [] : [`${JSON.stringify(text)} starts ${JSON.stringify(words)}`]
    }),
  )
  return { texts: texts.length, compared: started.size, differences }
}

/** A subcommand is put before options, so the order of the words may differ. */
function sortWords(line: string): string {
  return line.split(' ').sort().join(' ')
}

interface BashRun {
  /** What Bash started, by the index of the text. */
  readonly started: ReadonlyMap<number, readonly (readonly string[])[]>
  /** What the texts left in the directory where they ran. */
  readonly files: readonly string[]
}

function runInBash(texts: readonly string[], isRestricted: boolean): BashRun {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-shell-'))
  const run = spawnSync('bash', [DRIVER, isRestricted ? 'set -r' : ':'], {
    input: texts.map((text) => `${text}\0`).join(''),
    cwd,
    env: {},
    encoding: 'utf8',
    maxBuffer: 256e6,
    timeout: 300_000,
  })
  const files = readdirSync(cwd)
  rmSync(cwd, { recursive: true, force: true })
  if (run.status !== 0)
    throw new Error(`bash ended with ${run.status} ${run.signal}: ${run.stderr}`)
  const started = new Map<number, string[][]>()
  for (const record of run.stdout.replaceAll('\x03', '\n').split('\x02\x01').slice(0, -1)) {
    const [index, ...words] = record.split('\x01').slice(0, -1)
    started.set(Number(index), [...(started.get(Number(index)) ?? []), words])
  }
  return { started, files }
}

const FAMILIES: readonly LineFamily[] = [
  ['aa', '*'],
  ['bb', 'x'],
  ['bb', '-y', '*'],
  ['cc'],
  ['rr', 'x', '*'],
]
const OF_FAMILIES = [
  'aa',
  'aa x',
  'bb x',
  'bb -y',
  'cc',
  'rr x',
  'CI=1 aa',
  'timeout 5 cc',
  'time aa',
]
const FILTERS = [
  'cd .',
  'cd sub',
  'head -5',
  'grep -v x',
  'cat',
  'echo x',
  'true',
  'set -e',
  'sort -u',
]
/** Filters that are no builtins of Bash, which therefore are reported like any other program. */
const REPORTED = ['head', 'grep', 'cat', 'sort', 'time', 'timeout']

/** A text near to the families: their programs and filters, with words, redirections and odd pieces anywhere. */
export function generateFamilyText(random: Random): string {
  const parts: string[] = []
  for (let more = 1 + random.next(3); more > 0; more--) {
    const words = [random.pick(random.next(3) === 0 ? FILTERS : OF_FAMILIES)]
    if (random.next(3) === 0) words.push(random.pick(WORDS))
    if (random.next(6) === 0) words.push(random.pick(REDIRECTIONS))
    if (random.next(9) === 0) words.unshift(random.pick(ASSIGNMENTS))
    if (random.next(12) === 0) words.push(random.pick(NAMES))
    parts.push(words.join(' '), random.pick(JOINS))
  }
  const text = parts.slice(0, -1).join('')
  if (random.next(3) > 0) return text
  const at = random.next(text.length + 1)
  return text.slice(0, at) + random.pick(ODD) + text.slice(at)
}

export interface FamilyComparison {
  /** Texts that are of the families, and for which Bash started something. */
  readonly ran: number
  /** What Bash started beside the families and filters. */
  readonly outside: readonly string[]
  /** What the texts wrote. */
  readonly files: readonly string[]
}

/** Runs those of the texts that are of the families. */
export function compareFamilies(texts: readonly string[]): FamilyComparison {
  const accepted = texts.filter((text) => {
    const programs = listPrograms(text, '/')
    return typeof programs !== 'string' && areOfFamilies(programs, FAMILIES)
  })
  const { started, files } = runInBash(accepted, false)
  const outside = [...started].flatMap(([index, all]) =>
    all
      .filter((words) => !REPORTED.includes(words[0] ?? '') && !FAMILIES.some(isIn(words)))
      .map((words) => `${JSON.stringify(accepted[index])} starts ${JSON.stringify(words)}`),
  )
  return { ran: started.size, outside, files }
}

function isIn(words: readonly string[]): (family: LineFamily) => boolean {
  return (family) => {
    const isOpen = family.at(-1) === '*'
    const fixed = isOpen ? family.slice(0, -1) : family
    const isAsLong = isOpen || words.length === fixed.length
    return isAsLong && fixed.every((word, at) => words[at] === word)
  }
}
