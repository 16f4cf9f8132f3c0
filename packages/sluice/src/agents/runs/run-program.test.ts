// A program with its calls, in a real code thread; its journal is a list and its tools are functions.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadImage } from '../../sandbox/load-image.ts'
import { Programs } from '../../sandbox/programs.ts'
import { PROGRAM_ANSWERS_LENGTH_MAX } from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { type ProgramCall, type ProgramCallResult, runProgram } from './run-program.ts'
import { SuspendedPrograms } from './suspended-programs.ts'

let programs: Programs

beforeAll(async () => {
  programs = new Programs(await loadImage('program'), 1)
}, 120_000)
afterAll(() => programs.close())

const TOOL = { name: 's__t', server: 's', tool: 't', description: '', inputSchema: {} }

async function run(code: string, callTool: (call: ProgramCall) => Promise<ProgramCallResult>) {
  const journal: string[] = []
  const steps = {
    programEvents: async () => journal,
    appendProgramEvent: async (_agent: string, _effect: string, _seq: number, text: string) =>
      void journal.push(text),
    programFiles: async () => ({ text: '[]', bytes: undefined }),
  } as unknown as Steps
  const setting = {
    programs,
    steps,
    resting: new SuspendedPrograms(),
    owner: 'me',
    agent: 'a',
    effectId: 'e',
  }
  const signal = new AbortController().signal
  const limits = { timeoutMs: 5_000, toolCalls: 100 }
  const { content } = await runProgram(
    { ...setting, limits, code, tools: [TOOL], callTool },
    signal,
  )
  return { output: JSON.parse(content), journal }
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
  expect(journal.map((text) => JSON.parse(text).kind)).toEqual([
    'start',
    'call',
    'result',
    'call',
    'result',
    'call',
    'result',
  ])
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
    { server: 's', tool: 't', isError: true, code: 'OUTCOME_UNKNOWN' },
    { server: 's', tool: 't', isError: false },
  ])
})
