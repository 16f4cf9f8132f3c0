// The cases in cases/policies/, one topic a file: examples of the language that hold. Read and run
// by the engine's own readers, as `sluice policy test` does it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KnownTool, ToolDefinition } from '@sluice/policy/calls/tools'
import { type CaseFile, readCases } from '@sluice/policy/cases/cases'
import { measureCoverage } from '@sluice/policy/cases/coverage'
import { type CaseResult, runCase } from '@sluice/policy/cases/run-cases'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { describe, expect, test } from 'vitest'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'

const FOLDER = join(import.meta.dirname, '../cases/policies')
const topics = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.cases.yaml'))
  .map((file) => file.replace('.cases.yaml', ''))

describe.each(topics)('%s', (topic) => {
  const { file, policy, tools } = load(topic)
  const finder = { toolFor: toolFinder(tools), counters: () => new MemoryCounters() }
  const results: CaseResult[] = []

  test.each(file.cases.map((one) => ({ name: one.name, one })))('$name', ({ one }) => {
    const result = runCase(policy, one, finder)
    results.push(result)
    expect(result.differences).toEqual([])
  })

  test('the cases reach every rule and both sides of every condition', () => {
    const { branches } = measureCoverage(policy, results, tools)
    const missed = branches.filter(({ hits, branch }) => hits === 0 && !branch.startsWith('limit'))
    expect(missed.map(({ rule, branch }) => `${rule} ${branch}`)).toEqual([])
  })
})

function load(topic: string): { file: CaseFile; policy: CompiledPolicy; tools: KnownTool[] } {
  const name = `${topic}.cases.yaml`
  const { cases: file, problems } = readCases({ file: name, text: read(name) })
  if (file?.policy === undefined || file.tools === undefined)
    throw new Error(`${name}: ${problems[0]?.message ?? 'names no policy or tools'}`)
  const tools = (JSON.parse(read(file.tools)) as ToolDefinition[]).map((definition) => ({
    definition,
    ...classify(definition),
  }))
  const compiled = compile({ file: file.policy, text: read(file.policy) }, { tools })
  const errors = compiled.problems.map(({ line, message }) => `${file.policy}:${line} ${message}`)
  if (compiled.policy === undefined) throw new Error(errors.join('\n'))
  return { file, policy: compiled.policy, tools }
}

function read(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
}

/** A name that no server lists is a tool about which nothing is declared. */
function toolFinder(tools: readonly KnownTool[]): (server: string, name: string) => KnownTool {
  return (server, name) => {
    const known = tools.find(
      ({ definition }) => definition.server === server && definition.name === name,
    )
    const definition = { server, name, inputSchema: { type: 'object' } }
    return known ?? { definition, ...classify(definition) }
  }
}
