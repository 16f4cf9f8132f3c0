// A file over HTTP: no more of it is made than is read, it ends with the sign-in, and what breaks off is
// not taken for the whole.

import type { Server } from 'node:http'
import { get } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import { listen } from '../admin.test-support.ts'
import { Download } from './download.ts'

const PIECE = 'x'.repeat(1_024 * 1_024)
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serving(pieces: AsyncIterable<string>, holds = () => true) {
  const ended: string[] = []
  const { server, origin } = await listen((_, response) => {
    const file = new Download({ type: 'text/csv', name: 'a.csv', pieces })
    file.serve(response, holds, () => void ended.push('ended'))
  })
  servers.push(server)
  return { origin, ended }
}

test('it comes whole, under its name, and is over', async () => {
  async function* pieces() {
    yield* ['a\n', '', 'b\n']
  }
  const { origin, ended } = await serving(pieces())
  const response = await fetch(origin)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.csv"')
  expect(await response.text()).toBe('a\nb\n')
  await vi.waitFor(() => expect(ended).toEqual(['ended']), 60_000)
})

test('nothing is made for a page that does not read, and nothing more once it is gone', async () => {
  let made = 0
  let over = false
  async function* pieces() {
    try {
      for (; made < 1_000; made++) yield PIECE
    } finally {
      over = true
    }
  }
  const { origin } = await serving(pieces())
  const request = get(origin)
  await new Promise((resolve) => request.once('response', resolve))
  await vi.waitFor(() => expect(made).toBeGreaterThan(0), 60_000)
  const before = made
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(made).toBeLessThan(before + 100)
  request.destroy()
  await vi.waitFor(() => expect(over).toBe(true), 60_000)
  expect(made).toBeLessThan(1_000)
})

test('finding: half a file is no file: it breaks off where reading fails, or the sign-in ends', async () => {
  async function* fails() {
    yield 'a\n'
    throw new Error('the disk')
  }
  const { origin } = await serving(fails())
  await expect(fetch(origin).then((response) => response.text())).rejects.toThrow()
  let isIn = true
  async function* goesOn() {
    yield 'a\n'
    isIn = false
    yield 'b\n'
  }
  const other = await serving(goesOn(), () => isIn)
  await expect(fetch(other.origin).then((response) => response.text())).rejects.toThrow()
})
