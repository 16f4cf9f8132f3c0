// The watcher and the leftovers, with real processes: a parent is killed with SIGKILL, and nothing
// of what it started may be left; nothing else may be touched.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { programFile } from '../../../../test/support/start-gate.ts'
import { fixture, isRunning, keepLog, until } from '../upstream/ask.test-support.ts'
import { StdioUpstream } from '../upstream/stdio/stdio.ts'
import { cleanUpOrphans, writeOrphanFile } from './orphan-cleanup.ts'
import { readStat } from './process-group.ts'
import { Watcher } from './watcher.ts'

let folder = ''
let file = ''
const started: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-watcher-'))
  file = join(folder, 'groups.json')
})

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

async function startGate(): Promise<{ gate: ChildProcess; pids: [number, number, number] }> {
  const gate = spawn(process.execPath, [programFile('gate'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(gate)
  const [line] = (await once(createInterface({ input: gate.stdout! }), 'line')) as [string]
  return { gate, pids: JSON.parse(line) as [number, number, number] }
}

/** A process in a group of its own that has nothing to do with a gate. */
async function startBystander(env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    detached: true,
    stdio: 'ignore',
    env,
  })
  started.push(child)
  await once(child, 'spawn')
  return child.pid!
}

test('kill -9 of the gate leaves no server, no grandchild and no watcher', async () => {
  const { gate, pids } = await startGate()
  expect(pids.every(isRunning)).toBe(true)
  gate.kill('SIGKILL')
  await until(() => !pids.some(isRunning), 8_000)
})

test('kill -9 of gate and watcher: the next start ends what was left', async () => {
  const { gate, pids } = await startGate()
  const [watcher, server, grandchild] = pids
  process.kill(watcher, 'SIGKILL')
  gate.kill('SIGKILL')
  await until(() => !isRunning(watcher) && !isRunning(gate.pid!))
  expect([server, grandchild].every(isRunning)).toBe(true)
  expect(await cleanUpOrphans(file)).toEqual([server])
  expect([server, grandchild].some(isRunning)).toBe(false)
  expect(existsSync(file)).toBe(false)
})

test('and also where only the grandchild is left of a group', async () => {
  const { gate, pids } = await startGate()
  const [watcher, server, grandchild] = pids
  for (const pid of [watcher, gate.pid!, server]) process.kill(pid, 'SIGKILL')
  await until(() => ![watcher, gate.pid!, server].some(isRunning))
  // A zombie leader still says when it started; wait until somebody reaped it.
  await until(() => readStat(server) === undefined)
  expect(await cleanUpOrphans(file)).toEqual([server])
  expect(isRunning(grandchild)).toBe(false)
})

test('a recycled pid is never ended', async () => {
  const bystander = await startBystander()
  writeOrphanFile(file, 'a-mark', [{ pid: bystander, started: '1' }])
  expect(await cleanUpOrphans(file)).toEqual([])
  writeOrphanFile(file, 'a-mark', [{ pid: bystander, started: '' }])
  expect(await cleanUpOrphans(file)).toEqual([])
  writeOrphanFile(file, 'a-mark', [{ pid: bystander, started: readStat(bystander)!.started }])
  const content = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...content, boot: 'another boot' }))
  expect(await cleanUpOrphans(file)).toEqual([])
  expect(isRunning(bystander)).toBe(true)
})

test('a file that is torn, missing or names everybody ends nothing', async () => {
  expect(await cleanUpOrphans(file)).toEqual([])
  writeFileSync(file, '{"boot":"x","gro')
  expect(await cleanUpOrphans(file)).toEqual([])
  writeOrphanFile(file, 'a-mark', [
    { pid: 1, started: readStat(1)?.started ?? 'x' },
    { pid: 0, started: 'x' },
    { pid: -1, started: 'x' },
  ])
  expect(await cleanUpOrphans(file)).toEqual([])
})

test('suites F8: a watcher that hangs instead of ending is ended by the next start', async () => {
  const { gate, pids } = await startGate()
  const [watcher, server] = pids
  // It can do nothing any more, as one that waits for a lock for ever.
  process.kill(watcher, 'SIGSTOP')
  gate.kill('SIGKILL')
  await until(() => !isRunning(gate.pid!))
  expect(isRunning(watcher)).toBe(true)
  expect(await cleanUpOrphans(file)).toEqual([server])
  expect(isRunning(watcher)).toBe(false)
})

test('servers come off the list when they end, and a watcher that dies is started again', async () => {
  const { log, entries } = keepLog()
  const watcher = new Watcher({ file, log })
  expect(watcher.pid).toBeUndefined()
  const groups = (): unknown[] =>
    (JSON.parse(readFileSync(file, 'utf8')) as { groups: unknown[] }).groups
  const options = { name: 'echo', command: fixture('echo'), log, watcher }
  const link = new StdioUpstream(options, { onMessage() {}, onFailure() {}, onClose() {} })
  expect(groups()).toEqual([{ pid: link.pid, started: readStat(link.pid!)!.started }])
  const first = watcher.pid!
  process.kill(first, 'SIGKILL')
  await until(() => watcher.pid !== first)
  expect(entries.map(({ message }) => message).join()).toContain('started again')
  const second = watcher.pid!
  await watcher.close()
  expect(isRunning(second)).toBe(false)
  // The list went over to the second one, which ended what was on it.
  await until(() => !isRunning(link.pid!))
  await link.ended
  expect(groups()).toEqual([])
})
