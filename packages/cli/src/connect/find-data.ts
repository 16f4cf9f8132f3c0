// Where the data directory of a gate is, for commands that operate it: as --data says, or as the
// configuration does. Nothing else of the configuration has to be right, so that a gate can be frozen
// from a shell that lacks its secrets.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDataLocation } from '@sluice/gateway/config/data-location'
import { CliError } from '../terminal/errors.ts'
import { readText } from '../terminal/read-input.ts'
import { CONFIG, findConfig } from './find-config.ts'
import { loadEnvironment } from './load-environment.ts'
import type { ProofOptions } from './prove-person.ts'

/** The options of every command that reaches a gate. */
export interface DataOptions extends ProofOptions {
  readonly config: string
  readonly data?: string
  readonly json?: boolean
}

export const DATA = {
  '--config <file>': ['the configuration', CONFIG],
  '--data <dir>': "the data directory, if it is not the configuration's",
} as const

/** The same for commands that also work if no gate was ever configured: their `data` is always known. A
 * directory that is not there is for the command to decide about. */
export const DIRECTORY = {
  '--config <file>': `the configuration (default: "${CONFIG}" if it exists)`,
  '--data <dir>': {
    doc: "the data directory, if it is not the configuration's",
    fill: findDirectory,
  },
} as const

function findDirectory({ config }: Partial<DataOptions>): string {
  const named = config ?? findConfig()
  return named === undefined
    ? './.sluice'
    : findData({ config: named }, { mayBeMissing: true }).data
}

/** `servers` is undefined if only the directory is known. */
export function findData(
  { config: file, data }: DataOptions,
  { mayBeMissing = false }: { readonly mayBeMissing?: boolean } = {},
): {
  readonly data: string
  readonly servers?: readonly string[]
  readonly views?: readonly string[]
  readonly builtin?: readonly string[]
} {
  const there = mayBeMissing ? (directory: string) => directory : existing
  if (data !== undefined) return { data: there(resolve(data)) }
  const place = readDataLocation({ file, text: readText(file) }, loadEnvironment(file, undefined))
  if (place !== undefined) return { ...place, data: there(place.data) }
  throw new CliError(
    'CLI_POLICY',
    `where the data is cannot be read from \`${file}\``,
    '`sluice doctor` shows what is wrong there, such as a variable that is not set; or name the directory with --data',
  )
}

/** A directory created because of a typo would be a gate that nobody runs. */
function existing(directory: string): string {
  if (existsSync(directory)) return directory
  throw new CliError(
    'CLI_FILE',
    `\`${directory}\` is not there`,
    'no gate has run with this data directory yet: name another with --data or --config',
  )
}
