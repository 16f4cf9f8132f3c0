// Files that commands create for a person: never over one that is there.

import { writeFileSync } from 'node:fs'
import { CliError } from './errors.ts'

export function writeNewFile(file: string, text: string, mode = 0o666): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already' : `cannot be written: ${message}`
    throw new CliError('CLI_FILE', `\`${file}\` ${why}`, 'name a file that is not there yet')
  }
}
