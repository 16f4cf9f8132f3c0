// Where `sluice init` puts the gate's files if nobody names a place: in the current folder, unless a
// server that was found has that folder among its directories. Its tools could then read the keys and
// write the policy, so a folder of the user's outside of every server's directories is taken. Also how
// `init` sees the machine.

import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { directoriesOf, isBelow, withReal } from '../gateway/config/work-directory.ts'
import type { Machine } from './files/client-files.ts'
import type { TextTemplate } from './files/read-server.ts'
import type { DiscoveredServer } from './move/find-servers.ts'

interface User {
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
}

export interface ConfigPlace {
  readonly config: string
  /** Why it is not the file that was named. */
  readonly because?: string
}

/** `named` is the default: a file that a person names, or that is there, is left where it is. */
export function placeConfig(
  named: string,
  servers: readonly DiscoveredServer[],
  user: User,
): ConfigPlace {
  const config = resolve(named)
  if (existsSync(config)) return { config }
  const roots = servers.flatMap((server) => rootsOf(server, user))
  const around = (folder: string) =>
    roots.find(({ root }) => withReal(folder).some((path) => isBelow(path, root)))
  const found = around(dirname(config))
  if (found === undefined) return { config }
  const folder = foldersOf(user).find((each) => around(each) === undefined)
  if (folder === undefined) return { config }
  const file = join(folder, 'sluice.yaml')
  const because = `\`${found.root}\` is a directory of \`${found.name}\`, whose tools could read and write them there; start the gate with \`sluice up --config ${file}\``
  return { config: file, because }
}

/** The record of moves to take back: beside the file that was named, or where placeConfig puts it. */
export function findRecord(named: string, user: User): string {
  const folders = [dirname(resolve(named)), ...foldersOf(user)]
  const records = folders.map((folder) => join(folder, 'sluice.moved.json'))
  return records.find((file) => existsSync(file)) ?? (records[0] as string)
}

/** Of the user's, by the XDG base directories or what Windows has for them. */
function foldersOf({ home, environment }: User): string[] {
  const { APPDATA, LOCALAPPDATA, XDG_CONFIG_HOME, XDG_STATE_HOME } = environment
  const folders =
    process.platform === 'win32'
      ? [APPDATA, LOCALAPPDATA]
      : [XDG_CONFIG_HOME || join(home, '.config'), XDG_STATE_HOME || join(home, '.local', 'state')]
  return folders.flatMap((folder) => (folder ? [join(resolve(folder), 'sluice')] : []))
}

/** The directories among a server's arguments. */
function rootsOf(
  { entry, reading }: DiscoveredServer,
  { environment }: User,
): { readonly name: string; readonly root: string }[] {
  if (!('server' in reading) || reading.server.kind !== 'stdio') return []
  const text = (parts: TextTemplate): string =>
    parts.map((part) => (typeof part === 'string' ? part : environment[part.variable])).join('')
  const { command, cwd } = reading.server
  const [, ...named] = directoriesOf({ command: command.map(text), cwd })
  return named.flatMap(withReal).map((root) => ({ name: entry.name, root }))
}

export function thisMachine(projects: readonly string[]): Machine {
  return {
    ...{ platform: process.platform, home: homeOf(process.env), environment: process.env },
    projects: projects.map((folder) => resolve(folder)),
    list: (folder) => {
      try {
        return readdirSync(folder)
      } catch {
        return []
      }
    },
  }
}

/** As shells and clients see it. */
export function homeOf({ HOME }: NodeJS.ProcessEnv): string {
  return process.platform !== 'win32' && HOME ? HOME : homedir()
}
