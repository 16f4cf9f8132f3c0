// How much of a policy its cases cover: every rule, both outcomes of every `when`, every limit met
// and exceeded; and which known tools no case calls.

import type { KnownTool } from '../calls/tools.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import type { TraceStep } from '../decide/trace.ts'
import { type CompiledPolicy, listRules } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { countEach } from '../structures/count-each.ts'
import type { CaseResult } from './run-cases.ts'

/** One outcome of one rule. */
export interface Branch {
  /** JSON Pointer of the rule in the document. */
  readonly rule: string
  /** The key of the rule, or the name of the guardrail. */
  readonly key: string
  /** `met` of a rule without a condition, `true` or `false` of a condition, or the limit that was reached. */
  readonly branch: string
  /** How many steps of the cases took it. */
  readonly hits: number
}

/** How much of a policy its cases cover. */
export interface Coverage {
  readonly branches: readonly Branch[]
  /** How many branches a case took. */
  readonly covered: number
  readonly total: number
  /** Known tools that no case calls. */
  readonly untried: readonly UntriedTool[]
}

/** A known tool that no case calls. */
export interface UntriedTool {
  /** `server/name`. */
  readonly tool: string
  /** JSON Pointers of the rules that would apply to it. */
  readonly rules: readonly string[]
}

/** Counts how often the cases took each branch. Shadow rules are left out: they decide nothing. */
export function measureCoverage(
  policy: CompiledPolicy,
  results: readonly CaseResult[],
  tools: readonly KnownTool[],
): Coverage {
  const steps = results.flatMap(({ traces }) => traces.flat())
  const hits = countEach(steps.flatMap(reached))
  const branches: Branch[] = []
  const add = (rule: Rule | Guardrail, branch: string) =>
    branches.push({
      rule: rule.pointer,
      key: 'key' in rule ? rule.key : rule.name,
      branch,
      hits: hits.get(`${rule.pointer} ${branch}`) ?? 0,
    })
  for (const rule of listRules(policy).filter(({ shadow }) => !shadow)) {
    for (const branch of rule.when === undefined ? ['met'] : ['true', 'false']) add(rule, branch)
    for (const limit of rule.limits) add(rule, `limit ${limit.text} reached`)
  }
  const called = new Set(results.map((result) => `${result.case.server}/${result.case.tool}`))
  const untried = tools
    .map((tool) => ({
      tool: `${tool.definition.server}/${tool.definition.name}`,
      rules: rulesOfTool(policy, tool),
    }))
    .filter(({ tool }) => !called.has(tool))
  return {
    branches,
    covered: branches.filter((branch) => branch.hits > 0).length,
    total: branches.length,
    untried,
  }
}

function rulesOfTool(policy: CompiledPolicy, tool: KnownTool): string[] {
  const { rules, doubted } = getRulesForTool(policy, tool)
  return [...new Set([...rules, ...(doubted?.rules ?? [])].map(({ pointer }) => pointer))]
}

function reached(step: TraceStep): string[] {
  if (step.step === 'rule') return [`${step.rule} ${branchName(step.result)}`]
  if (step.step === 'guardrail' && (step.matched || step.result !== undefined))
    return [`${step.rule} ${branchName(step.result)}`]
  if (step.step === 'limit' && !step.passes) return [`${step.rule} limit ${step.limit} reached`]
  return []
}

function branchName(result: string | undefined): string {
  return result ?? 'met'
}
