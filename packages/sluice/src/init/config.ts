// sluice.yaml as `sluice init` writes it: a new one, or lines put under `servers:` of the one that is
// there, whose other lines stay as they are.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import { readConfig, readDataLocation } from '../gateway/config/config.ts'
import { checkDataFolder } from '../store/files/private-folder.ts'
import { CliError } from '../terminal/errors.ts'
import { readText } from '../terminal/read-input.ts'
import type { NamedServer } from './move/name-servers.ts'

/** The data directory that `sluice up` will use may have come with the project. Throws a StoreError. */
export function checkDataOf(file: string): void {
  const place = existsSync(file)
    ? readDataLocation({ file, text: readText(file) }, process.env)
    : undefined
  checkDataFolder(place?.data ?? join(dirname(file), '.sluice'))
}

/** The servers of a configuration as it has them, by name. */
export function serversIn(text: string): Map<string, unknown> {
  const value: unknown = parseDocument(text).toJS()
  const servers = (value as { servers?: unknown } | null)?.servers
  return new Map(typeof servers === 'object' && servers !== null ? Object.entries(servers) : [])
}

export function newConfig(servers: readonly NamedServer[]): string {
  return [
    '# Written by `sluice init`. The keys are in sluice.env; the rules in policy.yaml.',
    'version: 1',
    'servers:',
    ...linesOf(servers, '  '),
    'policy: ./policy.yaml',
    '',
  ].join('\n')
}

export function addServers(file: string, text: string, servers: readonly NamedServer[]): string {
  const fresh = servers.filter(({ isThere }) => !isThere)
  if (fresh.length === 0) return text
  const added = insert(text, fresh)
  const { problems } = added === undefined ? { problems: [] } : readShape(file, added, fresh)
  const isWhole = added !== undefined && fresh.every(({ name }) => serversIn(added).has(name))
  if (isWhole && !problems.some(({ severity }) => severity === 'error')) return added
  throw new CliError(
    'CLI_FILE',
    `\`${file}\` is written in a way that nothing can be put into`,
    `put this under \`servers:\`, or name another file with --config:\n${linesOf(fresh, '    ').join('\n')}`,
  )
}

function insert(text: string, servers: readonly NamedServer[]): string | undefined {
  const map = parseDocument(text).get('servers', true)
  if (!isMap(map)) return undefined
  const [from = 0, to = 0] = map.range ?? []
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  if (map.flow === true)
    return map.items.length > 0
      ? undefined
      : `${text.slice(0, from).replace(/ $/, '')}${eol}${linesOf(servers, '  ').join(eol)}${text.slice(to)}`
  const indent = text.slice(text.lastIndexOf('\n', from - 1) + 1, from)
  if (!/^ +$/.test(indent)) return undefined
  const end = to > 0 && text[to - 1] === '\n' ? to : text.indexOf('\n', to) + 1
  const head = end === 0 ? `${text}${eol}` : text.slice(0, end)
  return `${head}${linesOf(servers, indent).join(eol)}${eol}${end === 0 ? '' : text.slice(end)}`
}

/** Every text in quotes: what a client's file says must not become another thing in YAML. */
function linesOf(servers: readonly NamedServer[], indent: string): string[] {
  return servers.flatMap(({ name, server }) => [
    `${indent}${JSON.stringify(name)}:`,
    ...Object.entries(server).map(
      ([key, value]) => `${indent}  ${key}: ${JSON.stringify(value).replaceAll('\x7f', '\\x7f')}`,
    ),
  ])
}

/** As the gate reads it, whatever the keys are. */
function readShape(file: string, text: string, servers: readonly NamedServer[]) {
  const keys = servers.flatMap((server) => [...server.keys])
  return readConfig({ file, text }, { ...process.env, ...Object.fromEntries(keys) })
}
