// sluice.yaml as `sluice init` writes it: a new one, or lines put under `servers:` of the one that is
// there, whose other lines stay as they are.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { People } from '@sluice/access/identity/people/people'
import { readConfig } from '@sluice/gateway/config/config'
import { readDataLocation } from '@sluice/gateway/config/data-location'
import {
  describeEntry,
  putServers,
  readWrittenServers,
  type WrittenServer,
} from '@sluice/gateway/config/edit-servers'
import { keysPath, readKeys } from '@sluice/gateway/config/keys'
import { isObserveOnly } from '@sluice/gateway/state/observe-mode'
import { looksRandom } from '@sluice/guard/secret-checks'
import { findSecrets } from '@sluice/guard/secrets'
import { checkDataFolder } from '@sluice/ledger/store/files/private-folder'
import { CliError } from '../terminal/errors.ts'
import { readText } from '../terminal/read-input.ts'
import type { DiscoveredServer } from './move/find-servers.ts'
import { type NamedServer, nameServers } from './move/name-servers.ts'

/** The servers that were found, each with its name at the gate. \`before\` is the text of sluice.yaml. */
export function nameFound(
  found: readonly DiscoveredServer[],
  before: string | undefined,
): NamedServer[] {
  const taken = new Map(Object.entries(readWrittenServers(before ?? '')))
  const holdsSecret = (text: string) => looksRandom(text) || findSecrets(text).length > 0
  return nameServers(found, taken, process.env, holdsSecret)
}

/** The data directory that `sluice up` will use may have come with the project. Throws a StoreError. */
export function checkDataOf(file: string): void {
  checkDataFolder(dataOf(file))
}

/** Whether somebody has set a PIN. */
function hasApprover(file: string): boolean {
  const data = dataOf(file)
  if (!existsSync(join(data, 'identity.db'))) return false
  using people = People.open(data)
  return people.anybody
}

/** What the gate of this configuration is like: whether anybody can approve calls, and whether its policy is enforced. */
export function readGateState(file: string): { canApprove: boolean; isObserved: boolean } {
  return { canApprove: hasApprover(file), isObserved: isPolicyObserved(file) }
}

function isPolicyObserved(file: string): boolean {
  if (!existsSync(file)) return false
  const { config } = readConfig({ file, text: readText(file) }, environmentWith(file, []))
  const policy = config?.policy
  if (policy === undefined || !existsSync(policy)) return false
  return isObserveOnly(readText(policy))
}

/** The data directory of the gate of this configuration. */
export function dataOf(file: string): string {
  const place = existsSync(file)
    ? readDataLocation({ file, text: readText(file) }, process.env)
    : undefined
  return place?.data ?? join(dirname(file), '.sluice')
}

export function newConfig(servers: readonly NamedServer[]): string {
  return [
    '# Written by `sluice init`. The keys are in sluice.env; the rules in policy.yaml.',
    'version: 1',
    'servers:',
    ...describe(servers, '  '),
    'policy: ./policy.yaml',
    '',
  ].join('\n')
}

export function addServers(file: string, text: string, servers: readonly NamedServer[]): string {
  const fresh = servers.filter(({ isThere }) => !isThere)
  if (fresh.length === 0) return text
  const added = putServers(text, fresh.map(toWritten))
  const { problems } = added === undefined ? { problems: [] } : readShape(file, added, fresh)
  if (added !== undefined && !problems.some(({ severity }) => severity === 'error')) return added
  throw new CliError(
    'CLI_FILE',
    `\`${file}\` is written in a way that nothing can be put into`,
    `put this under \`servers:\`, or name another file with --config:\n${describe(fresh, '    ').join('\n')}`,
  )
}

function toWritten({ name, server }: NamedServer): WrittenServer {
  return { name, entry: server }
}

function describe(servers: readonly NamedServer[], indent: string): string[] {
  return servers.map((server) => describeEntry(toWritten(server), indent))
}

/** As the gate reads it, whatever the keys are. */
function readShape(file: string, text: string, servers: readonly NamedServer[]) {
  return readConfig({ file, text }, environmentWith(file, servers))
}

/** The variables that the gate will see: new keys, those of sluice.env, and the process's own. */
export function environmentWith(
  file: string,
  servers: readonly NamedServer[],
): Record<string, string | undefined> {
  const own = keysPath(file)
  const stored = existsSync(own) ? readKeys({ file: own, text: readText(own) }).keys : []
  const fresh = servers.flatMap((server) => [...server.keys])
  return { ...Object.fromEntries(stored), ...Object.fromEntries(fresh), ...process.env }
}

/** Where the gate of this configuration is reached, from elsewhere and on this machine, and its data. */
export function gateAddress(
  file: string,
  text: string,
  servers: readonly NamedServer[],
): { url: string; local: string; data: string } {
  const { config } = readShape(file, text, servers)
  const { host, port, publicUrl, tls } = config ?? { host: '127.0.0.1', port: 7433 }
  const local = `${tls === undefined ? 'http' : 'https'}://${host}:${port}`
  return { url: publicUrl ?? local, local, data: config?.data ?? join(dirname(file), '.sluice') }
}
