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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
