// The files that a locked server sees: the system's programs, its runtime and packages, and what its profile
// names. Everything else does not exist for it, `/tmp` is its own, and its home directory is empty.

import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { toWords } from '@sluice/policy/core/word-set'
import { isBelow } from '../config/work-directory.ts'
import { findProgram, type ProgramPlace } from '../processes/find-program.ts'

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** What programs read at their start. Keys and passwords are not among it. */
const SETTINGS = toWords(`
  alternatives ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf
  group host.conf ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime mime.types
  nsswitch.conf os-release passwd pki protocols python3 services ssl/certs ssl/openssl.cnf
  timezone
`).map((name) => `/etc/${name}`)
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)
const KERNEL = ['/sys/devices/system/cpu', '/sys/fs/cgroup']

/** What is the server's own: processes, temporary files, shared memory, an empty home directory. */
const OWN_PLACES = ['/dev', '/dev/shm', '/tmp'].flatMap((path) => ['--tmpfs', path])
OWN_PLACES.push('--proc', '/proc', '--dir', homedir(), '--symlink', '/proc/self/fd', '/dev/fd')

/** Without `--dev`, which would put the server in a second user namespace that may not bind port 53. */
export function showSystem(): string[] {
  return [
    ...SYSTEM.filter(existsSync).flatMap((path) =>
      lstatSync(path).isSymbolicLink()
        ? ['--symlink', readlinkSync(path), path]
        : ['--ro-bind', path, path],
    ),
    ...[...SETTINGS, ...KERNEL].flatMap((path) => ['--ro-bind-try', path, path]),
    ...OWN_PLACES,
    ...DEVICES.flatMap((path) => ['--dev-bind-try', path, path]),
  ]
}

/** Folders of the program that a command starts, of the interpreter that its first line names, and of the
 * packages and programs among its arguments. */
export function listRuntime(command: readonly string[], place: ProgramPlace): string[] {
  const [program = '', ...words] = command
  const found = findProgram(program, place)
  const files = words.filter((word) => word.includes(sep) && isFile(word))
  const folders = [
    ...(found === undefined ? [] : listPrograms(found, place).flatMap(folderOfProgram)),
    ...files.flatMap((file) => [file, realpathSync(file)]).map(folderOfPackage),
  ]
  return [...new Set(folders)].filter((folder) => !isBelow(folder, '/usr') && folder !== sep)
}

/** The program, and for a script its interpreter: `#!/usr/bin/env node` needs `node`. */
function listPrograms(file: string, place: ProgramPlace): string[] {
  const [, interpreter = '', first] =
    /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(readHead(file)) ?? []
  const named = basename(interpreter) === 'env' ? (first ?? '') : interpreter
  const found = named === '' ? undefined : findProgram(named, place)
  return found === undefined ? [file] : [file, found]
}

/** `/x` of `/x/bin/node`: beside the program are its libraries and packages. */
function folderOfProgram(file: string): string[] {
  return [file, realpathSync(file)].map((each) => {
    const folder = dirname(each)
    return basename(folder) === 'bin' ? dirname(folder) : folderOfPackage(each)
  })
}

/** The outermost `node_modules` around a file, the folder with its package.json, or its folder. */
function folderOfPackage(file: string): string {
  const modules = file.indexOf(`${sep}node_modules${sep}`)
  if (modules !== -1) return file.slice(0, modules + `${sep}node_modules`.length)
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder
  return dirname(file)
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false
}

function readHead(file: string): string {
  const head = Buffer.alloc(256)
  const open = openSync(file, 'r')
  readSync(open, head)
  closeSync(open)
  return head.toString('latin1')
}
