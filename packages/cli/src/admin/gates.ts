// `sluice gates`: who shares the store, and what each gate has confirmed.

import { LIST_GATES } from '@sluice/gateway/operations/status'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { tableLines } from '../terminal/table-lines.ts'

const EXAMPLES = `
Examples:
  sluice gates
  sluice gates --json

Exit code 0 if every live gate is ready, has applied every change and has the same servers, otherwise 1.`

export function add(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: LIST_GATES,
    examples: EXAMPLES,
    print: ({ self, gates }, output) => {
      const live = gates.filter(({ isLive }) => isLive)
      const configs = new Set(live.map(({ config }) => config))
      const rows = gates.map((gate) => [
        `${gate.name}${gate.name === self ? ' (this one)' : ''}`,
        gate.isLive || gate.state === 'stopped' ? gate.state : 'gone',
        gate.isCurrent ? 'current' : `at ${gate.version}`,
        gate.release,
        gate.config,
        String(gate.records),
        gate.address,
      ])
      const columns = ['gate', 'state', 'changes', 'version', 'servers', 'records', 'address']
      for (const line of tableLines(columns, rows)) output.line(line)
      if (configs.size > 1) output.line('the gates do not have the same servers')
      const isWell = live.every((gate) => gate.state === 'ready' && gate.isCurrent)
      return isWell && configs.size <= 1 ? 0 : 1
    },
  })
}
