import { afterEach, expect, test, vi } from 'vitest'
import { LargeMessagePlace } from './large-messages.ts'
import { LARGE_MESSAGE_BYTES_MIN, LARGE_MESSAGE_MS_MAX, LARGE_MESSAGES_MAX } from './limits.ts'

const MUCH = LARGE_MESSAGE_BYTES_MIN + 1
const readers: LargeMessagePlace[] = []
const taken: number[] = []

function read(count: number): void {
  for (let at = 0; at < count; at++) {
    const number = readers.length
    const reader = new LargeMessagePlace(() => taken.push(number))
    reader.hold(MUCH)
    readers.push(reader)
  }
}

const waiting = () => readers.filter(({ isWaiting }) => isWaiting).length

afterEach(async () => {
  vi.useRealTimers()
  for (const reader of readers.splice(0)) reader.leave()
  taken.length = 0
  await turns()
})

/** More than it takes until what was given back is with the next. */
async function turns(): Promise<void> {
  for (let at = 0; at < 10 * LARGE_MESSAGES_MAX; at++) await new Promise(setImmediate)
}

test('a reader that holds little needs no place', () => {
  read(LARGE_MESSAGES_MAX)
  const small = new LargeMessagePlace(() => {})
  small.hold(LARGE_MESSAGE_BYTES_MIN)
  expect(small.isWaiting).toBe(false)
})

test('the readers of further messages wait, and read on in order', async () => {
  read(LARGE_MESSAGES_MAX + 3)
  expect(waiting()).toBe(3)
  readers[0]?.hold(0)
  // It takes turns until the message is handled.
  expect(waiting()).toBe(3)
  await turns()
  expect(taken).toEqual([LARGE_MESSAGES_MAX])
  expect(waiting()).toBe(2)
})

test('one that ends while it waits takes no place', async () => {
  read(LARGE_MESSAGES_MAX + 2)
  readers[LARGE_MESSAGES_MAX]?.leave()
  readers[0]?.leave()
  readers[0]?.leave()
  await turns()
  expect(taken).toEqual([LARGE_MESSAGES_MAX + 1])
  expect(waiting()).toBe(0)
})

test('a message that does not arrive keeps no other from being read', () => {
  vi.useFakeTimers()
  read(LARGE_MESSAGES_MAX + 1)
  vi.advanceTimersByTime(LARGE_MESSAGE_MS_MAX - 1)
  expect(taken).toEqual([])
  vi.advanceTimersByTime(1)
  expect(taken).toEqual([LARGE_MESSAGES_MAX])
  // What comes of it still needs a place again.
  readers[0]?.hold(MUCH)
  expect(readers[0]?.isWaiting).toBe(false)
})
