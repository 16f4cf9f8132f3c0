// `sluice policy test`: runs YAML cases; every decision that is not as expected is shown with the
// rule that decided. Also reads and runs case files for `coverage`.

import { dirname, resolve } from 'node:path'
import { type KnownTool, toToolId } from '@sluice/policy/calls/tools'
import { type PolicyCase, readCases } from '@sluice/policy/cases/cases'
import { type CaseResult, runCase } from '@sluice/policy/cases/run-cases'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { Command } from 'commander'
import { loadGatePolicy, POLICY, type PolicyOptions } from '../connect/gate-policy.ts'
import { CliError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { getRuleLocation } from '../terminal/explanation.ts'
import { Output, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { createToolFinder, readTools, suggestTool } from '../terminal/read-tools.ts'

export interface CaseOptions extends PolicyOptions {
  tools?: string
  json?: boolean
}

/** Also of `coverage`. */
export const CASE_POLICY = {
  ...POLICY,
  '--policy <file>': "the policy, instead of the one the cases name; without either, the gate's",
} as const

const EXAMPLES = `
Examples:
  sluice policy test cases.yaml
  sluice policy test cases.yaml more-cases.yaml --policy policy.yaml --tools tools.json

A file of cases:
  policy: policy.yaml
  tools: tools.json
  cases:
    - name: small refunds pass
      call: stripe/create_refund
      args: { amount: 100 }
      expect: allow
    - call: github/create_issue
      repeat: 31                    # the last of 31 calls in one instant
      expect: { action: deny, code: RATE_LIMITED }
Also: principal, session, agent, category, method, at, every.`

export function add(parent: Command, answer: SetExitCode): void {
  parent
    .command('test')
    .argument('<cases...>', 'YAML files of cases')
    .option('--config <file>', CASE_POLICY['--config <file>'])
    .option('--policy <file>', CASE_POLICY['--policy <file>'])
    .option('--house <file>', CASE_POLICY['--house <file>'])
    .option('--tools <file>', 'known tools, instead of the file the cases name')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], options: CaseOptions) => {
      const output = new Output(options)
      const runs: CaseRun[] = []
      for (const file of files) runs.push(await runFile(file, options, output))
      const results = runs.flatMap((run) => run.results)
      const failed = results.filter((result) => !result.passed).length
      output.value({
        passed: results.length - failed,
        failed,
        cases: runs.flatMap(({ file, results: ran }) =>
          ran.map((result) => toCaseView(file, result)),
        ),
      })
      for (const run of runs) for (const result of run.results) printResult(run, result, output)
      output.line(`${results.length - failed} passed, ${failed} failed`)
      answer(failed === 0 ? 0 : 1)
    })
}

/** A file of cases that was run. */
export interface CaseRun {
  readonly file: string
  readonly policy: CompiledPolicy
  /** The known tools; empty if there is no file of them. */
  readonly tools: readonly KnownTool[]
  /** One for each case, in the order of the file. */
  readonly results: readonly CaseResult[]
}

/** Reads one file of cases with its policy and tools, and runs it. */
export async function runFile(
  file: string,
  options: CaseOptions,
  output: Output,
): Promise<CaseRun> {
  const text = readText(file)
  const { cases, problems } = readCases({ file, text })
  for (const problem of problems) output.problem(problem, text)
  if (cases === undefined)
    throw new CliError(
      'CLI_ARGUMENT',
      `\`${file}\` is not a file of cases`,
      '`sluice policy test --help` has an example',
      problems,
    )
  const beside = (name: string | undefined) =>
    name === undefined ? undefined : resolve(dirname(file), name)
  const named = options.policy ?? beside(cases.policy)
  const toolsFile = options.tools ?? beside(cases.tools)
  const tools = toolsFile === undefined ? [] : await readTools(toolsFile)
  const { policy } = loadGatePolicy(
    named === undefined ? options : { ...options, policy: named },
    output,
  )
  const toolFor = await createToolFinder(tools)
  if (toolsFile !== undefined) remarkUnknown(file, cases.cases, tools, output)
  const results = cases.cases.map((one) =>
    runCase(policy, one, { toolFor, counters: () => new MemoryCounters() }),
  )
  return { file, policy, tools, results }
}

/** A misspelt tool falls to the default, and a case that expects a denial would pass for it. */
function remarkUnknown(
  file: string,
  cases: readonly PolicyCase[],
  tools: readonly KnownTool[],
  output: Output,
): void {
  const known = new Set(tools.map(toToolId))
  for (const { server, tool, method, line } of cases) {
    const id = `${server}/${tool}`
    if (method !== TOOL_CALL || known.has(id)) continue
    const help = suggestTool(id, tools) ?? 'it is judged by its name alone'
    output.remark(printable(`${file}:${line}: warning: no known tool is \`${id}\`: ${help}`))
  }
}

function printResult({ file, policy }: CaseRun, result: CaseResult, output: Output): void {
  const { name, line } = result.case
  if (result.passed) output.line(`${output.paint('green', 'ok')}    ${printable(name)}`)
  else {
    output.line(
      `${output.paint('red', 'wrong')} ${printable(name)} ${output.paint('dim', `${printable(file)}:${line}`)}`,
    )
    for (const difference of result.differences) output.line(`      ${printable(difference)}`)
    output.dim(
      `      decided by ${getRuleLocation(policy, result.decision.rule)}: ${printable(result.decision.reason || result.decision.code)}`,
    )
  }
}

function toCaseView(file: string, { case: one, passed, differences, decision }: CaseResult) {
  const { action, code, rule, reason } = decision
  return {
    file,
    line: one.line,
    name: one.name,
    passed,
    differences,
    decision: { action, code, rule, reason },
  }
}
