// A program with its calls, in a real code thread; its journal is a list and its tools are functions.

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { loadImage } from '../sandbox/load-image.ts'
import { Programs } from '../sandbox/programs.ts'
import { PROGRAM_ANSWERS_LENGTH_MAX } from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { type ProgramCall, type ProgramCallResult, runProgram } from './run-program.ts'
import { type SuspendedProgram, SuspendedPrograms } from './suspended-programs.ts'

let programs: Programs

beforeAll(async () => {
  programs = new Programs(await loadImage('program'), 1)
}, 120_000)
afterAll(() => programs.close())

/** Counts the memories that are put to rest; one that forgets gives up each. */
class CountingPrograms extends SuspendedPrograms {
  held = 0
  mostBytes = 0
  readonly #forgets: boolean

  constructor(forgets = false) {
    super()
    this.#forgets = forgets
  }

  override hold(memory: Uint8Array): SuspendedProgram {
    this.held += 1
    const rest = super.hold(memory)
    this.mostBytes = Math.max(this.mostBytes, this.bytes)
    return rest
  }

  override take(rest: SuspendedProgram): Uint8Array | undefined {
    const memory = super.take(rest)
    return this.#forgets ? undefined : memory
  }
}

function kindsOf(journal: readonly string[]): string[] {
  return journal.flatMap((text) => JSON.parse(text).map(({ kind }: { kind: string }) => kind))
}

async function run(
  code: string,
  callTool: (call: ProgramCall, journal: readonly string[]) => Promise<ProgramCallResult>,
  resting = new SuspendedPrograms(),
) {
  const journal: string[] = []
  const commits: string[][] = []
  const steps = {
    programEvents: async () => journal,
    appendProgramEvents: async (_agent: string, _effect: string, seq: number, text: string) => {
      await new Promise((resolve) => setImmediate(resolve))
      expect(seq).toBe(journal.length)
      journal.push(text)
      commits.push(kindsOf([text]))
    },
  } as unknown as Steps
  const setting = { programs, steps, resting, owner: 'me', agent: 'a', effectId: 'e' }
  const signal = new AbortController().signal
  const limits = { timeoutMs: 5_000, toolCalls: 100 }
  const { content } = await runProgram(
    { ...setting, limits, code, hasFiles: false, callTool: (call) => callTool(call, journal) },
    signal,
  )
  return { output: JSON.parse(content), journal, commits }
}

test('a program that reads and reads is answered so much and no more', {
  timeout: 120_000,
}, async () => {
  const answers = ['twelve chars', 'x'.repeat(PROGRAM_ANSWERS_LENGTH_MAX - 11), 'and more']
  let made = 0
  const { output, journal } = await run(
    'const r = []; for (let i = 0; i < 3; i++) r.push(await tools.s.t({ i }).then((x) => x, String)); return r',
    async () => ({ value: answers[made++] }),
  )
  expect(output.result[0]).toBe('twelve chars')
  expect(output.result[1]).toContain('the call was made, and its answer has')
  expect(output.result[2]).toBe('and more')
  expect(made).toBe(3)
  // The last result need not be there: the program has ended with it.
  const kinds = ['start', 'call', 'result', 'call', 'result', 'call']
  expect(kindsOf(journal).slice(0, 6)).toEqual(kinds)
})

test('a call that left is listed, also if the program fails before its answer', {
  timeout: 120_000,
}, async () => {
  const { output } = await run(
    'const open = tools.s.t({ i: 1 }); await tools.s.t({ i: 2 }); throw new Error("no more")',
    ({ input }) =>
      (input as { i: number }).i === 1 ? new Promise(() => {}) : Promise.resolve({ value: 'yes' }),
  )
  expect(output.error.message).toContain('no more')
  expect(output.calls).toEqual([
    { server: 's', tool: 't', isError: true, code: 'OUTCOME_UNKNOWN', count: 1 },
    { server: 's', tool: 't', isError: false, count: 1 },
  ])
})

/** The forms in which models write calls that nothing waits for. */
const NOT_AWAITED = {
  'callbacks of forEach': `[1, 2].forEach(async (i) => { await tools.s.t({ i }); await tools.s.t({ i: i * 10 }) })
    return 'sent'`,
  'a function that calls itself':
    '(async () => { await tools.s.t({ i: 1 }); await tools.s.t({ i: 2 }) })()',
  'main without await': 'async function main() { await tools.s.t({ i: 1 }) }\nmain()',
  'a call alone': "tools.s.t({ i: 1 }); return 'done'",
}
const COUNTS = [4, 2, 1, 1]

test.each(Object.entries(NOT_AWAITED))(
  'a program ends when the calls that it did not wait for have ended: %s',
  async (form, code) => {
    const count = COUNTS[Object.keys(NOT_AWAITED).indexOf(form)]
    const made: unknown[] = []
    const { output } = await run(code, async (call) => {
      made.push(call.input)
      return echo(call)
    })
    expect(output.error).toBeUndefined()
    expect(made).toHaveLength(count as number)
    expect(output.calls).toEqual([{ server: 's', tool: 't', isError: false, count }])
  },
)

test.each(Object.entries(NOT_AWAITED))(
  'a call that fails and that nothing waits for fails the program: %s',
  async (_form, code) => {
    const error = { code: 'DENIED', message: 'nothing is sent' }
    const { output } = await run(code, async () => ({ error }))
    expect(output.error).toEqual({
      code: 'PROGRAM_FAILED',
      message:
        'a promise that the program did not wait for was rejected: Error: nothing is sent [DENIED] (line 1)',
    })
  },
)

test('what was handled fails no program, whether it was waited for or not', async () => {
  const deny = async () => ({ error: { code: 'DENIED', message: 'no' } })
  const codes = [
    "tools.s.t({}).catch(() => 0); return 'yes'",
    "[1].forEach(async () => { try { await tools.s.t({}) } catch {} }); return 'yes'",
    "try { await Promise.all([tools.s.t({}), tools.s.t({})]) } catch { return 'yes' }",
    "const p = tools.s.t({}); await null; await p.catch(() => 0); return 'yes'",
    "const p = Promise.reject(1); await tools.s.t({}).catch(() => 0); p.catch(() => 0); return 'yes'",
  ]
  for (const code of codes) expect((await run(code, deny)).output.result).toBe('yes')
})

test('what was rejected is known after the program has rested, too', async () => {
  const resting = new CountingPrograms()
  const code = "Promise.reject(new Error('lost')); await tools.s.t({}); return 1"
  const { output } = await run(
    code,
    async () => {
      await run('return await tools.s.t({ i: 9 })', echo)
      return { value: 1 }
    },
    resting,
  )
  expect(resting.held).toBe(1)
  expect(output.error.message).toContain('Error: lost (line 1)')
})

test('the result is what it is when all calls have ended', async () => {
  const code =
    'const all = []; [1, 2].forEach(async (i) => { all.push(await tools.s.t({ i })) }); return all'
  expect((await run(code, echo)).output.result).toEqual([1, 2])
})

test('a program reads the code and the words of an error', async () => {
  const code = `try { await tools.s.t({}) } catch (error) {
    return [error.code, error.message, String(error), error instanceof Error] }`
  const error = { code: 'RATE_LIMITED', message: 'later' }
  const { output } = await run(code, async () => ({ error }))
  expect(output.result).toEqual(['RATE_LIMITED', 'later', 'Error: later', true])
})

test('an error of a journal that an older version wrote is the text that it was', async () => {
  const code = 'return await tools.s.t({}).catch((error) => [error.code ?? null, error.message])'
  const { output } = await run(code, async () => ({ error: 'DENIED' as never }))
  expect(output.result).toEqual([null, 'DENIED'])
})

test.each([
  [
    'const a = 1\nconst b = null\n  return b.x',
    "TypeError: cannot read property 'x' of null (line 3)",
  ],
  ['\nawait tools.s.t({})', 'Error: no [DENIED] (line 2)'],
  ['const f = (x) => {\n  throw new RangeError(x) }\n[1].map(f)', 'RangeError: 1 (line 2)'],
  ['let a = 1\nlet a = 2', 'SyntaxError: invalid redefinition of lexical identifier (line 2)'],
  ['\nreturn JSON.parse("{")', ' (line 2)'],
  ['throw 5', '5'],
])('an error that is not caught has its line: %j', async (code, message) => {
  const error = { code: 'DENIED', message: 'no' }
  const { output } = await run(code, async () => ({ error }))
  expect(output.error.message.slice(-message.length)).toBe(message)
})

test.each([
  ['return 5n', 'BigInt'],
  ['const a = {}; a.a = a; return a', 'circular'],
  ["return { toJSON() { throw new Error('never') } }", 'never'],
  ['return tools.s.t', 'function'],
])('a result that cannot be JSON fails the program: %s', async (code, why) => {
  const { output } = await run(code, echo)
  expect(output.error.message).toMatch(/^the result cannot be JSON: /)
  expect(output.error.message).toContain(why)
})

const LOOP = 'let sum = 0; for (let i = 0; i < 4; i++) sum += await tools.s.t({ i }); return sum'
const echo = async ({ input }: ProgramCall): Promise<ProgramCallResult> => ({
  value: (input as { i: number }).i,
})

test('a call leaves when it is in the journal, with the results that led to it in one commit', async () => {
  const seen: string[] = []
  const { output, commits } = await run(LOOP, (call, journal) => {
    seen.push(kindsOf(journal).join(' '))
    return echo(call)
  })
  expect(output.result).toBe(6)
  expect(seen).toEqual([0, 1, 2, 3].map((calls) => `start call${' result call'.repeat(calls)}`))
  // A result alone only if the program took long before its next call.
  expect(commits.filter((kinds) => kinds.includes('call'))).toHaveLength(4)
})

test('calls that a program makes at once are one commit', async () => {
  const code = 'return await Promise.all([1, 2, 3].map((i) => tools.s.t({ i })))'
  const { output, commits } = await run(code, echo)
  expect(output.result).toEqual([1, 2, 3])
  const [first = []] = commits.filter((kinds) => kinds.includes('call'))
  expect(first.filter((kind) => kind === 'call')).toHaveLength(3)
})

test('a program keeps its instance while it is alone in its thread, and rests when another comes', async () => {
  const alone = new CountingPrograms()
  expect((await run(LOOP, echo, alone)).output.result).toBe(6)
  expect(alone.held).toBe(0)

  const resting = new CountingPrograms()
  let another: Promise<{ output: { result: unknown } }> | undefined
  const first = await run(
    LOOP,
    async (call) => {
      another ??= run(LOOP, echo, resting)
      await another
      return echo(call)
    },
    resting,
  )
  expect([first.output.result, (await another)?.output.result]).toEqual([6, 6])
  expect(resting.held).toBeGreaterThan(0)
  expect(resting.bytes).toBe(0)
})

test('a program whose memory was given up is run again up to where it was, and calls nothing twice', async () => {
  const resting = new CountingPrograms(true)
  const made: number[] = []
  const { output } = await run(
    LOOP,
    async (call) => {
      made.push((call.input as { i: number }).i)
      await run('return await tools.s.t({ i: 9 })', echo)
      return echo(call)
    },
    resting,
  )
  expect(output.result).toBe(6)
  expect(made).toEqual([0, 1, 2, 3])
  expect(resting.held).toBe(4)
})

test('memories of programs that wait have at most 64 MiB together, and each program ends well', {
  timeout: 120_000,
}, async () => {
  const size = 24_000_000
  const code = `const a = new Uint8Array(${size}).fill(7); return a.length + (await tools.s.t({})) + a[5]`
  const waiting: (() => void)[] = []
  const hold = () =>
    new Promise<ProgramCallResult>((resolve) => waiting.push(() => resolve({ value: 1 })))
  const resting = new CountingPrograms()
  const ends = Array.from({ length: 5 }, () => run(code, hold, resting))
  await vi.waitFor(() => expect(waiting).toHaveLength(5), 60_000)
  for (const answer of waiting) answer()
  for (const { output } of await Promise.all(ends)) expect(output.result).toBe(size + 8)
  expect(resting.held).toBeGreaterThan(3)
  expect(resting.mostBytes).toBeGreaterThan(size)
  expect(resting.mostBytes).toBeLessThanOrEqual(64 * 1_048_576)
})
