// One process owns a data directory. The lock is a file with the owner's pid and start time: a
// crashed owner's lock is recognised and taken over, a living one's never.

import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readStat } from './upstream/process-group.ts'

export class DataLock {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Throws an Error that says who has it. */
  static take(directory: string): DataLock {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const file = join(directory, 'gate.lock')
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        const handle = openSync(file, 'wx', 0o600)
        writeSync(handle, `${process.pid} ${readStat(process.pid)?.started ?? ''}\n`)
        closeSync(handle)
        return new DataLock(file)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        const owner = ownerOf(file)
        if (owner !== undefined)
          throw new Error(`process ${owner} uses ${directory}: stop it, or say another --data`)
        rmSync(file, { force: true })
      }
    }
    throw new Error(`the lock of ${directory} could not be taken: another gate is starting`)
  }

  release(): void {
    rmSync(this.#file, { force: true })
  }
}

/** The pid in the lock, where that very process still lives. */
function ownerOf(file: string): number | undefined {
  const [pid = '', started = ''] = readFileSync(file, 'utf8').trim().split(' ')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return undefined
  const stat = readStat(number)
  if (stat !== undefined) return stat.started === started ? number : undefined
  try {
    process.kill(number, 0)
    return started === '' ? number : undefined
  } catch {
    return undefined
  }
}
