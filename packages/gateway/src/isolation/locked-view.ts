// What every locked server sees of the system: programs, settings, devices. Beside it there are its runtime
// (list-runtime.ts) and what its profile names. Everything else does not exist for it, `/tmp` is its own, and its
// home directory is empty.

import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { toWords } from '@sluice/policy/structures/word-set'

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** What programs read at their start. Keys and passwords are not among it. */
const SETTINGS = toWords(`
  alternatives ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf
  group host.conf ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime mime.types
  nsswitch.conf os-release passwd pki protocols python3 services ssl/certs ssl/openssl.cnf
  timezone
`).map((name) => `/etc/${name}`)
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`)
/** The terminal of the user who started the process: a box has none, its lines could type into it. */
export const SHOW_TERMINAL: readonly string[] = ['--dev-bind-try', '/dev/tty', '/dev/tty']
const KERNEL = ['/sys/devices/system/cpu', '/sys/fs/cgroup']

/** What is the server's own: processes, temporary files, shared memory, an empty home directory. */
const OWN_PLACES = ['/dev/shm', '/tmp'].flatMap((path) => ['--tmpfs', path])
OWN_PLACES.push('--proc', '/proc', '--dir', homedir(), '--symlink', '/proc/self/fd', '/dev/fd')

/** The programs of the system and their libraries, read-only. */
export function showPrograms(): string[] {
  return SYSTEM.filter(existsSync).flatMap((path) =>
    lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path],
  )
}

/** Without `--dev`, which would put the server in a second user namespace that may not bind port 53. */
export function showSystem(): string[] {
  return [
    ...showPrograms(),
    ...[...SETTINGS, ...KERNEL].flatMap((path) => ['--ro-bind-try', path, path]),
    ...OWN_PLACES,
    ...DEVICES.flatMap((path) => ['--dev-bind-try', path, path]),
  ]
}
