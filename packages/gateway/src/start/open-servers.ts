// The servers of a gate that runs: what has to be there before one that was not configured at the start
// may be started, and how sluice.yaml is read again. Called by open-calls.ts.

import { readFileSync, statSync } from 'node:fs'
import type { Ledger } from '@sluice/ledger/ledger'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { GateConfig } from '../config/config.ts'
import { CONFIG_RELOAD_LENGTH_MAX } from '../config/limits.ts'
import { prepareWorkDirectories } from '../config/work-directory.ts'
import type { Log } from '../shared/log.ts'
import { ALL_SERVERS } from '../shared/transport.ts'
import { viewOf } from '../shared/view.ts'
import { Servers } from '../state/servers.ts'
import type { Views } from '../state/views.ts'

export type ParseConfig = (text: string) => GateConfig

export interface ServersParts {
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
}

export function openServers(config: GateConfig, { ledger, log }: ServersParts): Servers {
  const { data } = config
  prepareWorkDirectories(config)
  return new Servers(config, {
    ledger,
    log,
    nowMs: processClock.nowMs,
    steadyMs: processClock.steadyMs,
    prepare: async (name, server) => prepareWorkDirectories({ data, servers: { [name]: server } }),
  })
}

/** The variables that a server, or any of all or of a view, lists under `env:` without a value. */
export function listVariables(servers: Servers, views: Views, name: string): readonly string[] {
  const view = viewOf(name)
  const names = view === undefined ? [name] : views.serversOf(view, servers.names)
  const selected = servers.entries.filter(([each]) => name === ALL_SERVERS || names.includes(each))
  return selected.flatMap(([, server]) =>
    server.kind === 'stdio' ? (server.clientVariables ?? []) : [],
  )
}

/** Reads the servers and views of sluice.yaml. Throws an error that says why they cannot be used. */
export function readServers(
  file: string,
  parse: ParseConfig,
): Pick<GateConfig, 'servers' | 'writtenServers' | 'views'> {
  const { size } = statSync(file)
  if (size > CONFIG_RELOAD_LENGTH_MAX)
    throw new Error(
      `\`${file}\` has ${size} bytes, and a running gate reads at most ${CONFIG_RELOAD_LENGTH_MAX}: shorten it, or restart the gate`,
    )
  return parse(readFileSync(file, 'utf8'))
}
