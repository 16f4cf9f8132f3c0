// The pins of a gate that starts: what gate.db accepted before, and the lock file beside the
// configuration, if there is one. A lock file that cannot be read stops the start: without it the
// gate would trust what somebody reviewed it not to.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Pin, readLock } from '../../catalogue/lock-file.ts'
import { isLoopbackName } from '../../identity/safe-url.ts'
import type { GateConfig } from '../config.ts'
import type { Log } from '../upstream/upstream.ts'
import { Pins } from './pins.ts'

export function lockPath({ file }: Pick<GateConfig, 'file'>): string {
  return join(dirname(file), 'sluice.lock')
}

export function openPins(config: GateConfig, store: DatabaseSync, log: Log): Pins {
  const { pins, host } = config
  return new Pins({
    store,
    lock: readLockFile(lockPath(config)),
    firstSight: pins.firstSight ?? (isLoopbackName(host.toLowerCase()) ? 'trust' : 'hold'),
    ignore: pins.ignore,
    log,
    nowMs: Date.now,
  })
}

function readLockFile(path: string): readonly Pin[] | undefined {
  if (!existsSync(path)) return undefined
  const read = readLock(readFileSync(path, 'utf8'))
  if ('pins' in read) return read.pins
  throw new Error(`\`${path}\` has no pin in line ${read.line}: write it again with \`sluice pin\``)
}
