// `npm run fuzz -- [TARGET ...] [--seconds N] [--seed N] [--planted] [--json]`: coverage-guided
// fuzzing of everything that parses foreign bytes, a minute per target unless `--seconds` is given;
// `shell` compares a million texts.
// With `--planted` it runs against code with known faults and fails if one is not found. Exit code
// 1 on a finding.

import { parseArgs } from 'node:util'
import { FUZZ_TARGETS, type FuzzReport, fuzz } from '../test/fuzz/fuzz.ts'
import { PLANTED_FAULTS } from '../test/fuzz/planted-faults.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    planted: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const unknown = positionals.filter((name) => !FUZZ_TARGETS.includes(name))
if (unknown.length > 0) {
  console.error(
    `there is no target \`${unknown.join('`, `')}\`; targets: ${FUZZ_TARGETS.join(', ')}`,
  )
  process.exit(2)
}
const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
if (seconds !== undefined && !(seconds > 0)) {
  console.error(`--seconds \`${values.seconds}\` is not a number above 0`)
  process.exit(2)
}
const limits = {
  executions: Number.POSITIVE_INFINITY,
  ...(seconds === undefined ? {} : { seconds }),
  ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
}
let failures = 0
for (const target of positionals.length > 0 ? positionals : FUZZ_TARGETS) {
  const faults = values.planted ? (PLANTED_FAULTS[target] ?? []) : [undefined]
  for (const fault of faults) {
    const report = await fuzz({ target, ...limits, ...(fault === undefined ? {} : { fault }) })
    const isWrong = (report.finding === undefined) === (fault !== undefined)
    if (isWrong) failures += 1
    print(report, fault?.put)
  }
}
process.exitCode = failures === 0 ? 0 : 1

function print(report: FuzzReport, planted: string | undefined): void {
  if (values.json) return console.log(JSON.stringify({ ...report, planted }))
  const { target, executions, edges, edgesReached, corpus, finding } = report
  console.log(
    `${target.padEnd(8)} ${executions} executions in ${report.seconds} s, ` +
      `${edgesReached} of ${edges} edges, ${corpus} inputs kept` +
      (planted === undefined ? '' : `, planted \`${planted}\``),
  )
  if (report.summary !== undefined) console.log(`  ${report.summary}`)
  if (finding !== undefined) console.log(`  found: ${finding.message}\n  input: ${finding.input}`)
  else if (planted !== undefined) console.log('  NOT FOUND')
}
