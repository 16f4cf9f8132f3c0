// What a locked server sees because of its command: its program with its libraries, the packages of its modules,
// and the files among its arguments. Never a home directory or a folder above one, because these hold keys.

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, extname, join, sep } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { isBelow, withReal } from '../config/work-directory.ts'
import { findProgram, type ProgramPlace } from '../processes/find-program.ts'

/** The file that marks the folder of a package, by the extension of its modules. */
const MANIFESTS: Readonly<Record<string, string>> = {
  '.js': 'package.json',
  '.mjs': 'package.json',
  '.cjs': 'package.json',
  '.ts': 'package.json',
  '.mts': 'package.json',
  '.cts': 'package.json',
  '.py': 'pyproject.toml',
}

/** What a program in the `bin` of a folder of the home directory needs of that folder. The folder itself may be
 * `~/.local` or `~/.cargo`, which hold keys, too. */
const BESIDE_BIN = ['bin', 'lib', 'lib64', 'pyvenv.cfg']

/** Files and folders, without those of the system. */
export function listRuntime(command: readonly string[], place: ProgramPlace): string[] {
  const [program = '', ...words] = command
  const found = findProgram(program, place)
  const programs = found === undefined ? [] : listPrograms(found, place)
  const files = words.filter((word) => word.includes(sep) && isFile(word))
  const paths = [
    ...programs.flatMap(withReal).flatMap(aroundProgram),
    ...files.flatMap(withReal).map((file) => packageOf(file) ?? file),
  ]
  return [...new Set(paths)].filter((path) => !isBelow(path, '/usr') && !isTooWide(path))
}

/** The program, and for a script its interpreter: `#!/usr/bin/env node` needs `node`. */
function listPrograms(file: string, place: ProgramPlace): string[] {
  const [, interpreter = '', first] =
    /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(readHead(file)) ?? []
  const named = basename(interpreter) === 'env' ? (first ?? '') : interpreter
  const found = named === '' ? undefined : findProgram(named, place)
  return found === undefined ? [file] : [file, found]
}

/** `/x` of `/x/bin/node`: beside the program are its libraries and packages. In a home directory only those. */
function aroundProgram(file: string): string[] {
  const ownPackage = packageOf(file)
  if (ownPackage !== undefined) return [ownPackage]
  const folder = dirname(file)
  const isPrivate = isTooWide(dirname(folder)) || isInHome(file)
  if (basename(folder) !== 'bin') return [isPrivate ? file : folder]
  if (!isPrivate) return [dirname(folder)]
  if (isTooWide(dirname(folder))) return [folder]
  return BESIDE_BIN.map((name) => join(dirname(folder), name)).filter(existsSync)
}

/** The outermost `node_modules` around a file, or for a module the folder with its manifest; undefined if there is
 * none below the home directory. */
function packageOf(file: string): string | undefined {
  const modules = file.indexOf(`${sep}node_modules${sep}`)
  if (modules !== -1) return file.slice(0, modules + `${sep}node_modules`.length)
  const manifest = MANIFESTS[extname(file)]
  if (manifest === undefined) return undefined
  for (let folder = dirname(file); !isTooWide(folder); folder = dirname(folder))
    if (existsSync(join(folder, manifest))) return folder
  return undefined
}

/** The gate's user may have another `HOME` than the one of the system; root's gate may start programs of others. */
function listHomes(): string[] {
  return [homedir(), attempt(() => userInfo().homedir, '/root'), '/root']
    .flatMap(withReal)
    .filter((home) => home !== sep)
}

/** A home directory, or a folder above one. */
function isTooWide(folder: string): boolean {
  return (
    /^\/(?:home(?:\/[^/]+)?)?$/.test(folder) || listHomes().some((home) => isBelow(home, folder))
  )
}

function isInHome(file: string): boolean {
  return /^\/home\//.test(file) || listHomes().some((home) => isBelow(file, home))
}

/** False as well for what cannot be a path, such as a long program after `-e`. */
function isFile(path: string): boolean {
  return attempt(() => !statSync(path).isDirectory(), false)
}

function readHead(file: string): string {
  const head = Buffer.alloc(256)
  const open = openSync(file, 'r')
  readSync(open, head)
  closeSync(open)
  return head.toString('latin1')
}
