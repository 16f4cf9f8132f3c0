// Two programs of a client that meet held calls, one in a loop and one in Promise.all, under kill -9: while an approved
// call is out, and by `npm run soak -- repeats` before the approval and after the end, before the client has the result,
// too. A gate that takes over, or the same one started again, goes on with both.

import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { atTerminal } from './person.ts'
import { PlainClient } from './plain-client.ts'
import { sluice, sluiceJson } from './run-sluice.ts'
import { IS_FULL } from './runs.ts'
import { type RunningGate, until } from './start-gate.ts'

export const KILLS_POLICY = `
version: 1
default: allow
tools:
  count/slow: require_approval
`

const LOOP = `
  const said = []
  for (const n of [0, 1, 2, 3])
    said.push(await tools.count[n === 2 ? 'slow' : 'write']({ program: 'loop', n }))
  return said`
const ALL = `
  return await Promise.all([0, 1, 2, 3].map((n) =>
    tools.count[n % 2 === 1 ? 'slow' : 'write']({ program: 'all', n })
      .catch((error) => error.code)))`

/** Of the call that was answered so. */
const readNumber = (text: string): number => JSON.parse(text.replace(/^\w+ /, '')).n

interface Arrival {
  readonly program: string
  readonly n: number
}

/** `next` starts the gate of a life; the one before has been killed. */
export async function playProgramKills(
  next: (life: number) => Promise<RunningGate>,
  log: string,
): Promise<void> {
  const arrivals = (): Arrival[] =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).arguments)
  const countOf = (program: string, n: number) =>
    arrivals().filter((each) => each.program === program && each.n === n).length
  let [gate, life] = [await next(0), 0]
  const replace = async (): Promise<void> => {
    await gate.kill()
    gate = await next(++life)
  }
  const pending = async (): Promise<{ id: string; args: string }[]> =>
    (await sluiceJson(['approvals', 'list', '--data', gate.data])).requests
  const approve = async (program: string, n: number): Promise<void> => {
    await atTerminal(gate.data)
    const isAbout = ({ args }: { args: string }) => {
      const value = JSON.parse(args) as Arrival
      return value.program === program && value.n === n
    }
    await until(async () => (await pending()).some(isAbout))
    const { id } = (await pending()).find(isAbout) as { id: string }
    const { code, stderr } = await sluice(['approvals', 'approve', id, '--data', gate.data])
    if (code !== 0) throw new Error(stderr)
  }

  const first = await PlainClient.open(gate, '?mode=code')
  const begin = (code: string) => first.value('run_code', { code, waitMs: 1 })
  const [loop, all] = [await begin(LOOP), await begin(ALL)]
  expect([loop.status, all.status]).toEqual(['waiting', 'waiting'])
  await until(async () => (await pending()).length === 3)
  await until(() => arrivals().length === 4)
  if (IS_FULL) await replace()
  await approve('all', 1)
  await until(() => countOf('all', 1) === 1)
  await replace()
  await approve('loop', 2)
  await approve('all', 3)
  await until(() => arrivals().length === 8)
  const client = await PlainClient.open(gate, '?mode=code')
  const ended = await client.value('run_code', { runId: loop.runId, waitMs: 30_000 })
  await client.value('run_code', { runId: all.runId, waitMs: 30_000 })
  if (IS_FULL) await replace()
  const last = await PlainClient.open(gate, '?mode=code')
  expect(await last.value('run_code', { runId: loop.runId, waitMs: 30_000 })).toEqual(ended)
  expect(ended).toMatchObject({ status: 'completed' })
  expect(ended.result.map((text: string) => readNumber(text))).toEqual([0, 1, 2, 3])
  const { result } = await last.value('run_code', { runId: all.runId, waitMs: 30_000 })
  // It was out when its gate ended: it is not sent again, and the program is told.
  expect(result[1]).toBe('OUTCOME_UNKNOWN')
  expect([0, 2, 3].map((n) => readNumber(result[n]))).toEqual([0, 2, 3])
  const made = arrivals().map(({ program, n }) => `${program} ${n}`)
  expect(made.sort()).toEqual(
    ['loop', 'all'].flatMap((p) => [0, 1, 2, 3].map((n) => `${p} ${n}`)).sort(),
  )
}
