// The lock of a data directory, within one process and between processes.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DataLock } from './data-lock.ts'

let directory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'sluice-lock-')), 'data')
})
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }))

/** What another process gets. */
function takeElsewhere(then = ''): string {
  const script = `
    import { DataLock } from ${JSON.stringify(join(import.meta.dirname, 'data-lock.ts'))}
    try { DataLock.take(${JSON.stringify(directory)}); console.log('taken'); ${then} }
    catch (error) { console.log(error.message) }`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script]).stdout.toString().trim()
}

describe('the lock of a data directory', () => {
  test('is held by one, who is named', () => {
    const lock = DataLock.take(directory)
    const refused = `process ${process.pid} uses ${directory}: stop it with \`sluice stop\`, or use another --data`
    expect(() => DataLock.take(directory)).toThrow(refused)
    expect(takeElsewhere()).toBe(refused)
    lock.release()
    lock.release()
    expect(takeElsewhere()).toBe('taken')
  })

  test('is seen without taking it', () => {
    expect(DataLock.isHeld(directory)).toBe(false)
    const lock = DataLock.take(directory)
    expect(DataLock.isHeld(directory)).toBe(true)
    lock.release()
    expect(DataLock.isHeld(directory)).toBe(false)
    expect(takeElsewhere()).toBe('taken')
  })

  test('goes with its process, however that ends', () => {
    expect(takeElsewhere(`process.kill(process.pid, 'SIGKILL')`)).toBe('taken')
    expect(existsSync(join(directory, 'gate.pid'))).toBe(true)
    DataLock.take(directory).release()
    expect(existsSync(join(directory, 'gate.pid'))).toBe(false)
  })

  test('is for nobody else to read', () => {
    const lock = DataLock.take(directory)
    for (const path of [directory, join(directory, 'gate.lock'), join(directory, 'gate.pid')])
      expect(statSync(path).mode & 0o077).toBe(0)
    lock.release()
  })

  test('cannot be taken where there can be no directory', () => {
    writeFileSync(directory, 'a file')
    expect(() => DataLock.take(directory)).toThrow('is a file')
  })
})
