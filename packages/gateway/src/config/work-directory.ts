// Where the process of a server starts, and where it may look for relative paths. Without `cwd` it is
// a directory of the server's own inside the gate's data: the folder of sluice.yaml holds keys and
// policies, which a file server would read by relative path. Reads the disk when a gate is
// configured, never for a call.

import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { attempt } from '@sluice/policy/structures/attempt'
import { toWordSet } from '@sluice/policy/structures/word-set'
import type { GateConfig } from './config.ts'

export interface StdioServer {
  readonly command: readonly string[]
  readonly cwd: string
}

/** Programs whose first words are commands and not paths. */
const LAUNCHERS = toWordSet(
  'npm npx pnpm yarn bun bunx deno uv uvx poetry pipx cargo go make docker podman',
)
/** Of these, those that read a project in the directory they start in. */
const OF_PROJECTS = toWordSet('npm pnpm yarn bun deno uv poetry cargo go make')

/** The directory that the gate makes for a server. */
export function workDirectory(data: string, server: string): string {
  return join(data, 'servers', server)
}

/** The command with what was relative to the configuration's folder made absolute: the program, `.`,
 * `./x`, and every word that is a file or directory there. */
export function resolveCommand(words: readonly string[], folder: string): string[] {
  const isLauncher = LAUNCHERS.has(programOf(words))
  return words.map((word, index) => {
    if (index === 0) return /[\\/]/.test(word) ? resolve(folder, word) : word
    if (words[index - 1] === '-m' || (isLauncher && /^[\w@-]+$/.test(word))) return word
    const [, option = '', value = word] = /^(--?[\w-]+=)(.+)$/s.exec(word) ?? []
    return option + resolveWord(value, folder)
  })
}

function resolveWord(word: string, folder: string): string {
  if (word === '' || word.startsWith('-') || isAbsolute(word) || /^[a-z][\w+.-]*:/i.test(word))
    return word
  if (/^\.{1,2}(?:[\\/]|$)/.test(word)) return resolve(folder, word)
  return existsSync(join(folder, word)) ? resolve(folder, word) : word
}

/** Whether the command very likely needs the folder of its project as its directory. */
export function needsProject(words: readonly string[]): boolean {
  return (
    OF_PROJECTS.has(programOf(words)) || (/^python/.test(programOf(words)) && words[1] === '-m')
  )
}

function programOf([program = '']: readonly string[]): string {
  return basename(program).replace(/\.(?:exe|cmd)$/i, '')
}

/** Those that the gate chose; one that a person named has to be there. */
export function prepareWorkDirectories({
  data,
  servers,
}: Pick<GateConfig, 'data' | 'servers'>): void {
  for (const [name, server] of Object.entries(servers)) {
    if (server.kind !== 'stdio' || server.cwd !== workDirectory(data, name)) continue
    // Before anything is in it: a package in a folder that came with a project would be run by `npx`.
    makePrivateFolder(data)
    mkdirSync(server.cwd, { recursive: true, mode: 0o700 })
  }
}

/** The configuration with another data directory, in which servers without `cwd` start. */
export function withData(config: GateConfig, data: string): GateConfig {
  const servers = Object.entries(config.servers).map(([name, server]) => {
    const isOwn = server.kind === 'stdio' && server.cwd === workDirectory(config.data, name)
    return [name, isOwn ? { ...server, cwd: workDirectory(data, name) } : server] as const
  })
  return { ...config, data, servers: Object.fromEntries(servers) }
}

/** Its working directory and the directories among its arguments. */
export function directoriesOf({ command, cwd }: StdioServer): string[] {
  const words = command.slice(1).map((word) => word.replace(/^--?[\w-]+=/, ''))
  const named = words.flatMap((word) => {
    const path = resolve(cwd, word.startsWith('file://') ? word.slice('file://'.length) : word)
    return word !== '' && isDirectory(path) ? [path] : []
  })
  return [cwd, ...named]
}

/** One of the gate's own files that lies below a directory among the server's arguments. */
export function ownFilesBelow(server: StdioServer, own: readonly string[]): string | undefined {
  const roots = directoriesOf(server).slice(1).flatMap(withReal)
  return own.flatMap(withReal).find((path) => roots.some((root) => isBelow(path, root)))
}

export function isBelow(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

/** The path, and where it leads if it is or passes a link. */
export function withReal(path: string): string[] {
  try {
    const real = realpathSync(path)
    return real === path ? [path] : [path, real]
  } catch {
    return [path]
  }
}

/** False as well for what cannot be a path, such as a long program after `-e`. */
function isDirectory(path: string): boolean {
  return attempt(() => statSync(path).isDirectory(), false)
}
