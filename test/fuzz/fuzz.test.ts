// A short run of every fuzz target finds nothing, and finds a fault that is planted. `npm run fuzz` runs
// for longer, `npm run fuzz -- --planted` with all planted faults. What a fuzzer found is below by name.

import { compile } from '@sluice/policy/compile/compile'
import { bindExpression } from '@sluice/policy/expression/evaluate/bind-expression'
import { readDeclaredArguments } from '@sluice/policy/expression/evaluate/declared-types'
import { parseExpression } from '@sluice/policy/expression/expression'
import { describe, expect, test } from 'vitest'
import { decode } from '../../packages/ledger/src/records/decoding.ts'
import { LedgerError } from '../../packages/ledger/src/records/errors.ts'
import { forms, rounds } from '../support/runs.ts'
import { FUZZ_TARGETS, fuzz } from './fuzz.ts'
import { insertCounters } from './instrument.ts'
import { PLANTED_FAULTS } from './planted-faults.ts'
import { seeds as policySeeds } from './targets/policy.ts'

const EXECUTIONS = rounds(2_000)
const PLANTED_EXECUTIONS_MAX = 200_000

test.each(FUZZ_TARGETS)('%s: a short run finds nothing', async (target) => {
  const report = await fuzz({ target, executions: EXECUTIONS, seconds: 60 })
  expect(report.finding).toBeUndefined()
  expect(report.edgesReached).toBeGreaterThan(20)
  expect(report.corpus).toBeGreaterThan(3)
})

test.each(forms(FUZZ_TARGETS, 2))(
  '%s has three planted faults, and finds the last',
  async (target) => {
    const faults = PLANTED_FAULTS[target] ?? []
    expect(faults).toHaveLength(3)
    const fault = faults[2] as (typeof faults)[number]
    const report = await fuzz({ target, executions: PLANTED_EXECUTIONS_MAX, seconds: 60, fault })
    expect(report.finding).toBeDefined()
  },
)

test('finding: the seeds of the policy target compile, so that mutations begin at policies that decide', () => {
  for (const text of policySeeds)
    expect(compile({ file: 'policy.yaml', text }).problems, text).toEqual([])
})

test('counters are in every branch, and the code does the same', async () => {
  const code = `
    export function f(x) {
      if (x > 1) return x > 2 ? 'b' : 'c'; else if (x < 0) x = -x
      for (const y of [1]) if (y) x += y
      do x++; while (x < 3)
      switch (x) { case 3: return 'three'; default: }
      try { throw x && 1 } catch { return (() => ({ x }))() ?? null }
    }`
  const load = (text: string) =>
    import(`data:text/javascript,${encodeURIComponent(text)}`) as Promise<{
      f: (x: number) => unknown
    }>
  const { code: counted, edges } = insertCounters(code)
  expect(edges).toBe(16)
  const [plain, instrumented] = [await load(code), await load(counted)]
  for (const x of [-9, -1, 0, 1, 2, 3]) expect(instrumented.f(x)).toEqual(plain.f(x))
})

describe('found by fuzzing', () => {
  test('`args.a > !5` is no fault of the compiler', () => {
    const declared = readDeclaredArguments({
      type: 'object',
      properties: { a: { type: 'number' } },
    })
    const parsed = parseExpression('args.a > !5', new Set())
    expect(() => bindExpression(parsed, declared, { extraArgs: false })).not.toThrow()
  })

  test('a record with fields of other types is refused as damaged', () => {
    expect(() => decode('[1,7,1,0,[],[]]')).toThrow(LedgerError)
    expect(() => decode('[1,8,3,0,7,"answered",1,1,null,"d",7]')).toThrow(LedgerError)
  })
})
