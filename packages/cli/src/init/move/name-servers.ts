// Servers of several clients as servers of one gate: the same server is listed once, each with a name
// that the gate takes, its keys apart. Pure.

import { isDeepStrictEqual } from 'node:util'
import type { ParsedServer } from '../files/read-server.ts'
import { extractSecrets, type ServerWithSecrets, type ServerYaml } from './extract-secrets.ts'
import type { DiscoveredServer } from './find-servers.ts'

export interface NamedServer extends ServerWithSecrets {
  readonly name: string
  readonly read: ParsedServer
  readonly found: readonly DiscoveredServer[]
  /** The configuration has it already, under this name. */
  readonly isThere: boolean
}

export function nameServers(
  discovered: readonly DiscoveredServer[],
  taken: ReadonlyMap<string, unknown>,
  environment: Readonly<Record<string, string | undefined>>,
  holdsSecret: (text: string) => boolean,
): NamedServer[] {
  const named: NamedServer[] = []
  const byContent = new Map<string, number>()
  const used = new Set(taken.keys())
  for (const one of discovered) {
    if (!('server' in one.reading)) continue
    const { server } = one.reading
    const content = JSON.stringify(server)
    const at = byContent.get(content)
    const same = at === undefined ? undefined : named[at]
    if (at !== undefined && same !== undefined) {
      named[at] = { ...same, found: [...same.found, one] }
      continue
    }
    const keep = (name: string) => extractSecrets(name, server, environment, holdsSecret)
    const names = candidates(one)
    const isWritten = (name: string) => isSame(taken.get(name), keep(name).server)
    const there = [...names, ...taken.keys()].find(isWritten)
    const name = there ?? names.find((free) => !used.has(free)) ?? nextFree(names[0] ?? 'x', used)
    used.add(name)
    byContent.set(content, named.length)
    named.push({ name, ...keep(name), read: server, found: [one], isThere: there !== undefined })
  }
  return named
}

const NAME_CHARS_MAX = 24

/** Its own name; if that is taken, with the client's, if both fit uncut. */
function candidates({ entry, from }: DiscoveredServer): string[] {
  const own = slug(entry.name)
  const withClient = `${own}-${from.client}`
  return withClient.length <= NAME_CHARS_MAX ? [own, withClient] : [own]
}

function slug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return plain.replace(/^-/, '').slice(0, NAME_CHARS_MAX).replace(/-$/, '') || 'server'
}

/** `name-2`, `name-3`, … */
function nextFree(name: string, used: ReadonlySet<string>): string {
  for (let next = 2; ; next++) {
    const free = `${name.slice(0, NAME_CHARS_MAX - 4)}-${next}`
    if (!used.has(free)) return free
  }
}

function isSame(there: unknown, server: ServerYaml): boolean {
  return there !== undefined && isDeepStrictEqual(there, JSON.parse(JSON.stringify(server)))
}
