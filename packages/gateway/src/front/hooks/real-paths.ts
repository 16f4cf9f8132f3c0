// Paths in the arguments of a client's tool as the system sees them: a rule judges where a path leads, not how
// it is written, so that a link in the project is no way out of it. Paths that only the client can resolve
// (`~`) are refused. What the gate may not look into (it may run as another user) stays as written.

import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path'
import { wildcardMatches } from '@sluice/policy/language/glob'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import type { HookedCall } from '../../hooks/clients/hook-event.ts'
import { isOpenFile } from '../../hooks/may-answer.ts'
import { listPathArguments } from '../../hooks/place-arguments.ts'
import { HOOK_ENTRIES_READ_MAX, HOOK_LINKS_FOLLOWED_MAX } from './limits.ts'

/** The arguments with real paths, or why there are none. */
export async function resolveArguments({
  tool,
  args,
  mcpServer,
}: Pick<HookedCall, 'tool' | 'args' | 'mcpServer'>): Promise<JsonObject | string> {
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

/** Returns undefined if programs may read the path in two ways: some take `..` away before they follow links. */
async function resolvePath(path: string): Promise<string | undefined> {
  if (!isAbsolute(path) || path.includes('\0')) return undefined
  const plain = await follow(normalize(path))
  return path.split(/[\\/]/).includes('..') && (await follow(path)) !== plain ? undefined : plain
}

/** Whether paths from the root, which may be patterns of Bash, lead only to files of a project that may be read without
 * a question. Not if the gate may not look, or if there is too much to look at. */
export async function leadInto(paths: readonly string[], project: string): Promise<boolean> {
  const budget = { entries: HOOK_ENTRIES_READ_MAX }
  for (const path of paths) {
    // A class and a choice may be any text: whatever they match is looked at.
    const pattern = path.replace(/\[[^[\]/]*\]|\{[^{}/]*\}/g, '*')
    if (/[[{]/.test(pattern)) return false
    for (const file of await expand(pattern, budget)) {
      const real = await follow(file, { isStrict: true })
      if (real === undefined || !isOpenFile(real, project)) return false
    }
    if (budget.entries < 0) return false
  }
  return true
}

/** What a pattern may match, and what it names if it matches nothing. Names that begin with a dot count. */
async function expand(pattern: string, budget: { entries: number }): Promise<string[]> {
  const [, folder, name = '', rest = ''] =
    /^((?:\/[^/*?]*)*)\/([^/]*[*?][^/]*)(\/.*)?$/s.exec(pattern) ?? []
  if (folder === undefined) return [pattern]
  const found = await readdir(folder === '' ? '/' : folder, { withFileTypes: true }).catch(() => [])
  budget.entries -= found.length
  const matched: string[] = [folder]
  if (name === '**') matched.push(...(await expand(`${folder}${rest}`, budget)))
  for (const entry of found) {
    if (budget.entries < 0) break
    if (!wildcardMatches(name, entry.name)) continue
    const path = `${folder}/${entry.name}`
    matched.push(...(rest === '' ? [path] : await expand(`${path}${rest}`, budget)))
    if (name === '**' && entry.isDirectory())
      matched.push(...(await expand(`${path}/**${rest}`, budget)))
  }
  return matched
}

interface FollowOptions {
  readonly left?: number
  /** What the gate may not look into leads nowhere; else it stays as written. */
  readonly isStrict?: boolean
}

/** Where a path leads, also if its end is not there yet; a link to what is not there counts as what it names. */
async function follow(
  path: string,
  { left = HOOK_LINKS_FOLLOWED_MAX, isStrict = false }: FollowOptions = {},
): Promise<string | undefined> {
  if (left === 0) return undefined
  const found = await realpath(path).catch((error: NodeJS.ErrnoException) => error)
  if (typeof found === 'string') return found
  if (found.code === 'ELOOP') return undefined
  const isNotThere = found.code === 'ENOENT' || (isStrict && found.code === 'ENOTDIR')
  if (!isNotThere) return isStrict ? undefined : resolve(path)
  const folder = dirname(path)
  if (folder === path) return path
  // Without a separator at its end, which would follow a link, and not normalized: `..` is the system's.
  const end = `${folder.replace(/\/$/, '')}/${basename(path)}`
  const parent = await follow(folder, { left: left - 1, isStrict })
  if (parent === undefined) return undefined
  const isLink = await lstat(end).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
  return isLink
    ? follow(resolve(parent, await readlink(end)), { left: left - 1, isStrict })
    : join(parent, basename(end))
}

function quote(value: JsonValue | undefined): string {
  return `\`${String(JSON.stringify(value)).slice(0, 200)}\``
}
