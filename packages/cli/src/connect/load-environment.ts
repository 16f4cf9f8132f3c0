// The environment as a configuration sees it: the process's own, and below it the keys in sluice.env
// beside the configuration. A file of keys that others may read is refused.

import { readFileSync, statSync } from 'node:fs'
import { keysPath, readKeys } from '@sluice/gateway/config/keys'
import { CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function loadEnvironment(config: string, output: Output | undefined): Environment {
  const file = keysPath(config)
  const text = readOwn(file)
  if (text === undefined) return process.env
  const { keys, problems } = readKeys({ file, text })
  for (const problem of problems) output?.problem(problem, undefined)
  if (problems.length > 0)
    throw new CliError(
      'CLI_POLICY',
      `\`${file}\` has errors`,
      'fix the errors shown above',
      problems,
    )
  return { ...Object.fromEntries(keys), ...process.env }
}

function readOwn(file: string): string | undefined {
  try {
    const { mode } = statSync(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new CliError(
        'CLI_FILE',
        `\`${file}\` has keys in it and can be read by others`,
        `chmod 600 ${file}`,
      )
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof CliError) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CliError('CLI_FILE', `\`${file}\` cannot be read: ${code}`, 'look at it')
  }
}
