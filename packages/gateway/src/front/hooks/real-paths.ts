// Paths in the arguments of a client's tool as the system sees them: a rule judges where a path leads, not how
// it is written, so that a link in the project is no way out of it. Paths that only the client can resolve
// (`~`) are refused. What the gate may not look into (it may run as another user) stays as written.

import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path'
import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import type { HookedCall } from '../../hooks/hook-event.ts'
import { listPathArguments } from '../../hooks/place-arguments.ts'
import { HOOK_LINKS_FOLLOWED_MAX } from './limits.ts'

/** The arguments with real paths, or why there are none. */
export async function resolveArguments({
  tool,
  args,
  mcpServer,
}: HookedCall): Promise<JsonObject | string> {
  if (mcpServer !== undefined) return args
  const real: Record<string, JsonValue> = { ...args }
  for (const name of listPathArguments(tool)) {
    const value = args[name]
    const paths = Array.isArray(value) ? value : [value]
    const resolved: string[] = []
    for (const path of paths) {
      const found = typeof path === 'string' ? await resolvePath(path) : undefined
      if (found === undefined) return `\`${name}\` is ${quote(path)}: ${UNCERTAIN}`
      resolved.push(found)
    }
    real[name] = Array.isArray(value) ? resolved : (resolved[0] ?? '')
  }
  return real
}

const UNCERTAIN =
  'where it leads is not certain. Give the whole path from the root, without `~`, and without `..` behind a link'

/** Undefined if programs may read the path in two ways: some take `..` away before they follow links. */
async function resolvePath(path: string): Promise<string | undefined> {
  if (!isAbsolute(path) || path.includes('\0')) return undefined
  const plain = await follow(normalize(path))
  return path.split(/[\\/]/).includes('..') && (await follow(path)) !== plain ? undefined : plain
}

/** Where a path leads, also if its end is not there yet; a link to what is not there counts as what it names. */
async function follow(path: string, left = HOOK_LINKS_FOLLOWED_MAX): Promise<string | undefined> {
  if (left === 0) return undefined
  const found = await realpath(path).catch((error: NodeJS.ErrnoException) => error)
  if (typeof found === 'string') return found
  if (found.code === 'ELOOP') return undefined
  if (found.code !== 'ENOENT') return resolve(path)
  const folder = dirname(path)
  if (folder === path) return path
  // Without a separator at its end, which would follow a link, and not normalized: `..` is the system's.
  const end = `${folder.replace(/\/$/, '')}/${basename(path)}`
  const parent = await follow(folder, left - 1)
  if (parent === undefined) return undefined
  const isLink = await lstat(end).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
  return isLink
    ? follow(resolve(parent, await readlink(end)), left - 1)
    : join(parent, basename(end))
}

function quote(value: JsonValue | undefined): string {
  return `\`${String(JSON.stringify(value)).slice(0, 200)}\``
}
