// How bubblewrap starts the launcher in the namespaces of a locked server or of a box, and what it has to show for it:
// Node, the launcher's file, and settings that send every question about a name to the gate.

import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { extname, join } from 'node:path'

const LAUNCHER = join(import.meta.dirname, `launcher${extname(import.meta.filename)}`)
/** Where the gate's Node and the launcher are. */
const LAUNCHER_NODE = '/run/sluice/node'
const LAUNCHER_FILE = `/run/sluice/launcher.m${extname(LAUNCHER).slice(1)}`

const SHOW_LAUNCHER = [
  '--ro-bind',
  process.execPath,
  LAUNCHER_NODE,
  '--ro-bind',
  LAUNCHER,
  LAUNCHER_FILE,
]

/** The last words of bubblewrap: nothing can be added to the root, and the launcher runs. */
export const RUN_LAUNCHER: readonly string[] = [
  ...SHOW_LAUNCHER,
  '--remount-ro',
  '/',
  '--',
  LAUNCHER_NODE,
  '--no-warnings',
  LAUNCHER_FILE,
]

/** Names are the gate's to resolve; the machine's own is no host. */
export function showNetworkSettings(data: string): string[] {
  const folder = join(data, 'isolation')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n')
  writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost ${hostname()}\n`)
  return ['resolv.conf', 'hosts'].flatMap((name) => [
    '--ro-bind',
    join(folder, name),
    `/etc/${name}`,
  ])
}
