// Which entries of the clients on this machine go through a gate, and whether they can: the program and the
// configuration they name are there, and the gate listens if they are addresses. For `sluice doctor`. Starts
// nothing and changes nothing.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { JsonObject } from '@sluice/policy/values/json'
import { readText } from '../terminal/read-input.ts'
import { nameFound } from './config.ts'
import { CLIENTS } from './files/client.ts'
import { type DiscoveredServer, findServers } from './move/find-servers.ts'
import { thisMachine } from './place.ts'

export interface ClientEntry {
  readonly client: string
  readonly file: string
  readonly name: string
  /** The folder that it is for, if it is for one. */
  readonly project?: string
  /** Its name at the gate, if \`sluice init\` can move it: \`--yes NAME\`. */
  readonly serverName?: string
  /** `gate`: through the gate of this configuration. `other`: through another one. `none`: past any. */
  readonly through: 'gate' | 'other' | 'none'
  /** What it needs and does not find. */
  readonly missing?: string
  /** It is an address: somebody has to run `sluice up`. */
  readonly isUrl?: boolean
  readonly isProject: boolean
  /** Why the client does not use it. */
  readonly off?: string
  /** Why `sluice init` cannot move it. */
  readonly stays?: string
}

/** What the files of clients say. */
export interface InspectedClients {
  readonly entries: readonly ClientEntry[]
  /** Files that cannot be read. */
  readonly broken: readonly { readonly file: string; readonly message: string }[]
}

/** `config` and `url` are those of the gate that is asked about. */
export async function inspectClients(config: string, url: string): Promise<InspectedClients> {
  const { servers, broken } = await findServers(thisMachine(['.']))
  const named = nameFound(servers, existsSync(config) ? readText(config) : undefined)
  return {
    entries: servers.map((server): ClientEntry => {
      const serverName = named.find(({ found }) => found.includes(server))?.name
      const entry = inspectEntry(server, resolve(config), url)
      return serverName === undefined ? entry : { ...entry, serverName }
    }),
    broken: broken.map(({ from, error }) => ({ file: from.file, message: error.message })),
  }
}

function inspectEntry(
  { from, entry, reading }: DiscoveredServer,
  config: string,
  url: string,
): ClientEntry {
  const about = {
    client: CLIENTS[from.client],
    file: from.file,
    name: entry.name,
    isProject: from.scope === 'project',
    ...pickDefined({ project: entry.project, off: entry.off }),
    ...('stays' in reading ? { stays: reading.stays } : {}),
  }
  const address = [entry.value.url, entry.value.serverUrl, entry.value.httpUrl].find(
    (value) => typeof value === 'string',
  )
  if (typeof address === 'string') {
    const isOwn = address.startsWith(`${url}/mcp`)
    const isOther = !isOwn && address.includes('sluice_session=')
    return { ...about, through: isOwn ? 'gate' : isOther ? 'other' : 'none', isUrl: true }
  }
  const used = readPipe(entry.value)
  if (used === undefined) return { ...about, through: 'none' }
  const missing = used.needs.find((file) => !existsSync(file))
  return {
    ...about,
    through: resolve(used.config) === config ? 'gate' : 'other',
    ...pickDefined({ missing }),
  }
}

/** `…/node …/sluice.js stdio --config FILE --server NAME`, as `init` writes it, or `sluice stdio …`. */
function readPipe({ command, args }: JsonObject) {
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined
  const words = [command, ...args.map(String)]
  const at = words.indexOf('stdio')
  if (at < 1 || !/(?:^|[\\/])sluice(?:\.js)?$/.test(words[at - 1] ?? '')) return undefined
  const config = words[words.indexOf('--config', at) + 1] ?? 'sluice.yaml'
  const programs = words.slice(0, at).filter((word) => /[\\/]/.test(word))
  return { config, needs: [...programs, config] }
}
