// `sluice doctor`: looks at everything a gate needs and says what to do about what is missing. Reads only:
// no server is started unless `--start` is given, and nothing is written.

import type { Command } from 'commander'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import type { DataOptions } from '../connect/find-data.ts'
import { type DoctorFinding, runChecks } from './doctor-checks.ts'

interface Options extends DataOptions {
  readonly start?: boolean
  readonly shadow?: boolean
}

const EXAMPLES = `
Examples:
  sluice doctor
  sluice doctor --start            also starts each server and lists its tools
  sluice doctor --shadow           also the MCP servers that run beside the gate
  sluice doctor --config gate/sluice.yaml --json

Each line is ok, warn or fail, with what to do. Exit code 0 without a failure, 1 with one.`

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export function addDoctor(parent: Command, answer: SetExitCode): void {
  parent
    .command('doctor')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'data directory, instead of the one in the configuration')
    .option('--start', 'start the servers and list their tools')
    .option('--shadow', 'look for MCP servers that run beside the gate (Linux)')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      const findings = await runChecks(options)
      const failed = findings.filter(({ status }) => status === 'fail').length
      output.value({ ok: failed === 0, checks: findings })
      for (const finding of findings) printFinding(finding, output)
      const warned = findings.filter(({ status }) => status === 'warn').length
      output.line(
        failed + warned === 0
          ? 'everything is in order'
          : `${plural(failed, 'failure')}, ${plural(warned, 'warning')}`,
      )
      answer(failed === 0 ? 0 : 1)
    })
}

function printFinding({ check, status, message, help }: DoctorFinding, output: Output): void {
  const word = output.paint(STYLES[status], status.padEnd(4))
  output.line(`${word}  ${check.padEnd(8)}  ${printable(message)}`)
  if (help !== undefined) output.line(`${' '.repeat(16)}${printable(help)}`)
}
