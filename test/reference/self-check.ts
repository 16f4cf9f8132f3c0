// Runs the reference alone: `node test/reference/self-check.ts [worlds] [seed]` prints what the
// decisions are made of and how fast they come, for tuning generate.ts. Exits 1 where the mix is
// thinner than the comparison needs.

import type { RefDecision, RefEvent } from './document.ts'
import { referenceDecide } from './evaluate.ts'
import { generateWorld, seededRandom } from './generate.ts'

const worlds = Number(process.argv[2] ?? 200)
const firstSeed = Number(process.argv[3] ?? 1)
const counts = new Map<string, number>()
let decisions = 0
let decidingMs = 0

for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
  const { document, calls } = generateWorld(seededRandom(seed))
  const used: RefEvent[] = []
  const startedMs = performance.now()
  for (const { call, facts, nowMs } of calls) {
    const decision = referenceDecide(document, call, facts, used, nowMs)
    for (const verdict of [decision, ...decision.shadow]) {
      for (const take of verdict.takes) used.push({ ...take, atMs: nowMs })
    }
    tally(decision, call.method)
  }
  decidingMs += performance.now() - startedMs
}

function tally(decision: RefDecision, method: string): void {
  const { action, code, guardrails, shadow, notes, takes, rule } = decision
  decisions += 1
  add(`action ${action}`)
  add(`code ${code}`)
  add(`by ${rule.split('/')[1] || 'method'}`)
  if (method !== 'tools/call') add('not a tool call')
  if (notes.globs >= 2) add('two or more globs count')
  if (notes.undecidable > 0) add('undecidable when')
  if (guardrails.length > 0) add('guardrail laid over')
  if (code.endsWith('LIMITED')) add('limit exhausted')
  if (takes.length > 0) add('takes')
  if (takes.length > 1) add('takes, several')
  if (shadow.length > 0) add('shadow')
  if (shadow.some((verdict) => verdict.code.endsWith('LIMITED'))) add('shadow limit exhausted')
}

function add(name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const LEAST: [string, number][] = [
  ['action allow', 10],
  ['action deny', 10],
  ['action hide', 10],
  ['action require_approval', 10],
  ['two or more globs count', 1],
  ['undecidable when', 1],
  ['guardrail laid over', 1],
  ['limit exhausted', 1],
]

for (const name of [...counts.keys()].sort()) console.log(`${name.padEnd(28)}${percent(name)} %`)
console.log(`${decisions} decisions of ${worlds} worlds from seed ${firstSeed}`)
console.log(`${Math.round((decisions / decidingMs) * 1000)} decisions a second`)
const thin = LEAST.filter(([name, least]) => Number(percent(name)) < least)
for (const [name, least] of thin) console.log(`too few: ${name}, wanted ${least} %`)
process.exitCode = thin.length > 0 ? 1 : 0

function percent(name: string): string {
  return (((counts.get(name) ?? 0) / decisions) * 100).toFixed(1).padStart(6)
}
