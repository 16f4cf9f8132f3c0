// A policy held against the tools that are known: rules no tool can match, globs that narrower
// rules have emptied, arguments nobody declares, expressions that do not fit the declared types.
// An error in `check`; a warning at start, so that no server can stop a policy from loading.

import type { KnownTool } from '../core/tools.ts'
import { type BindProblem, bindExpression } from './bind-expression.ts'
import { type Declared, declaredArguments, declaredAt } from './declared-types.ts'
import { globMatches } from './glob.ts'
import { nearest } from './nearest.ts'
import { pathText } from './parse-limit.ts'
import type { CompiledPolicy } from './policy.ts'
import type { Problems, Severity } from './problem.ts'
import { toolScope } from './resolve.ts'
import type { Guardrail, Rule } from './rule.ts'

export function checkAgainstTools(policy: CompiledPolicy, tools: readonly KnownTool[], severity: Severity, problems: Problems): void {
  const declared = new Map(tools.map((tool) => [tool, declaredArguments(tool.definition.inputSchema)]))
  const meets = new Map<Rule | Guardrail, KnownTool[]>()
  const counts = new Set<Rule | Guardrail>()
  const meet = (rule: Rule | Guardrail, tool: KnownTool) => {
    const list = meets.get(rule)
    if (list === undefined) meets.set(rule, [tool])
    else list.push(tool)
  }
  for (const tool of tools) {
    const { server, name } = tool.definition
    const scope = toolScope(policy, tool)
    for (const rule of policy.tools.all(server, name)) meet(rule, tool)
    for (const { rule } of [...scope.rules, ...scope.shadowRules]) counts.add(rule)
    for (const { rule } of [...scope.guardrails, ...scope.shadowGuardrails]) meet(rule, tool)
    const general = policy.categories.get(scope.category)
    if (general !== undefined) meet(general, tool)
  }
  const report = (offset: number, problem: BindProblem) =>
    problems.add(severity, problem.code, offset, problem.message, problem.help)
  for (const rule of policy.tools.values()) {
    if (!meets.has(rule)) report(rule.at, unmatched(rule, tools))
    else if (!counts.has(rule))
      problems.warn('POLICY_UNREACHABLE', rule.at, `\`${rule.key}\` never counts: exact names or narrower globs take all its tools`, 'take it away, or widen it')
  }
  for (const [rule, met] of meets) checkArguments(rule, met, declared, report)
}

/** An exact rule fits its tool; one that meets several must fit at least one of them. */
function checkArguments(
  rule: Rule | Guardrail,
  tools: readonly KnownTool[],
  declared: ReadonlyMap<KnownTool, Declared>,
  report: (offset: number, problem: BindProblem) => void,
): void {
  const schemas = tools.map((tool) => declared.get(tool) as Declared)
  if (rule.when !== undefined) {
    const { expression, at } = rule.when
    const bound = schemas.map((schema) => bindExpression(expression, schema, { extraArgs: rule.extraArgs }))
    const [first] = bound
    if (first?.problem !== undefined && bound.every(({ problem }) => problem !== undefined))
      report(at + first.problem.at, plural(first.problem, tools.length))
  }
  for (const limit of rule.limits) {
    const perPaths = limit.per.flatMap((part) => (part.by === 'args' ? [part.path] : []))
    const amountPaths = limit.amount?.factors.filter((factor) => !('units' in factor)) ?? []
    for (const path of [...perPaths, ...(amountPaths as (readonly string[])[])]) {
      if (schemas.some((schema) => declaredAt(schema, path) !== undefined)) continue
      const names = schemas.flatMap((schema) => [...(schema.properties?.keys() ?? [])])
      const near = nearest(path[0] as string, new Set(names))
      report(rule.at, {
        code: 'POLICY_UNKNOWN_ARGUMENT',
        at: 0,
        message: `${tools.length === 1 ? 'the tool declares' : `none of ${tools.length} tools declares`} no \`${pathText(path)}\`, which a limit reads`.replace('declares no', tools.length === 1 ? 'declares no' : 'declares'),
        help: near === undefined ? 'limit by an argument the tool has' : `did you mean \`args.${near}\`?`,
      })
    }
  }
}

function plural(problem: BindProblem, count: number): BindProblem {
  if (count === 1) return problem
  return { ...problem, message: problem.message.replace('the tool declares no', `none of the ${count} tools it meets declares the`) }
}

function unmatched(rule: Rule, tools: readonly KnownTool[]): BindProblem {
  const names = new Set(tools.map(({ definition }) => `${definition.server}/${definition.name}`))
  const server = rule.key.slice(0, rule.key.indexOf('/'))
  const servers = new Set(tools.map(({ definition }) => definition.server))
  const known = rule.glob === undefined ? servers.has(server) : tools.some(({ definition }) => globMatches({ ...(rule.glob as NonNullable<Rule['glob']>), name: '*' }, definition.server, ''))
  const near = nearest(rule.key, names)
  const help = near !== undefined ? `did you mean \`${near}\`?` : known ? `no tool of this server is called so; it has ${tools.filter(({ definition }) => definition.server === server).length}` : `no tool of a server \`${server}\` is known; known servers: ${[...servers].slice(0, 8).join(', ')}`
  return { code: 'POLICY_UNMATCHED', at: 0, message: `no known tool matches \`${rule.key}\``, help }
}
