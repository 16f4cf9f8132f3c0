// `sluice policy import`: a PolicyLayer policy (Intercept YAML or hosted JSON) as a Sluice policy,
// with a warning wherever the original would have failed open.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'
import { importPolicy } from './import-policy.ts'

interface Options {
  server: string
  out?: string
  json?: boolean
}

const EXAMPLES = `
Examples:
  sluice policy import intercept.yaml --server github > policy.yaml
  sluice policy import hosted.json --server stripe --out policy.yaml
  sluice policy import rules.yaml --server github   # tools with action, reason and rate_limit

Decisions are those of the original, but for limits, where this one is never looser.`

export function addPolicyImport(parent: Command, answer: SetExitCode): void {
  parent
    .command('import')
    .argument('<file>', 'Intercept YAML, or the hosted JSON')
    .requiredOption('--server <name>', 'the name the server has here')
    .option('--out <file>', 'write the policy there instead of to stdout')
    .option('--json', 'print JSON: yaml, warnings, errors')
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: Options) => answer(run(file, options, new Output(options))))
}

function run(file: string, options: Options, output: Output): 0 | 1 {
  const text = readText(file)
  const { yaml, warnings, errors } = importPolicy(text, { file, server: options.server })
  for (const problem of errors) output.problem({ ...problem, severity: 'error' }, text)
  for (const problem of warnings) output.problem({ ...problem, severity: 'warning' }, text)
  if (errors.length > 0) {
    output.value({ yaml, warnings, errors })
    output.remark(`not imported: ${plural(errors.length, 'error')}`)
    return 1
  }
  if (options.out !== undefined) writeNewFile(options.out, yaml)
  else if (!output.json) process.stdout.write(yaml)
  output.value({ yaml, warnings, errors })
  output.remark(
    `imported with ${plural(warnings.length, 'warning')}; check it with \`sluice policy check ${printable(options.out ?? 'FILE')}\``,
  )
  return 0
}
