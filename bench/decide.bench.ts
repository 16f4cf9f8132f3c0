// `npm run bench -- decide`: the cost of one decision under 10, 100, 1,000 and 10,000 rules,
// compared with cedar-wasm on the same rules (its policy set parsed beforehand) and
// rate-limiter-flexible's memory limiter for the limits, all alternating in one run.

import cedar from '@cedar-policy/cedar-wasm/nodejs'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RunOptions } from '../scripts/dispatch.ts'
import { type Measurement, type Side, sideBySide, table } from './side-by-side.ts'

const RULES = [10, 100, 1_000, 10_000]
const CEDAR_RULES_MAX = 1_000
const TOOLS_CALLED = 9
const WHEN = 'args.amount <= 100 && args.currency == "EUR"'

export async function run(options: RunOptions): Promise<number> {
  const turns = Number(options.turns ?? 100)
  const sides: Side[] = []
  for (const rules of RULES) {
    sides.push(sluice(rules, 'plain'), sluice(rules, 'limits'), sluice(rules, 'when'))
    if (rules <= CEDAR_RULES_MAX) sides.push(cedarSide(rules))
  }
  sides.push(consumeSide(), flexibleSide(), firstSight())
  const measured = await sideBySide(sides, turns)
  const p50 = (name: string) => (measured.find((row) => row.name === name) as Measurement).p50Ns
  const flat = Object.fromEntries(
    ['plain', 'limits', 'when'].map((kind) => [
      kind,
      p50(`sluice ${kind}, 10000 rules`) / p50(`sluice ${kind}, 10 rules`),
    ]),
  )
  const goals = [
    {
      goal: 'p50 at most 1 µs without `when` (limits on)',
      value: p50('sluice limits, 10000 rules') / 1_000,
      max: 1,
    },
    { goal: 'p50 at most 2 µs with one', value: p50('sluice when, 10000 rules') / 1_000, max: 2 },
    ...Object.entries(flat).map(([kind, value]) => ({
      goal: `10,000 rules within 1.5 times of 10 (${kind})`,
      value,
      max: 1.5,
    })),
  ]
  if (options.json) console.log(JSON.stringify({ measured, goals }))
  else {
    console.log(table(measured))
    for (const { goal, value, max } of goals)
      console.log(`${value <= max ? 'reached' : 'MISSED '}  ${goal}: ${value.toFixed(2)}`)
    console.log(
      `cedar-wasm / sluice at 1,000 rules: ${(p50('cedar-wasm, 1000 rules') / p50('sluice when, 1000 rules')).toFixed(0)} times`,
    )
  }
  return 0
}

type Kind = 'plain' | 'limits' | 'when'

function createRule(kind: Kind): string {
  if (kind === 'plain') return 'allow'
  // The conditions of 10,000 rules just fit into a document; their limit is the guardrail's.
  return kind === 'limits'
    ? '{ action: allow, rate_limit: { max: 1000000, window: 60 } }'
    : `{ action: allow, when: '${WHEN}' }`
}

/** Exact names, and a tenth globs, so that a decision has to search both. */
function createDocument(rules: number, kind: Kind): string {
  const lines = [
    'version: 1',
    'default: deny',
    'categories: { Read: allow, Destructive: deny }',
    'tools:',
  ]
  for (let index = 0; index < rules; index++)
    lines.push(
      `  ${index % 10 === 9 ? `server-${index % 50}/glob_${index}_*` : createName(index)}: ${createRule(kind)}`,
    )
  lines.push(
    'guardrails:',
    '  - { name: one for all, rate_limit: { max: 1000000, window: 60, per: everyone } }',
  )
  return kind === 'plain' ? lines.slice(0, -2).join('\n') : lines.join('\n')
}

function createName(index: number): string {
  return `server-${index % 50}/tool_${index}`
}

function sluice(rules: number, kind: Kind): Side {
  const { policy } = compile({ file: 'bench.yaml', text: createDocument(rules, kind) })
  if (policy === undefined) throw new Error('the bench document does not compile')
  const calls = createCalls(rules)
  const counters = new MemoryCounters()
  const now = { wallMs: 0, monotonicMs: 0 }
  return {
    name: `sluice ${kind}, ${rules} rules`,
    batch: 2_000,
    run(count) {
      for (let index = 0; index < count; index++) {
        const { call, facts } = calls[index % calls.length] as { call: Call; facts: Facts }
        if (decide(policy, call, facts, counters, now).action !== 'allow')
          throw new Error('not allowed')
      }
    },
  }
}

/** The same number of tools for any number of rules, spread over them. */
function createCalls(rules: number): { call: Call; facts: Facts }[] {
  const calls = []
  for (let tool = 0; tool < TOOLS_CALLED; tool++) {
    const index = Math.floor((tool * rules) / 10)
    const [server, name] = createName(index).split('/') as [string, string]
    calls.push({
      call: { server, name, method: 'tools/call', args: { amount: 50, currency: 'EUR' } },
      facts: createFacts(createTool(server, name)),
    })
  }
  return calls
}

function createTool(server: string, name: string): KnownTool {
  const inputSchema = {
    type: 'object',
    properties: { amount: { type: 'integer' }, currency: { type: 'string' } },
  }
  return { definition: { server, name, inputSchema }, category: 'Write', risk: 'medium' }
}

function createFacts(tool: KnownTool): Facts {
  return {
    tool,
    transport: 'http',
    principal: { id: 'ann', kind: 'grant', groups: [], claims: {} },
    agent: null,
    session: { id: 'session-1', startedAtMs: 0, calls: 0, saw: [] },
  }
}

function cedarSide(rules: number): Side {
  const policies = Array.from(
    { length: rules },
    (_, index) =>
      `permit(principal, action == Action::"call", resource == Tool::"${createName(index)}") when { context.amount <= 100 && context.currency == "EUR" };`,
  )
  cedar.preparsePolicySet(`rules-${rules}`, { staticPolicies: policies.join('\n') })
  const request = (index: number) => ({
    principal: { type: 'User', id: 'ann' },
    action: { type: 'Action', id: 'call' },
    resource: { type: 'Tool', id: createName(index) },
    context: { amount: 50, currency: 'EUR' },
    preparsedPolicySetId: `rules-${rules}`,
    entities: [],
  })
  return {
    name: `cedar-wasm, ${rules} rules`,
    batch: rules <= 100 ? 10 : 2,
    run(count) {
      for (let index = 0; index < count; index++) {
        const answer = cedar.statefulIsAuthorized(request(index % rules))
        if (answer.type !== 'success' || answer.response.decision !== 'allow')
          throw new Error(`cedar: ${JSON.stringify(answer)}`)
      }
    },
  }
}

/** One limit, consumed permanently; time moves so that the window stays short. */
function consumeSide(): Side {
  const counters = new MemoryCounters()
  const take = {
    key: 'ann',
    kind: 'rate',
    windowMs: 60_000,
    max: { units: 1_000_000n, scale: 0 },
    amount: { units: 1n, scale: 0 },
  } as const
  let nowMs = 0
  return {
    name: 'sluice counters, consume',
    batch: 2_000,
    run(count) {
      for (let index = 0; index < count; index++) {
        nowMs += 60
        if (!counters.consume([take], { wallMs: nowMs, monotonicMs: nowMs }).ok)
          throw new Error('limited')
      }
    },
  }
}

function flexibleSide(): Side {
  const limiter = new RateLimiterMemory({ points: 1_000_000_000, duration: 60 })
  return {
    name: 'rate-limiter-flexible memory, consume',
    batch: 2_000,
    async run(count) {
      for (let index = 0; index < count; index++) await limiter.consume('ann')
    },
  }
}

/** The cost of a tool when it is first seen, under 10,000 rules. */
function firstSight(): Side {
  const { policy } = compile({ file: 'bench.yaml', text: createDocument(10_000, 'when') })
  if (policy === undefined) throw new Error('the bench document does not compile')
  const counters = new MemoryCounters()
  let index = 0
  return {
    name: 'sluice first sight of a tool, 10000 rules',
    batch: 4,
    run(count) {
      for (let each = 0; each < count; each++, index++) {
        const [server, name] = createName(index % 10_000).split('/') as [string, string]
        const call = { server, name, method: 'tools/call', args: { amount: 50, currency: 'EUR' } }
        decide(policy, call, createFacts(createTool(server, name)), counters, {
          wallMs: 0,
          monotonicMs: 0,
        })
      }
    },
  }
}
