// Writes a change that `sluice init` has shown: a new file, or the text in the place of what was shown before.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CliError } from '../terminal/errors.ts'
import { changeFile } from './files/change-file.ts'
import type { Change } from './show.ts'

export async function writeChange({ file, before, after, mode }: Change): Promise<void> {
  try {
    if (before === undefined) {
      // What all users read is in a folder that all may enter.
      mkdirSync(dirname(file), { recursive: true, mode: mode === 0o644 ? 0o755 : 0o700 })
      writeFileSync(file, after, { flag: 'wx', mode: mode ?? 0o644 })
    } else if (before !== after) {
      const isWritten = await changeFile(file, (text) => (text === before ? after : undefined))
      if (!isWritten) throw new Error('somebody has changed it since it was shown')
    }
  } catch (error) {
    const why = (error as Error).message
    const help = 'check owner and mode of the file and of its folder, and run it again'
    throw new CliError('CLI_FILE', `\`${file}\` cannot be written: ${why}`, help)
  }
}
