// `sluice doctor`: looks at everything a gate needs and says what to do about what is missing. Reads only:
// no server is started unless `--start` is given, and nothing is written.

import { CONFIG_OPTIONS } from '../connect/load-config.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { type DoctorFinding, runChecks } from './doctor-checks.ts'

const EXAMPLES = `
Examples:
  sluice doctor
  sluice doctor --start            also starts each server and lists its tools
  sluice doctor --shadow           also the MCP servers that run beside the gate
  sluice doctor --config gate/sluice.yaml --json

Each line is ok, warn or fail, with what to do. Exit code 0 without a failure, 1 with one.`

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const add = defineCommand({
  name: 'doctor',
  options: {
    ...CONFIG_OPTIONS,
    '--start': 'start the servers and list their tools',
    '--shadow': 'look for MCP servers that run beside the gate (Linux)',
  },
  examples: EXAMPLES,
  run: async (options, output) => {
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
    return failed === 0 ? 0 : 1
  },
})

function printFinding({ check, status, message, help }: DoctorFinding, output: Output): void {
  const word = output.paint(STYLES[status], status.padEnd(4))
  output.line(`${word}  ${check.padEnd(8)}  ${printable(message)}`)
  if (help !== undefined) output.line(`${' '.repeat(16)}${printable(help)}`)
}
