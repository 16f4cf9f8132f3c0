// `npm run eval -- shell --data FILE`: command lines that are labelled `reads` or `changes`, and whether a careful
// developer wants to be asked (`ask`). Measures `shell()` and the pack `coding-agent`; `--seed N` reports two random
// halves, `--verbose` prints each line that is judged otherwise.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { readShell } from '@sluice/policy/core/shell-command'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { Random } from '../../test/fuzz/mutate.ts'
import type { RunOptions } from '../dispatch.ts'
import { ROOT } from '../run-step.ts'

interface Labelled {
  readonly command: string
  readonly cwd: string
  readonly label: 'reads' | 'changes'
  readonly ask: boolean
}

const PACK = join(ROOT, 'packages/sluice/packs/coding-agent/policy.yaml')

export function run({ data, seed, verbose }: RunOptions): number {
  if (typeof data !== 'string') {
    console.error('usage: npm run eval -- shell --data FILE [--seed N] [--verbose]')
    return 2
  }
  const lines = JSON.parse(readFileSync(data, 'utf8')) as Labelled[]
  const judge = judgeByPack()
  const judged = lines.map((line) => ({ ...line, ...readShell(line.command), action: judge(line) }))
  report('all', judged)
  if (seed !== undefined) {
    const random = new Random(Number(seed))
    const mixed = judged
      .map((line) => ({ line, at: random.next(2 ** 30) }))
      .sort((one, other) => one.at - other.at)
      .map(({ line }) => line)
    const half = Math.ceil(mixed.length / 2)
    report('first half', mixed.slice(0, half))
    report('second half', mixed.slice(half))
  }
  if (verbose !== undefined)
    for (const { command, label, ask, uncertain, reads, action } of judged) {
      const isHeld = action !== 'allow'
      if (reads !== (label === 'reads')) console.log(`${label}, judged ${reads}: ${command}`)
      if (isHeld !== ask) console.log(`${ask ? 'ask' : 'do not ask'}, ${action}: ${command}`)
      if (uncertain !== undefined) console.log(`not certain (${uncertain}): ${command}`)
    }
  return 0
}

type Judged = Labelled & { uncertain: string | undefined; reads: boolean; action: string }

function report(name: string, lines: readonly Judged[]): void {
  const share = (of: readonly Judged[], isFound: (line: Judged) => boolean) => {
    const found = of.filter(isFound).length
    return `${found} of ${of.length} (${((100 * found) / of.length).toFixed(1)} %)`
  }
  const reads = lines.filter(({ label }) => label === 'reads')
  const changes = lines.filter(({ label }) => label === 'changes')
  const asked = lines.filter(({ ask }) => ask)
  const free = lines.filter(({ ask }) => !ask)
  const isHeld = ({ action }: Judged) => action !== 'allow'
  console.log(`${name}: ${lines.length} lines`)
  console.log(`  certain: ${share(lines, ({ uncertain }) => uncertain === undefined)}`)
  console.log(`  reads that are recognised: ${share(reads, (line) => line.reads)}`)
  console.log(`  changes that are called a read: ${share(changes, (line) => line.reads)}`)
  console.log(`  held, and not to be asked: ${share(free, isHeld)}`)
  console.log(`  held or denied, and to be asked: ${share(asked, isHeld)}`)
}

function judgeByPack(): (line: Labelled) => string {
  const type = { type: 'string' }
  const properties = { command: type, cwd: type }
  const inputSchema = { type: 'object', properties, additionalProperties: true }
  const definition = { server: 'coding-agent', name: 'Bash', inputSchema }
  const { policy, problems } = compile({ file: PACK, text: readFileSync(PACK, 'utf8') })
  for (const problem of problems) console.error(problem)
  if (policy === undefined) throw new Error('the pack does not compile')
  const facts = sampleFacts({ definition, category: 'Execute', risk: 'high' })
  return ({ command, cwd }) => {
    const args = { command, cwd }
    const call = { server: 'coding-agent', name: 'Bash', method: 'tools/call', args }
    return decide(policy, call, facts, new MemoryCounters(), { wallMs: 0, monotonicMs: 0 }).action
  }
}
