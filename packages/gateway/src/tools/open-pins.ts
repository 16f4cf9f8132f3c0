// The pins of a gate that starts: what gate.db accepted before, and the lock file beside the
// configuration, if there is one. A lock file that cannot be read stops the start: without it the
// gate would trust what somebody reviewed it not to.

import { dirname, join } from 'node:path'
import { isLoopbackName } from '@sluice/access/identity/oauth/safe-url'
import { processClock } from '@sluice/ledger/store/process-clock'
import { isBuiltinTool } from '../config/builtin-tools.ts'
import type { GateConfig, ServerConfig } from '../config/config.ts'
import { ActiveLockFile, type LockOptions } from './active-lock-file.ts'
import { NewTools } from './new-tools.ts'
import { Pins } from './pins.ts'

export function lockPath({ file }: Pick<GateConfig, 'file'>): string {
  return join(dirname(file), 'sluice.lock')
}

export function openPins(
  config: GateConfig,
  parts: Omit<LockOptions, 'path' | 'nowMs'>,
  servers: { find(name: string): ServerConfig | undefined },
): { readonly pins: Pins; readonly lock: ActiveLockFile; readonly newTools: NewTools } {
  const { pins, host } = config
  const { store, ledger, log } = parts
  const newTools = new NewTools({ store, ledger, log, nowMs: Date.now })
  const lock = new ActiveLockFile({ ...parts, path: lockPath(config), nowMs: Date.now })
  const opened = new Pins({
    store,
    lock: lock.now,
    firstSight: pins.firstSight ?? (isLoopbackName(host.toLowerCase()) ? 'trust' : 'hold'),
    ignore: pins.ignore,
    isOwn: (server, tool) => isBuiltinTool(servers.find(server), tool),
    hasServer: (server) => servers.find(server) !== undefined,
    log,
    nowMs: Date.now,
    steadyMs: processClock.steadyMs,
    onNew: (tool) => newTools.add(tool),
  })
  return { pins: opened, lock, newTools }
}
