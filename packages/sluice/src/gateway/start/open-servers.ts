// The servers of a gate that runs: what has to be there before one that was not configured at the start
// may be started, and how sluice.yaml is read again. Called by run-gate.ts.

import { readFileSync, statSync } from 'node:fs'
import type { Ledger } from '../../ledger/ledger.ts'
import { processClock } from '../../store/process-clock.ts'
import type { GateConfig } from '../config/config.ts'
import { CONFIG_RELOAD_LENGTH_MAX } from '../config/limits.ts'
import { prepareWorkDirectories } from '../config/work-directory.ts'
import type { ChildPeers } from '../processes/child-peers.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import type { Log } from '../shared/log.ts'
import { ALL_SERVERS } from '../shared/transport.ts'
import { Servers, type ServersConfig } from '../state/servers.ts'

export type ParseConfig = (text: string) => GateConfig

export interface ServersParts {
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
  readonly peers: ChildPeers
}

export function openServers(config: GateConfig, { ledger, log, peers }: ServersParts): Servers {
  const { data } = config
  prepareWorkDirectories(config)
  let isMarked = startsProcesses(config)
  return new Servers(config, {
    ledger,
    log,
    nowMs: processClock.nowMs,
    steadyMs: processClock.steadyMs,
    prepare: async (name, server) => {
      const servers = { [name]: server }
      prepareWorkDirectories({ data, servers })
      if (isMarked || server.kind !== 'stdio') return
      isMarked = true
      peers.startsProcesses(await markOwn({ ...config, servers }, log))
    },
  })
}

/** The variables that a server, or any of all, lists under `env:` without a value. */
export function listVariables(servers: Servers, name: string): readonly string[] {
  const selected = servers.entries.filter(([each]) => name === ALL_SERVERS || each === name)
  return selected.flatMap(([, server]) =>
    server.kind === 'stdio' ? (server.clientVariables ?? []) : [],
  )
}

/** Throws if it cannot be taken, with why. */
export function readServers(file: string, parse: ParseConfig): ServersConfig {
  const { size } = statSync(file)
  if (size > CONFIG_RELOAD_LENGTH_MAX)
    throw new Error(
      `\`${file}\` has ${size} bytes, and a running gate reads at most ${CONFIG_RELOAD_LENGTH_MAX}: shorten it, or restart the gate`,
    )
  return parse(readFileSync(file, 'utf8'))
}

/** Processes that the gate starts from now on can be told from all others, and so can what an earlier gate
 * of this data directory has left behind. */
export async function markOwn(
  config: Pick<GateConfig, 'cluster' | 'data' | 'servers'>,
  log: Log,
): Promise<ChildProcesses | undefined> {
  const starts = startsProcesses(config)
  const clusterKey = config.cluster?.key
  const children = await ChildProcesses.mark(config.data, { startsProcesses: starts, clusterKey })
  if (children?.isSure || !starts) return children
  const known = children === undefined ? 'cannot be told from others here' : 'can hide'
  log('warn', `processes of servers ${known}: see docs/concepts/threats.md on who may connect`)
  return children
}

function startsProcesses({ servers }: Pick<GateConfig, 'servers'>): boolean {
  return Object.values(servers).some(({ kind }) => kind === 'stdio')
}
