// `sluice catalogue …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addCatalogueBuild } from './build.ts'

export function add(program: Command, answer: SetExitCode): void {
  const catalogue = program.command('catalogue').helpCommand(false)
  for (const add of [addCatalogueBuild]) add(catalogue, answer)
}
