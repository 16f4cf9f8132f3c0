// Hostile programs: each is contained, other agents are untouched, and the last committed state
// stands. `npm run eval -- hostile --data FILE` runs others than these.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { bench } from '../../../packages/agents/src/agents.test-support.ts'
import { PROGRAM_OUTPUT_LENGTH_MAX } from '../../../packages/agents/src/sandbox/limits.ts'
import { IS_FULL, spread } from '../../support/runs.ts'
import { HARNESS } from './more-programs.ts'
import { HOSTILE } from './programs.ts'
import { runHostile } from './run-hostile.ts'

/** Short: there are many that use up all of it. Much shorter, and the watchdog ends threads, whose start takes longer. */
const LIMIT_MS = 100
/** For those that end by themselves, on a machine that starves them too. */
const ENOUGH_MS = 20_000
const END_BY_THEMSELVES = [
  'read the host',
  'leave the root',
  'import a module',
  'constructor of constructor',
  'sleep on shared memory',
  'poison text',
  'files whose content lies',
]

/** What is asserted about by name. */
const NAMED = ['loop for ever', 'copyWithin over 2^53', ...END_BY_THEMSELVES]
const NAMES = Object.keys(HOSTILE)
/** Each uses up its time: `npm test` runs an eighth of them, and those that are named. */
function share<Item>(all: readonly Item[]): Item[] {
  const tried = spread(all.length).filter((_, at) => IS_FULL || at % 2 === 0)
  return tried.map((number) => all[number - 1] as Item)
}
const TRIED = new Set([...NAMED, ...share(NAMES)])

test('there are at least 100', () => {
  expect(Object.keys(HOSTILE).length).toBeGreaterThanOrEqual(100)
})

test('each is contained, and the main thread goes on meanwhile', { timeout: 120_000 }, async () => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let ticks = 0
  const ticking = setInterval(() => {
    ticks += 1
  }, 10)
  const named = (name: string): boolean => END_BY_THEMSELVES.includes(name)
  const some = (which: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(HOSTILE).filter(([name]) => TRIED.has(name) && which(name)))
  const results = [
    ...(await runHostile(
      some((name) => !named(name)),
      LIMIT_MS,
      2,
    )),
    ...(await runHostile(some(named), ENOUGH_MS, 1)),
  ]
  clearInterval(ticking)
  delay.disable()
  expect(results).toHaveLength(TRIED.size)
  const escaped = results.filter(({ how }) => how === 'unknown')
  expect(escaped).toEqual([])
  expect(ticks).toBeGreaterThan(10)
  const outcome = new Map(results.map(({ name, how, output }) => [name, { how, output }]))
  expect(outcome.get('loop for ever')?.how).toMatch(/INTERRUPTED|TIMEOUT|THREAD/)
  // By the clock, or on a machine that starves the thread by the watchdog.
  expect(outcome.get('copyWithin over 2^53')?.how).toMatch(/TIMEOUT|THREAD/)
  expect(outcome.get('read the host')?.output).toContain('there is no file')
  expect(outcome.get('leave the root')?.output).toContain('leaves')
  expect(outcome.get('import a module')?.how).toBe('failed')
  expect(outcome.get('constructor of constructor')?.output).toMatch(/process/)
  expect(outcome.get('constructor of constructor')?.how).toBe('failed')
  expect(outcome.get('sleep on shared memory')?.output).toContain('Atomics is not defined')
  expect(outcome.get('poison text')?.output).toContain('an error that cannot be shown')
  expect(outcome.get('files whose content lies')?.how).toBe('failed')
})

test('what attacks its own harness ends, fails or is stopped, and says little', async () => {
  const some = share(Object.entries(HARNESS))
  const results = await runHostile(Object.fromEntries(some), LIMIT_MS, 2)
  expect(results).toHaveLength(some.length)
  expect(results.filter(({ how }) => how === 'unknown')).toEqual([])
  expect(results.filter(({ output }) => output.length > PROGRAM_OUTPUT_LENGTH_MAX)).toEqual([])
})

test('what a model writes into an agent cannot break its core either', async () => {
  const b = await bench()
  await b.create('good')
  await b.create('a')
  const before = b.operations.standing(null, 'good', 0).agent
  const inputs: object[] = [
    { path: '__proto__/polluted', content: 'x' },
    { path: 'constructor', content: 'x' },
    JSON.parse('{"path":"p","content":"x","__proto__":{"isAdmin":true}}'),
    { path: { toString: 'x' }, content: 'x' },
    { path: 'a', content: { length: 1e9 } },
    { path: '\ud800', content: 'x' },
    { path: 'a'.repeat(100_000), content: 'x' },
  ]
  for (const input of inputs) await b.tool('a', 'write_file', input)
  for (const pattern of ['(a+)+$', '((((((((((a*)*)*)*)*)*)*)*)*)*b', '(', '\\', 'a{99}{99}'])
    await b.tool('a', 'grep', { pattern })
  await b.tool('a', 'write_file', { path: 'aa', content: 'a'.repeat(200_000) })
  expect((await b.tool('a', 'grep', { pattern: '(a+)+$b' })).isError).toBe(false)
  for (const todos of [
    null,
    'x',
    [null],
    [{ content: {} }],
    Array(1_000).fill('x'),
    [{ id: '__proto__', content: 'x' }],
  ])
    expect((await b.tool('a', 'write_todos', { todos: todos as never })).isError).toBe(true)
  expect(b.ask<{ path: string }[]>('a', { ask: 'files' }).map(({ path }) => path)).toContain(
    '__proto__/polluted',
  )
  expect(b.operations.standing(null, 'good', 0).agent).toEqual(before)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
