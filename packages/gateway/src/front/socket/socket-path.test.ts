// Where the socket of a data directory is, and that a command sends nothing to a socket that somebody
// else could listen at.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findSocketPath, makeSocketPath } from './socket-path.ts'

const isRoot = process.getuid?.() === 0
let folder: string
let listening: Server | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-path-'))
})
afterEach(async () => {
  await new Promise((resolve) => (listening ? listening.close(resolve) : resolve(undefined)))
  listening = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function listen(path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    listening = createServer().listen(path, resolve)
  })
}

function longFolder(): string {
  const data = join(folder, 'x'.repeat(60), 'y'.repeat(60))
  mkdirSync(data, { recursive: true, mode: 0o700 })
  return data
}

describe.skipIf(process.platform === 'win32')('H1: the socket', () => {
  test('is in the data directory where its path is short', async () => {
    const { path } = makeSocketPath(folder)
    expect(path).toBe(join(folder, 'gate.sock'))
    expect(findSocketPath(folder)).toBeUndefined()
    await listen(path)
    expect(findSocketPath(folder)).toBe(path)
  })

  test('H1: of a long path is in a fresh folder of mode 700 that the data directory names', async () => {
    const data = longFolder()
    const first = makeSocketPath(data)
    expect(statSync(dirname(first.path)).mode & 0o777).toBe(0o700)
    // As after a kill: the next gate has another, and removes what was left.
    const next = makeSocketPath(data)
    expect(next.path).not.toBe(first.path)
    expect(() => statSync(dirname(first.path))).toThrow('ENOENT')
    await listen(next.path)
    expect(findSocketPath(data)).toBe(next.path)
    next.dispose()
    expect(findSocketPath(data)).toBeUndefined()
    expect(() => statSync(dirname(next.path))).toThrow('ENOENT')
  })

  test('H1: is not used where others may write to its folder, or it is another user’s', async () => {
    const data = longFolder()
    const { path, dispose } = makeSocketPath(data)
    await listen(path)
    chmodSync(dirname(path), 0o777)
    expect(() => findSocketPath(data)).toThrow('others may write')
    chmodSync(dirname(path), 0o700)
    if (isRoot) {
      chownSync(path, 65_534, 65_534)
      expect(() => findSocketPath(data)).toThrow('is not yours alone')
      chownSync(dirname(path), 65_534, 65_534)
      expect(() => findSocketPath(data)).toThrow('belongs to user 65534')
      chownSync(dirname(path), 0, 0)
    }
    dispose()
  })
})
