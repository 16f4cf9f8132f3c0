// `sluice policy coverage`: which rules, branches and limits the cases reach, and which tools no
// case calls.

import { measureCoverage } from '@sluice/policy/cases/coverage'
import { readPercent } from '../connect/read-option.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { CASE_POLICY, type CaseOptions, runFile } from './test.ts'

const EXAMPLES = `
Examples:
  sluice policy coverage cases.yaml
  sluice policy coverage cases.yaml --min 90          # exit code 1 below 90 percent

Exit code 1 also if a case is not as expected: what it reached proves nothing.`

type CoverageOptions = CaseOptions & { readonly min: string }

export const add = defineCommand({
  name: 'coverage',
  args: { '<cases>': 'a YAML file of cases' },
  options: {
    ...CASE_POLICY,
    '--tools <file>': 'known tools, instead of the file the cases name',
    '--min <percent>': ['exit code 1 below this', '0'],
  },
  examples: EXAMPLES,
  run: ({ cases: file, ...options }, output) => coverage(file, options, output),
})

async function coverage(file: string, options: CoverageOptions, output: Output): Promise<0 | 1> {
  const least = readPercent('--min', options.min)
  const { policy, tools, results } = await runFile(file, options, output)
  const measured = measureCoverage(policy, results, tools)
  const percent = measured.total === 0 ? 100 : (100 * measured.covered) / measured.total
  const failed = results.filter(({ passed }) => !passed).length
  output.value({ percent, min: least, cases: results.length, failed, ...measured })
  for (const { rule, key, branch, hits } of measured.branches) {
    const mark =
      hits > 0 ? output.paint('green', String(hits).padStart(6)) : output.paint('red', '     –')
    const section = rule.split('/')[1] ?? ''
    output.line(
      `${mark}  ${section.padEnd(10)} ${printable(key)}${branch === 'met' ? '' : output.paint('dim', `  ${printable(branch)}`)}`,
    )
  }
  if (measured.untried.length > 0) {
    output.line(`\n${plural(measured.untried.length, 'known tool')} that no case calls:`)
    for (const { tool, rules } of measured.untried.slice(0, 20))
      output.dim(`  ${printable(tool)}  ${rules.map(printable).join(', ') || 'default'}`)
    if (measured.untried.length > 20)
      output.dim(`  and ${measured.untried.length - 20} more (--json has all)`)
  }
  output.line(
    `\n${measured.covered} of ${plural(measured.total, 'branch', 'branches')} (${Math.floor(percent)} %), ${plural(results.length, 'case')}`,
  )
  if (failed > 0)
    output.line(output.paint('red', `${plural(failed, 'case')} not as expected: see policy test`))
  if (percent < least) output.line(output.paint('red', `below the minimum of ${least} %`))
  return percent >= least && failed === 0 ? 0 : 1
}
