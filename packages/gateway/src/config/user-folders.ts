// Where the user's own gate is: `sluice init` puts its files there if the current folder is no place for them,
// and commands look there if the current folder has no sluice.yaml.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** By the XDG base directories or what Windows has for them, the usual one first. */
export function userFolders(home: string, environment: Environment): string[] {
  const { APPDATA, LOCALAPPDATA, XDG_CONFIG_HOME, XDG_STATE_HOME } = environment
  const folders =
    process.platform === 'win32'
      ? [APPDATA, LOCALAPPDATA]
      : [XDG_CONFIG_HOME || join(home, '.config'), XDG_STATE_HOME || join(home, '.local', 'state')]
  return folders.flatMap((folder) => (folder ? [join(resolve(folder), 'sluice')] : []))
}

/** As shells and clients see it. */
export function homeOf({ HOME }: Environment): string {
  return process.platform !== 'win32' && HOME ? HOME : homedir()
}

/** The user's sluice.yaml; undefined if it is missing. */
export function findUserConfig(environment: Environment): string | undefined {
  const files = userFolders(homeOf(environment), environment).map((each) =>
    join(each, 'sluice.yaml'),
  )
  return files.find((file) => existsSync(file))
}
