// `sluice policy import`: a PolicyLayer policy (Intercept YAML or hosted JSON) as a Sluice policy,
// with a warning wherever the original would have failed open.

import { importPolicy } from '@sluice/import-policylayer/import-policy'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'

const EXAMPLES = `
Examples:
  sluice policy import intercept.yaml --server github > policy.yaml
  sluice policy import hosted.json --server stripe --out policy.yaml
  sluice policy import rules.yaml --server github   # tools with action, reason and rate_limit

Decisions are those of the original, but for limits, where this one is never looser.`

const OPTIONS = {
  '--server <name>': { doc: 'the name the server has here', required: true },
  '--out <file>': 'write the policy there instead of to stdout',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'import',
  args: { '<file>': 'Intercept YAML, or the hosted JSON' },
  options: OPTIONS,
  json: 'print JSON: yaml, warnings, errors',
  examples: EXAMPLES,
  run: ({ file, ...options }, output) => run(file, options, output),
})

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
