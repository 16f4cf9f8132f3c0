// Where `sluice init` puts the gate's files if nobody names a place: in the current folder, unless a
// server that was found has that folder among its directories. Its tools could then read the keys and
// write the policy, so a folder of the user's outside of every server's directories is taken. Also how
// `init` sees the machine.

import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findUserConfig, homeOf, userFolders } from '@sluice/gateway/config/user-folders'
import { directoriesOf, isBelow, withReal } from '@sluice/gateway/config/work-directory'
import { attempt } from '@sluice/policy/structures/attempt'
import type { Machine } from './files/client-files.ts'
import { fillTemplate } from './files/read-server.ts'
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
  const own = findUserConfig(user.environment)
  if (own !== undefined) return { config: own, because: 'your gate is there already' }
  const roots = servers.flatMap((server) => rootsOf(server, user))
  const around = (folder: string) =>
    roots.find(({ root }) => withReal(folder).some((path) => isBelow(path, root)))
  const project = around(dirname(config))
  const clone = cloneRoot()
  const isClone = clone !== undefined && isBelow(dirname(config), clone)
  if (project === undefined && !isClone) return { config }
  const folder = userFolders(user.home, user.environment).find((each) => around(each) === undefined)
  if (folder === undefined) return { config }
  const because =
    project === undefined
      ? 'the current folder is a clone of Sluice'
      : `\`${project.root}\` is a directory of \`${project.name}\`, whose tools could read and write them there`
  return { config: join(folder, 'sluice.yaml'), because }
}

/** Whether commands in this folder use it without `--config`. */
export function isFoundByCommands(config: string): boolean {
  const here = resolve('sluice.yaml')
  return config === (existsSync(here) ? here : (findUserConfig(process.env) ?? here))
}

/** The folder of the package: of the sources in a clone, or as it was installed. */
export const PACKAGE = resolve(import.meta.dirname, '../..')

/** The clone whose sources run; undefined for an installed package. */
export function cloneRoot(): string | undefined {
  return existsSync(join(PACKAGE, 'src', 'main.ts')) ? resolve(PACKAGE, '../..') : undefined
}

/** The record of moves to take back: beside the file that was named, or where placeConfig puts it. If there
 * is none, where the record of the user's own gate would be. */
export function findRecord(named: string, user: User): string {
  const folders = [dirname(resolve(named)), ...userFolders(user.home, user.environment)]
  const records = folders.map((folder) => join(folder, 'sluice.moved.json'))
  const hooked = folders.find((folder) => existsSync(join(folder, 'sluice.hooked.json')))
  const config = existsSync(named) ? resolve(named) : findUserConfig(user.environment)
  const fallback = join(dirname(config ?? resolve(named)), 'sluice.moved.json')
  const beside = hooked && join(hooked, 'sluice.moved.json')
  return records.find((file) => existsSync(file)) ?? beside ?? fallback
}

/** The directories among a server's arguments. */
function rootsOf(
  { entry, reading }: DiscoveredServer,
  { environment }: User,
): { readonly name: string; readonly root: string }[] {
  if (!('server' in reading) || reading.server.kind !== 'stdio') return []
  const { command, cwd } = reading.server
  const words = command.map((parts) => fillTemplate(parts, environment))
  const [, ...named] = directoriesOf({ command: words, cwd })
  return named.flatMap(withReal).map((root) => ({ name: entry.name, root }))
}

export function thisMachine(projects: readonly string[]): Machine {
  return {
    platform: process.platform,
    home: homeOf(process.env),
    environment: process.env,
    projects: projects.map((folder) => resolve(folder)),
    list: (folder) => attempt(() => readdirSync(folder), []),
  }
}
