// Recorded traces: encrypted, ended by time, size and faults, expired, and read only as they were
// written. The attacker can change the files, and does not have the key.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallRecorder } from './call-recorder.ts'
import { TRACE_CALL_LENGTH_MAX, TRACES_MAX } from './limits.ts'
import { readCalls } from './recording-file.ts'

const KEY = Buffer.alloc(32, 7)
const HOUR_MS = 3_600_000
let directory = ''
let nowMs = 1_000_000
let events: { name: string; detail: unknown }[] = []
const recorders: CallRecorder[] = []

function open(): CallRecorder {
  const ledger = {
    event: async (event: { name: string; detail: unknown }) => void events.push(event),
  }
  const parts = { directory, key: KEY, ledger: ledger as never, nowMs: () => nowMs, log: () => {} }
  const made = new CallRecorder(parts)
  recorders.push(made)
  return made
}

const call = (answer: string, more: object = {}) => ({
  session: 's@1',
  principal: 'local',
  server: 'mail',
  tool: 'read',
  args: { id: '1' },
  answer,
  ...more,
})
const request = { by: 'ann', forMs: HOUR_MS, keepMs: 2 * HOUR_MS }
const files = () => readdirSync(directory).filter((name) => name.startsWith('traces-'))
const onlyFile = () => join(directory, files()[0] ?? '')

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-traces-'))
  nowMs = 1_000_000
  events = []
})
afterEach(async () => {
  for (const recorder of recorders.splice(0)) await recorder.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('a recording', () => {
  test('is off until it is started, and holds what was taken, encrypted, for its owner', async () => {
    const traces = open()
    traces.take(call('before'))
    expect(traces.isRecording).toBe(false)
    const { id } = await traces.start(request)
    expect(events.map(({ name }) => name)).toEqual(['traces-start'])
    traces.take(call('my secret mail'))
    traces.take(call('another', { session: 's@2' }))
    expect(await traces.stop('enough', 'ann')).toMatchObject({ id, isRecording: false })
    traces.take(call('after'))
    const bytes = readFileSync(onlyFile(), 'latin1')
    expect(bytes).not.toContain('secret')
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600)
    const { calls, isWhole } = await traces.read(id, 'ben')
    expect(isWhole).toBe(true)
    expect(calls.map(({ session, answer }) => [session, answer])).toEqual([
      ['s@1', 'my secret mail'],
      ['s@2', 'another'],
    ])
    expect(events.slice(1)).toMatchObject([
      { name: 'traces-stop', detail: { id, why: 'enough', by: 'ann', calls: 2 } },
      { name: 'traces-export', detail: { id, by: 'ben' } },
    ])
    await traces.delete(id, 'ann')
    expect(files()).toEqual([])
    await expect(traces.read(id, 'ann')).rejects.toThrow('there is no recording')
  })

  test('takes one server or principal, and leaves a long answer out', async () => {
    const traces = open()
    const { id } = await traces.start({ ...request, server: 'mail', principal: 'local' })
    traces.take(call('no', { server: 'web' }))
    traces.take(call('no', { principal: 'ci' }))
    traces.take(call('x'.repeat(TRACE_CALL_LENGTH_MAX + 1)))
    await expect(traces.start(request)).rejects.toThrow('a recording is on')
    await traces.stop('x')
    expect((await traces.read(id, 'ann')).calls).toMatchObject([{ answer: '', omitted: true }])
  })

  test('ends when it is full, when its time is over, and when it cannot be written', async () => {
    const traces = open()
    await traces.start(request)
    for (let n = 0; n < 17; n++) traces.take(call('x'.repeat(1_000_000)))
    expect(traces.isRecording).toBe(false)
    vi.useFakeTimers()
    await traces.start({ ...request, forMs: 50 })
    vi.advanceTimersByTime(60)
    vi.useRealTimers()
    expect(traces.isRecording).toBe(false)
    await traces.start(request)
    traces.take(call('x', { args: 1n as never }))
    expect(traces.isRecording).toBe(false)
    const why = events.flatMap(({ name, detail }) =>
      name === 'traces-stop' ? [(detail as { why: string }).why] : [],
    )
    expect(why).toEqual(['it is full', 'its time is over', expect.stringContaining('BigInt')])
  })

  test('expires, and a gate that was killed leaves one that can be read', async () => {
    const { id } = await open().start(request)
    recorders[0]?.take(call('one'))
    const later = open()
    expect(later.list()).toMatchObject([{ id, isRecording: false, by: 'ann' }])
    expect(await later.read(id, 'ann')).toMatchObject({
      isWhole: false,
      calls: [{ answer: 'one' }],
    })
    nowMs += 3 * HOUR_MS
    later.sweep()
    expect(later.list()).toEqual([])
    expect(files()).toEqual([])
  })

  test('there are only so many', async () => {
    const traces = open()
    for (let n = 0; n < TRACES_MAX; n++) {
      await traces.start(request)
      await traces.stop('x')
    }
    await expect(traces.start(request)).rejects.toThrow(`${TRACES_MAX} recordings`)
  })
})

describe('a changed file', () => {
  test('gives no call that was not written there', async () => {
    const traces = open()
    await traces.start(request)
    for (const answer of ['one', 'two', 'three']) traces.take(call(answer))
    await traces.stop('x')
    const whole = readFileSync(onlyFile())
    const start = whole.indexOf(0x0a) + 1
    const answers = () => {
      const { calls, isWhole } = readCalls(onlyFile(), KEY)
      return { isWhole, answers: calls.map(({ answer }) => answer) }
    }
    for (let at = start; at < whole.length; at += 7) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] as number) ^ 1
      writeFileSync(onlyFile(), changed)
      const { isWhole, answers: read } = answers()
      expect(isWhole).toBe(false)
      expect(['one', 'two', 'three'].slice(0, read.length)).toEqual(read)
    }
    writeFileSync(onlyFile(), whole.subarray(0, whole.length - 20))
    expect(answers()).toEqual({ isWhole: false, answers: ['one', 'two', 'three'] })
    const text = whole.toString('latin1')
    const moved = text.replace(/"expiresMs":\d+/, '"expiresMs":9999999')
    writeFileSync(onlyFile(), Buffer.from(moved, 'latin1'))
    expect(answers()).toEqual({ isWhole: false, answers: [] })
    writeFileSync(onlyFile(), 'no recording\n')
    expect(readCalls(onlyFile(), KEY)).toEqual({ calls: [], isWhole: false })
    expect(traces.list()).toEqual([])
  })
})
