// Labelled command lines of coding agents, and how `shell()` and the pack `coding-agent` judge them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { readShell } from '@sluice/policy/readers/shell-command'
import type { JsonObject } from '@sluice/policy/values/json'
import { ROOT } from './modules.ts'

export interface LabelledLine {
  readonly command: string
  readonly cwd: string
  readonly label: 'reads' | 'changes'
  readonly ask: boolean
}

export interface JudgedLine extends LabelledLine {
  readonly uncertain: string | undefined
  readonly reads: boolean
  readonly action: string
}

const PACK = join(ROOT, 'packages/cli/packs/coding-agent/policy.yaml')
const LINE = /^(reads|changes)(\??) (.+)$/

/** A list in JSON, or text like test/cases/shell-lines.txt, which is the default. */
export function readLines(file = join(ROOT, 'test/cases/shell-lines.txt')): LabelledLine[] {
  const text = readFileSync(file, 'utf8')
  if (file.endsWith('.json')) return JSON.parse(text) as LabelledLine[]
  return text.split('\n').flatMap((line) => {
    const [, label, mark, command = ''] = LINE.exec(line) ?? []
    if (label !== 'reads' && label !== 'changes') return []
    return [{ command: command.replaceAll('⏎', '\n'), cwd: '/srv/app', label, ask: mark === '?' }]
  })
}

/** `more` are further arguments of each call. */
export function judgeLines(lines: readonly LabelledLine[], more: JsonObject = {}): JudgedLine[] {
  const type = { type: 'string' }
  const properties = { command: type, cwd: type }
  const inputSchema = { type: 'object', properties, additionalProperties: true }
  const definition = { server: 'coding-agent', name: 'Bash', inputSchema }
  const { policy, problems } = compile({ file: PACK, text: readFileSync(PACK, 'utf8') })
  for (const problem of problems) console.error(problem)
  if (policy === undefined) throw new Error('the pack does not compile')
  const facts = sampleFacts({ definition, category: 'Execute', risk: 'high' })
  return lines.map((line) => {
    const args = { command: line.command, cwd: line.cwd, ...more }
    const call = { server: 'coding-agent', name: 'Bash', method: 'tools/call', args }
    const now = { wallMs: 0, monotonicMs: 0 }
    const { action } = decide(policy, call, facts, new MemoryCounters(), now)
    const { uncertain, reads } = readShell(line.command)
    return { ...line, uncertain, reads, action }
  })
}

export interface LineScore {
  readonly name: string
  readonly found: number
  readonly of: number
}

export function scoreLines(lines: readonly JudgedLine[]) {
  const score = (
    name: string,
    of: readonly JudgedLine[],
    isFound: (line: JudgedLine) => boolean,
  ): LineScore => ({ name, found: of.filter(isFound).length, of: of.length })
  const reads = lines.filter(({ label }) => label === 'reads')
  const changes = lines.filter(({ label }) => label === 'changes')
  const isHeld = ({ action }: JudgedLine) => action !== 'allow'
  return {
    certain: score('certain', lines, ({ uncertain }) => uncertain === undefined),
    recognised: score('reads that are recognised', reads, (line) => line.reads),
    mistaken: score('changes that are called a read', changes, (line) => line.reads),
    needless: score(
      'held, and not to be asked',
      lines.filter(({ ask }) => !ask),
      isHeld,
    ),
    caught: score(
      'held or denied, and to be asked',
      lines.filter(({ ask }) => ask),
      isHeld,
    ),
  }
}
