// Where a program is that a command names: by its path, or in a folder of `PATH`, as the system looks for it.

import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

export interface ProgramPlace {
  readonly cwd: string
  readonly path: string | undefined
}

/** Undefined if there is none that may be executed. */
export function findProgram(program: string, { cwd, path = '' }: ProgramPlace): string | undefined {
  const places = program.includes('/')
    ? [resolve(cwd, program)]
    : path.split(delimiter).map((folder) => resolve(cwd, join(folder, program)))
  return program === '' ? undefined : places.find(isExecutable)
}

/** Folders of `PATH` that no project can be in: the hooks of a client start the gate with the client's variables, and
 * what an agent wrote into a folder of its project must not be run in place of a program of the system. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** A program of the system that `PATH` has. Undefined if there is none. */
export function findSystemProgram(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const path = SYSTEM_FOLDERS.filter((folder) => folders.includes(folder)).join(delimiter)
  return findProgram(program, { cwd: '/', path })
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
