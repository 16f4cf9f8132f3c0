// `sluice approvals …`: the calls that wait for a person, at the terminal. Its commands in the order
// help shows them; loaded only if one is asked for.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addApprovalsDecide } from './decide.ts'
import { addApprovalsList, addApprovalsShow } from './list.ts'
import { addApprovalsWatch } from './watch.ts'

export function add(program: Command, answer: SetExitCode): void {
  const approvals = program.command('approvals').helpCommand(false)
  addApprovalsList(approvals, answer)
  addApprovalsShow(approvals, answer)
  addApprovalsDecide(approvals, answer)
  addApprovalsWatch(approvals, answer)
}
