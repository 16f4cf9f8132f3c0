// `sluice freeze` and `sluice thaw`: stop everything that goes through the gate, or one server,
// principal or agent, from this instant; and let it go on. Works on a running gate and on one that is
// to run.

import { FREEZE, type FreezeView, THAW } from '@sluice/gateway/operations/freeze'
import { describeFreezeTarget } from '@sluice/gateway/state/freezes'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { plural, printable } from '../terminal/output.ts'

const FREEZE_EXAMPLES = `
Examples:
  sluice freeze                                    nothing passes the gate any more
  sluice freeze --server github --why "odd calls"  only this server
  sluice freeze --principal ci
  sluice status                                    what is frozen, among other things

Open calls are cancelled. A freeze outlives restarts of the gate, and is on record; it can be set
before the gate runs. \`sluice thaw\` with the same option ends it.`

const THAW_EXAMPLES = `
Examples:
  sluice thaw                     ends \`sluice freeze\`
  sluice thaw --server github     ends \`sluice freeze --server github\`

Asks for your PIN at the terminal; the one who thaws has the role policy-manager or admin.`

export function addFreeze(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: FREEZE,
    examples: FREEZE_EXAMPLES,
    omit: ['all', 'session'],
    print: ({ frozen, cancelled, warnings }, output) => {
      const calls = plural(cancelled, 'open call')
      output.line(`${output.paint('cyan', 'frozen')}: ${whatOf(frozen)}, ${calls} cancelled`)
      for (const warning of warnings) output.remark(`warning: ${printable(warning)}`)
    },
  })
}

export function addThaw(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: THAW,
    omit: ['all', 'session'],
    examples: THAW_EXAMPLES,
    print: ({ thawed, left }, output) => {
      output.line(`${output.paint('green', 'thawed')}: ${whatOf(thawed)}`)
      for (const frozen of left) output.line(`still frozen: ${whatOf(frozen)}`)
    },
  })
}

/** `the server \`github\``, with what may come from elsewhere made harmless. */
function whatOf(frozen: FreezeView): string {
  return printable(describeFreezeTarget(frozen))
}
