// `sluice gates`: who shares the store, and what each gate has confirmed.

import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { tableLines } from '../../terminal/table-lines.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'

const EXAMPLES = `
Examples:
  sluice gates
  sluice gates --json

Exit code 0 if every live gate is ready, has applied every change and has the same servers, otherwise 1.`

export function addGates(parent: Command, answer: SetExitCode): void {
  addDataOptions(parent.command('gates'))
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: DataOptions & { readonly json?: boolean }) => {
      const { data } = findData(options)
      const response = await askGate(data, { do: 'gates' })
      if (response === undefined)
        throw new CliError('CLI_GATE', 'no gate runs here', 'start one with `sluice up --store`')
      const output = new Output(options)
      output.value(response)
      const gates = response.gates as JsonObject[]
      const live = gates.filter(({ isLive }) => isLive === true)
      const configs = new Set(live.map(({ config }) => config))
      const rows = gates.map((gate) => [
        `${String(gate.name)}${gate.name === response.self ? ' (this one)' : ''}`,
        gate.isLive === true || gate.state === 'stopped' ? String(gate.state) : 'gone',
        gate.isCurrent === true ? 'current' : `at ${gate.version}`,
        String(gate.release),
        String(gate.config),
        String(gate.records),
        String(gate.address),
      ])
      const columns = ['gate', 'state', 'changes', 'version', 'servers', 'records', 'address']
      for (const line of tableLines(columns, rows)) output.line(line)
      if (configs.size > 1) output.line('the gates do not have the same servers')
      const isWell = live.every((gate) => gate.state === 'ready' && gate.isCurrent === true)
      answer(isWell && configs.size <= 1 ? 0 : 1)
    })
}
