// `npm run bench -- shell`: CPU of reading a command line. Ordinary lines, and the worst texts that are known for the
// parser, each at the longest that is still read.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of a shell

import { readShell } from '@sluice/policy/readers/shell-command'

const LENGTH = 8_192
const ROUNDS = 40

const fill = (piece: string, length = LENGTH) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const nest = (open: string, close: string, levels: number, inner = 'ls') =>
  open.repeat(levels) + inner + close.repeat(levels)

const TEXTS: Readonly<Record<string, (size: number) => string>> = {
  'git status && git diff HEAD~1 | head -20': () => 'git status && git diff HEAD~1 | head -20',
  words: (size) => `echo ${fill('a ', size)}`,
  commands: (size) => fill('ls a; ', size),
  'nested $( )': (size) => nest('$(', ')', size),
  'nested ` `': (size) => nest('"`', '`"', size),
  'nested ( )': (size) => nest('( ', ' )', size),
  'nested { }': (size) => nest('{ ', '; }', size),
  'nested if': (size) => nest('if ', '; then a; fi', size),
  'nested ${ }': (size) => nest('${a:-', '}', size, 'b'),
  'nested [[ ( ) ]]': (size) => `[[ ${nest('( ', ' )', size, '-n a')} ]]`,
  'nested $(( ))': (size) => `echo $((${nest('(', ')', size, '1')}))`,
  '$( ) around words': (size) => nest('$(echo ', ')', 7, fill('a ', size)),
  'here-documents': (size) => fill('cat <<E\n$(a)\nE\n', size),
  assignments: (size) => fill('a=1 ', size),
  quotes: (size) => fill("'\"'", size),
  braces: (size) => `echo ${fill('{a,b}', size)}`,
  directories: (size) => `cd a; cd b; cd c; ${fill('ls x/../y ', size)}`,
  sed: (size) => `sed -n '${fill('s/a/b/;', size)}' x`,
}

export function run(): void {
  for (const [name, make] of Object.entries(TEXTS)) {
    let worst = { ms: 0, length: 0 }
    for (const size of [2, 16, 64, 256, 1_024, 2_048, 4_096, 8_000]) {
      const text = make(size)
      if (text.length > LENGTH) break
      const ms = measure(text)
      if (ms > worst.ms) worst = { ms, length: text.length }
    }
    console.log(
      `${name.padEnd(42)} ${(worst.ms * 1_000).toFixed(0).padStart(7)} µs of CPU, ${worst.length} characters`,
    )
  }
}

/** The mean of some rounds. Each text differs, since texts are remembered. */
function measure(text: string): number {
  const before = process.threadCpuUsage()
  for (let round = 0; round < ROUNDS; round++) readShell(`${text}\n#${round}`)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000 / ROUNDS
}
