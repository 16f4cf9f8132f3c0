// `npm run bench -- threats --data FILE [--tools N] [--runs N]`: how long `sluice threats` searches among many tools under
// the policy that `scan` suggests and under one that allows everything with `protect`, where every form of an order is tried;
// and how long it then takes to find what closes each open harm. CPU time of the thread, which other programs
// do not lengthen.

import { readFileSync } from 'node:fs'
import type { KnownTool, ToolDefinition } from '@sluice/policy/calls/tools'
import { classify } from '../packages/catalogue/src/classify/classify.ts'
import { suggestKnownPolicy } from '../packages/cli/src/packs/known-fields.ts'
import { listClosings } from '../packages/cli/src/threats/close-path.ts'
import { findThreats } from '../packages/cli/src/threats/search-paths.ts'
import { isSerious, type ThreatInputs } from '../packages/cli/src/threats/threat.ts'
import { compile } from '../packages/policy/src/compile/compile.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { shuffle } from '../scripts/eval/facts/draw.ts'
import { Random } from '../test/fuzz/mutate.ts'

const SEED = 400
const FILE = 'policy.yaml'

export function run(options: RunOptions): number {
  const count = Number(options.tools ?? 400)
  const runs = Number(options.runs ?? 5)
  if (typeof options.data !== 'string') {
    console.error('usage: npm run bench -- threats --data FILE [--tools N] [--runs N]')
    return 2
  }
  const all = JSON.parse(readFileSync(options.data, 'utf8')) as ToolDefinition[]
  const definitions = shuffle(all, new Random(SEED)).slice(0, count)
  const policies = {
    'as `scan` suggests': suggestKnownPolicy(definitions).yaml,
    'all allowed, `protect: balanced`': 'version: 1\ndefault: allow\nprotect: balanced\n',
  }
  console.log('| policy | tools | harms open | plays | search, ms of CPU | with what closes them |')
  console.log('|---|--:|--:|--:|--:|--:|')
  for (const [name, text] of Object.entries(policies)) {
    const measured = Array.from({ length: runs }, () => measure(definitions, text))
    const [{ open, plays } = { open: 0, plays: 0 }] = measured
    const searchMs = median(measured.map((one) => one.searchMs))
    const wholeMs = median(measured.map((one) => one.wholeMs))
    const row = [name, count, open, plays, Math.round(searchMs), Math.round(wholeMs)]
    console.log(`| ${row.join(' | ')} |`)
  }
  return 0
}

/** As the command does, with definitions that nothing is known of yet. */
function measure(definitions: readonly ToolDefinition[], text: string) {
  const began = process.threadCpuUsage()
  const readMs = () => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1_000
  }
  const tools = definitions.map((one): KnownTool => {
    const definition = { ...one }
    return { definition, ...classify(definition) }
  })
  const { policy } = compile({ file: FILE, text })
  if (policy === undefined) throw new Error('the policy does not compile')
  const servers = Object.fromEntries(
    tools.map(({ definition }) => [definition.server, { kind: 'process' }] as const),
  )
  const places = { home: '/srv/ann', project: '/srv/ann/shop' }
  const inputs: ThreatInputs = {
    ...places,
    policy,
    tools,
    servers,
    nowMs: readMs,
  }
  const { harms, isCutShort } = findThreats(inputs)
  if (isCutShort) throw new Error('the search was cut short')
  const searchMs = readMs()
  const found = harms.filter(({ result }) => result === 'open')
  const open = new Set(found.map(({ harm }) => harm))
  const document = { file: FILE, text }
  for (const one of found.filter(({ paths }) => paths.some(isSerious)))
    listClosings(inputs, { document, found: one, open, hosts: new Map(), max: 3 })
  return {
    open: found.length,
    plays: harms.reduce((sum, { playCount }) => sum + playCount, 0),
    searchMs,
    wholeMs: readMs(),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
