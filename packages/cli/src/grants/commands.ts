// `sluice grants …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addGrantsAdd } from './add.ts'
import { addGrantsImport } from './import.ts'
import { addGrantsList } from './list.ts'
import { addGrantsRevoke } from './revoke.ts'

export function add(program: Command, answer: SetExitCode): void {
  const grants = program.command('grants').helpCommand(false)
  for (const add of [addGrantsAdd, addGrantsImport, addGrantsList, addGrantsRevoke])
    add(grants, answer)
}
