// The steps of `sluice ci`: check, test, prove, coverage. Each runs as its own command does. A step that
// cannot run (a file with errors) has failed, and the others still run.

import type { KnownTool } from '@sluice/policy/calls/tools'
import { measureCoverage } from '@sluice/policy/cases/coverage'
import { compile } from '@sluice/policy/compile/compile'
import { errorsIn, type Problem } from '@sluice/policy/document/problem'
import { type CompiledPolicy, listRules } from '@sluice/policy/model/policy'
import { proveFile } from '../policy/prove.ts'
import { type CaseRun, runFile } from '../policy/test.ts'
import { CliError } from '../terminal/errors.ts'
import { getRuleLocation } from '../terminal/explanation.ts'
import { loadBasePolicy } from '../terminal/load-policy.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import type { CiCheck, CiStep } from './ci-report.ts'

export interface CiInputs {
  readonly policy: string
  readonly house?: string
  readonly tools?: string
  readonly cases: readonly string[]
  readonly properties?: string
  readonly coverageMin: number
}

/** The first step, and the policy for the others. */
export interface CheckedPolicy {
  /** Undefined if the policy has errors: then no other step can run. */
  readonly policy: CompiledPolicy | undefined
  readonly step: CiStep
}

export function checkPolicy(
  { policy: file, house }: CiInputs,
  tools: readonly KnownTool[] | undefined,
  output: Output,
): CheckedPolicy {
  const text = readText(file)
  const options = { ...(tools ? { tools } : {}), ...loadBasePolicy(house, output) }
  const { policy, problems } = compile({ file, text }, options)
  const errors = errorsIn(problems).length
  const checks = problems.map(toCheck)
  const passed: CiCheck = { rule: 'check', name: file, level: 'passed', file, line: 1 }
  const step: CiStep = {
    name: 'check',
    status: policy === undefined ? 'failed' : 'passed',
    summary: `${plural(errors, 'error')}, ${plural(problems.length - errors, 'warning')}`,
    checks: policy === undefined ? checks : [passed, ...checks],
  }
  return { policy, step }
}

function toCheck({ code, severity, message, help, file, line, column }: Problem): CiCheck {
  const level = severity === 'error' ? 'failed' : 'warning'
  return { rule: code, name: `${file}:${line}`, level, file, line, column, message, help }
}

export async function testPolicy(
  inputs: CiInputs,
  output: Output,
): Promise<{ readonly step: CiStep; readonly runs: readonly CaseRun[] }> {
  const { cases, policy, house, tools } = inputs
  if (cases.length === 0) return { step: skip('test', 'no cases'), runs: [] }
  const options = { policy, ...(house ? { house } : {}), ...(tools ? { tools } : {}) }
  const runs: CaseRun[] = []
  const checks: CiCheck[] = []
  for (const file of cases)
    try {
      const run = await runFile(file, options, output)
      runs.push(run)
      checks.push(...run.results.map((result) => toCaseCheck(run, result)))
    } catch (error) {
      checks.push(...toFailures('test', file, error))
    }
  const failed = checks.filter(({ level }) => level === 'failed').length
  const summary = `${checks.length - failed} passed, ${failed} failed`
  return { step: { name: 'test', status: failed > 0 ? 'failed' : 'passed', summary, checks }, runs }
}

function toCaseCheck({ file, policy }: CaseRun, result: CaseRun['results'][number]): CiCheck {
  const { case: one, passed, differences, decision } = result
  const by = `decided by ${getRuleLocation(policy, decision.rule)}: ${decision.reason || decision.code}`
  return {
    rule: 'test',
    name: one.name,
    file,
    line: one.line,
    ...(passed
      ? { level: 'passed' }
      : { level: 'failed', message: differences.join('; '), help: by }),
  }
}

export async function provePolicy(inputs: CiInputs, output: Output): Promise<CiStep> {
  const { properties: file, tools, policy, house } = inputs
  if (file === undefined) return skip('prove', 'no properties')
  if (tools === undefined) return skip('prove', 'no file of tools to prove them over')
  try {
    const options = { policy, tools, ...(house ? { house } : {}) }
    const { proofs, policy: compiled } = await proveFile(file, options, output)
    const checks = proofs.map(({ property, result, tools: ofTools }): CiCheck => {
      const place = { rule: 'prove', name: property.name, file, line: property.line }
      if (result === 'proved') return { ...place, level: 'passed' }
      const broken = ofTools.filter((proof) => proof.result !== 'proved')
      const named = broken.slice(0, TOOLS_NAMED_MAX).map((proof) => {
        if (proof.result !== 'refuted') return proof.tool
        return `${proof.tool}: ${proof.action} by ${getRuleLocation(compiled, proof.rule)}`
      })
      const more = broken.length > named.length ? ` and ${broken.length - named.length} more` : ''
      const help = '`sluice policy prove` shows the calls'
      return { ...place, level: 'failed', message: `${result}: ${named.join('; ')}${more}`, help }
    })
    const failed = checks.filter(({ level }) => level === 'failed').length
    const summary = `${checks.length - failed} of ${plural(checks.length, 'property', 'properties')} proved`
    return { name: 'prove', status: failed > 0 ? 'failed' : 'passed', summary, checks }
  } catch (error) {
    const checks = toFailures('prove', file, error)
    return { name: 'prove', status: 'failed', summary: 'could not run', checks }
  }
}

const TOOLS_NAMED_MAX = 5

/** Over all case files together. */
export function measurePolicy(inputs: CiInputs, runs: readonly CaseRun[]): CiStep {
  const [first] = runs
  if (first === undefined) return skip('coverage', 'no cases', inputs.coverageMin > 0)
  const { policy, tools } = first
  const results = runs.flatMap((run) => run.results)
  const { branches, covered, total, untried } = measureCoverage(policy, results, tools)
  const percent = total === 0 ? 100 : (100 * covered) / total
  const isEnough = percent >= inputs.coverageMin
  const rules = new Map(listRules(policy).map((rule) => [rule.pointer, rule]))
  const missed = branches
    .filter(({ hits }) => hits === 0)
    .map(({ rule, key, branch }): CiCheck => {
      const at = policy.position(rules.get(rule)?.at ?? 0)
      const what = branch === 'met' ? 'is tried by no case' : `is tried by no case: ${branch}`
      return {
        rule: 'coverage',
        name: `${key} ${branch}`,
        level: 'warning',
        file: inputs.policy,
        line: at.line,
        column: at.column,
        message: `\`${key}\` ${what}`,
      }
    })
  const uncalled = untried.length > 0 ? `, no case calls ${plural(untried.length, 'tool')}` : ''
  const name = `at least ${inputs.coverageMin} %`
  const whole: CiCheck = {
    rule: 'coverage',
    name,
    file: inputs.policy,
    line: 1,
    level: isEnough ? 'passed' : 'failed',
    message: `${Math.floor(percent)} % of the branches are tried`,
    help: 'add a case for each line that `sluice policy coverage` marks',
  }
  return {
    name: 'coverage',
    status: isEnough ? 'passed' : 'failed',
    summary: `${Math.floor(percent)} % (${covered} of ${total} branches)${uncalled}`,
    checks: [whole, ...missed],
  }
}

/** Skips a step whose files are missing. If a threshold is set for it, that is a failure: it cannot be met. */
export function skip(name: CiStep['name'], why: string, hasThreshold = false): CiStep {
  return { name, status: hasThreshold ? 'failed' : 'skipped', summary: why, checks: [] }
}

/** A file that cannot be read is a failure of its step, with its problems. */
export function toFailures(rule: string, file: string, error: unknown): CiCheck[] {
  if (!(error instanceof CliError)) throw error
  if (error.problems.length > 0) return error.problems.map(toCheck)
  const { message, help } = error
  const line = Number(/:(\d+): /.exec(message)?.[1] ?? 1)
  return [{ rule, name: file, level: 'failed', file, line, message, help }]
}
