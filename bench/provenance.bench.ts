// `npm run bench -- provenance`: what `protect` costs beside a decision. Remembering an answer, per kB of
// prose, JSON and text that is all records, and the decision on a call with ten arguments while the
// memory is full.

import type { KnownTool } from '@sluice/policy/calls/tools'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { JsonObject } from '@sluice/policy/values/json'
import type { RunOptions } from '../scripts/dispatch.ts'

const SEED = { low: 1, high: 2 }
const NOW = { wallMs: 0, monotonicMs: 0 }
const WORDS =
  'the invoice of the meeting tomorrow please send report account number project update schedule team client budget review notes summary draft final version attached document'.split(
    ' ',
  )

export function run(options: RunOptions): number {
  const turns = Number(options.turns ?? 2_000)
  const prose = Array.from({ length: 1_600 }, (_, at) => word(at))
    .join(' ')
    .slice(0, 10_000)
  const rows = Array.from({ length: 60 }, (_, at) => ({
    id: at,
    email: `user${at}@example.com`,
    name: `${word(at)} ${word(at * 3)}`,
    body: Array.from({ length: 15 }, (_, index) => word(at * index)).join(' '),
  }))
  const records = JSON.stringify(rows)
  const cells = rows.map(({ id, email, name, body }) => `| ${id} | ${email} | ${name} | ${body} |`)
  const table = ['| id | email | name | body |', '|---|---|---|---|', ...cells].join('\n')
  const block = rows
    .map(
      ({ id, email, name, body }) =>
        `- id: ${id}\n  email: ${email}\n  name: ${name}\n  body: ${body}`,
    )
    .join('\n')
  const listing = rows.map(({ id }) => `[FILE] notes/${word(id)}/${word(id * 3)}.txt`).join('\n')
  const goals = [
    { goal: 'remembering prose, at most 20 µs per kB', value: remember(prose, turns), max: 20 },
    { goal: 'remembering JSON, at most 20 µs per kB', value: remember(records, turns), max: 20 },
    { goal: 'remembering a table, at most 20 µs per kB', value: remember(table, turns), max: 20 },
    { goal: 'remembering YAML, at most 20 µs per kB', value: remember(block, turns), max: 20 },
    { goal: 'remembering paths, at most 20 µs per kB', value: remember(listing, turns), max: 20 },
    {
      goal: 'a decision, ten arguments, p50 at most 5 µs',
      value: decideCalls(
        rows.map(({ id, email, name }) => ({ id, email, name })),
        turns,
      ),
      max: 5,
    },
  ]
  if (options.json) console.log(JSON.stringify({ goals }))
  for (const { goal, value, max } of goals)
    console.log(
      `${value.p50 <= max ? 'reached' : 'MISSED '}  ${goal}: ${value.p50.toFixed(2)} (10th percentile ${value.p10.toFixed(2)})`,
    )
  return 0
}

function word(at: number): string {
  return `${WORDS[(at * 7_919) % WORDS.length]}${at % 7 === 0 ? at % 1_000 : ''}`
}

/** Microseconds per kB. */
function remember(text: string, turns: number): Times {
  const memory = new SessionProvenance(SEED)
  const source = { isSteered: false, trust: [], echoes: [] }
  return measure(turns, () => memory.remember({ texts: [text] }, source), text.length / 1_000)
}

function decideCalls(people: readonly { readonly name: string }[], turns: number): Times {
  const text = 'version: 1\ndefault: allow\nprotect: balanced\n'
  const policy = compile({ file: 'p', text }).policy as CompiledPolicy
  const definition = { server: 's', name: 'send_report', inputSchema: { type: 'object' } }
  const tool: KnownTool = { definition, category: 'Write', risk: 'low' }
  const memory = new SessionProvenance(SEED)
  for (let from = 0; !memory.isIncomplete; from += 2_000)
    memory.remember({
      texts: [Array.from({ length: 2_000 }, (_, at) => `w${from + at}`).join(' ')],
    })
  memory.remember({ texts: [JSON.stringify(people)] })
  const facts = { ...sampleFacts(tool), provenance: memory }
  const counters = new MemoryCounters()
  // Each is checked: none of them holds the call.
  const args = {
    to: 'user7@example.com',
    cc: 'user8@example.com',
    id: '17',
    parent: '18',

    name: people[5]?.name,
    team: people[6]?.name,
    channel: people[7]?.name,
    start: '2026-11-16',
    subject: 'the report',
    body: 'all of it is in the notes of the last meeting',
  } as JsonObject
  // New arguments for each call: what was read of them is kept.
  return measure(turns * 5, () => {
    const call = { server: 's', name: 'send_report', method: 'tools/call', args: { ...args } }
    if (decide(policy, call, facts, counters, NOW).action !== 'allow') throw new Error('held')
  })
}

/** The median, and what it takes while nothing else runs. */
interface Times {
  readonly p50: number
  readonly p10: number
}

/** Microseconds, divided by `parts`. */
function measure(turns: number, work: () => void, parts = 1): Times {
  const times = Array.from({ length: turns }, () => {
    const began = performance.now()
    work()
    return ((performance.now() - began) * 1_000) / parts
  }).sort((one, other) => one - other)
  return { p50: times[turns >> 1] as number, p10: times[Math.floor(turns / 10)] as number }
}
