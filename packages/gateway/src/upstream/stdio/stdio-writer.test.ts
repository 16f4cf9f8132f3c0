// What waits for a server that does not read: bounded, refused beyond the bound, and stuck only where
// nothing at all was read for a while.

import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { STDIN_QUEUE_LENGTH_MAX, STDIN_STUCK_MS, STDIN_WRITE_LENGTH } from '../limits.ts'
import { StdioWriter } from './stdio-writer.ts'

function make() {
  let nowMs = 0
  let stuck = 0
  const written: number[] = []
  let taken: (() => void) | undefined
  const stdin = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.length)
      taken = done
    },
  })
  const writer = new StdioWriter(
    stdin,
    () => {
      stuck += 1
    },
    () => nowMs,
  )
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** The server reads what was written. */
  const read = async () => {
    const done = taken
    taken = undefined
    done?.()
    await turn()
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { writer, written, turn, read, pass, stuck: () => stuck }
}

test('suites F2: a burst beyond the bound is refused in part, and nothing is lost or ended', async () => {
  const { writer, written, turn, read, stuck } = make()
  const line = 'x'.repeat(10 * 1_048_576)
  writer.send(line, true)
  await turn()
  expect([1, 2, 3, 4, 5].map(() => writer.send(line, true))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  // A cancellation is small and must arrive.
  expect(writer.send('cancel', false)).toBe(true)
  for (let reads = 0; reads < 6; reads++) await read()
  expect(written).toHaveLength(5)
  expect(stuck()).toBe(0)
  expect(writer.send(line, true)).toBe(true)
})

test('small messages of one turn are one write, many are several', async () => {
  const { writer, written, turn, read } = make()
  const line = 'x'.repeat(STDIN_WRITE_LENGTH / 4)
  for (let sent = 0; sent < 9; sent++) writer.send(line, true)
  await turn()
  for (let reads = 0; reads < 3; reads++) await read()
  expect(written.map((length) => Math.round(length / line.length))).toEqual([4, 4, 1])
})

test('a server that reads nothing while no more fits is stuck, one that reads slowly is not', async () => {
  const { writer, turn, read, pass, stuck } = make()
  const line = 'x'.repeat(STDIN_QUEUE_LENGTH_MAX / 2)
  writer.send(line, true)
  await turn()
  writer.send(line, true)
  writer.send(line, true)
  pass(STDIN_STUCK_MS - 1)
  expect(writer.send(line, true)).toBe(false)
  await read()
  pass(STDIN_STUCK_MS - 1)
  writer.send(line, true)
  expect([writer.send(line, true), stuck()]).toEqual([false, 0])
  pass(1)
  writer.send(line, true)
  expect(stuck()).toBe(1)
})
