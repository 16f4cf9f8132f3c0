// Files that commands write for a person.

import { writeFileSync } from 'node:fs'
import { CliError } from './errors.ts'

/** Never over one that is there. */
export function writeNewFile(file: string, text: string, mode = 0o666): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already' : `cannot be written: ${message}`
    throw new CliError('CLI_FILE', `\`${file}\` ${why}`, 'name a file that is not there yet')
  }
}

/** To standard output if no file is named. */
export function writeOutput(
  text: string | Uint8Array,
  file: string | undefined,
  mode = 0o666,
): void {
  try {
    if (file === undefined) process.stdout.write(text)
    else writeFileSync(file, text, { mode })
  } catch (error) {
    const { message } = error as Error
    throw new CliError('CLI_FILE', `\`${file}\` cannot be written: ${message}`, 'name another file')
  }
}
