// Checks a policy against the known tools and servers: names no tool has, globs that narrower rules have made
// ineffective, arguments that are not declared, expressions that do not fit the declared types. An
// error in `check`; a warning at start, so that no server can stop a policy from loading.

import type { KnownTool } from '../calls/tools.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { asMap } from '../document/check-shape.ts'
import { PROBLEMS_MAX } from '../document/limits.ts'
import { nearest } from '../document/nearest.ts'
import type { Problems, Severity } from '../document/problem.ts'
import { findEntry, type LocatedMap, type LocatedScalar } from '../document/read-document.ts'
import { bindExpression } from '../expression/evaluate/bind-expression.ts'
import { type BindProblem, toUndeclaredProblem } from '../expression/evaluate/bind-problems.ts'
import {
  type DeclaredType,
  findDeclared,
  readDeclaredArguments,
} from '../expression/evaluate/declared-types.ts'
import { globMatches, parseGlob, wildcardMatches } from '../language/glob.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { checkLastReads } from './check-last.ts'

/** `at` of what is reported is an offset into the document. */
type ReportBindProblem = (problem: BindProblem) => void

const NAMES_SHOWN_MAX = 8

interface ToolCheckOptions {
  readonly tools: readonly KnownTool[]
  readonly severity: Severity
  readonly problems: Problems
}

export function checkAgainstTools(
  policy: CompiledPolicy,
  document: LocatedMap,
  { tools, severity, problems }: ToolCheckOptions,
): void {
  const report: ReportBindProblem = ({ code, at, message, help }) =>
    problems.add(severity, code, { offset: at, message, help })
  const known = new ToolNameIndex(tools)
  for (const name of [...writtenNames(document), ...listCalledNames(policy)])
    if (!known.matches(name)) report(known.unmatched(name))
  for (const server of matchEntries(document, 'servers'))
    if (!known.hasServer(server)) report(known.unknownServer(server))
  const { met, counting } = meetings(policy, tools)
  for (const rule of policy.tools.values())
    if (met.has(rule) && !counting.has(rule))
      problems.warn(
        'POLICY_UNREACHABLE',
        rule.at,
        `\`${rule.key}\` never counts: exact names or narrower globs take all its tools`,
        'take it away, or widen it',
      )
  const declared = new Map(
    tools.map((tool) => [tool, readDeclaredArguments(tool.definition.inputSchema)]),
  )
  checkDestinations(document, declared, report)
  checkLastReads(policy, { tools, severity, problems })
  for (const [rule, list] of met)
    checkArguments(
      rule,
      list,
      list.map((tool) => declared.get(tool) as DeclaredType),
      report,
    )
}

/** A rule for a server that is not there decides nothing, and its name may be mistyped. A warning, once for each
 * server: it may come later. */
export function checkAgainstServers(
  policy: CompiledPolicy,
  document: LocatedMap,
  servers: readonly string[],
  problems: Problems,
): void {
  const reported = new Set<string>()
  const names = [...writtenNames(document), ...listCalledNames(policy)].map(({ value, at }) => ({
    server: parseGlob(String(value)).server,
    at,
  }))
  const matched = matchEntries(document, 'servers').map(({ value, at }) => ({
    server: String(value),
    at,
  }))
  for (const { server, at } of [...names, ...matched]) {
    const isKnown = servers.some((known) => wildcardMatches(server, known))
    if (isKnown || reported.has(server)) continue
    const near = reported.size < PROBLEMS_MAX ? nearest(server, servers) : undefined
    reported.add(server)
    problems.warn(
      'POLICY_UNMATCHED',
      at,
      `no server is called \`${server}\`, so this has no effect`,
      near === undefined ? `the servers are ${listNames(servers)}` : `did you mean \`${near}\`?`,
    )
  }
}

/** A tool or glob, and the offset of what names it. */
type WrittenName = Pick<LocatedScalar, 'value' | 'at'>

/** The tools that conditions read of the session's past. A misspelt one was never called, so that a guardrail
 * which waits for it would never apply. */
function listCalledNames(policy: CompiledPolicy): WrittenName[] {
  const { tools, categories, resources, prompts, methods, guardrails } = policy
  const sections = [tools, categories, resources, prompts, methods]
  const rules = [...sections.flatMap((section) => [...section.values()]), ...guardrails]
  return rules.flatMap(({ when, limits }) => [
    ...(when?.expression.namedTools ?? []).map(({ value, at }) => ({
      value,
      at: when?.placeOf(at) ?? at,
    })),
    ...limits.flatMap(({ maxOf }) =>
      maxOf === undefined ? [] : { value: maxOf.read.tool, at: maxOf.at },
    ),
  ])
}

/** Everything in the sections of the document that names tools. */
function writtenNames(document: LocatedMap): LocatedScalar[] {
  const keys = ['tools', 'labels', 'classify', 'egress', 'destinations', 'trust'].flatMap(
    (section) => asMap(findEntry(document, section)).entries.map(({ key }) => key),
  )
  return [...keys, ...matchEntries(document, 'tools')]
}

function matchEntries(document: LocatedMap, field: 'tools' | 'servers'): LocatedScalar[] {
  const guardrails = findEntry(document, 'guardrails')
  if (guardrails?.kind !== 'list') return []
  return guardrails.items.flatMap((guardrail) => {
    const list = findEntry(asMap(findEntry(asMap(guardrail), 'match')), field)
    return list?.kind === 'list' ? (list.items as readonly LocatedScalar[]) : []
  })
}

/** The names servers list, and the problem text for one that is not among them. */
class ToolNameIndex {
  readonly #byServer = new Map<string, string[]>()
  #suggestions = 0

  constructor(tools: readonly KnownTool[]) {
    for (const { definition } of tools) {
      const names = this.#byServer.get(definition.server)
      if (names === undefined) this.#byServer.set(definition.server, [definition.name])
      else names.push(definition.name)
    }
  }

  matches({ value }: WrittenName): boolean {
    const glob = parseGlob(String(value))
    return [...this.#byServer].some(([server, names]) =>
      names.some((name) => globMatches(glob, server, name)),
    )
  }

  hasServer({ value }: LocatedScalar): boolean {
    return [...this.#byServer.keys()].some((server) => wildcardMatches(String(value), server))
  }

  unmatched({ value, at }: WrittenName): BindProblem {
    const { key, server, name } = parseGlob(String(value))
    const names = [...this.#byServer].flatMap(([known, list]) =>
      wildcardMatches(server, known) ? list : [],
    )
    const help =
      names.length === 0
        ? this.#serverHelp(server, `/${name}`)
        : this.#nameHelp(server, name, names)
    return { code: 'POLICY_UNMATCHED', at, message: `no known tool matches \`${key}\``, help }
  }

  unknownServer({ value, at }: LocatedScalar): BindProblem {
    return {
      code: 'POLICY_UNMATCHED',
      at,
      message: `no known server matches \`${value}\``,
      help: this.#serverHelp(String(value), ''),
    }
  }

  #serverHelp(server: string, rest: string): string {
    const servers = [...this.#byServer.keys()]
    const near = this.#nearest(server, servers)
    return near === undefined
      ? `known servers: ${listNames(servers)}`
      : `did you mean \`${near}${rest}\`?`
  }

  #nameHelp(server: string, name: string, names: readonly string[]): string {
    const near = this.#nearest(name, names)
    return near === undefined
      ? `\`${server}\` has ${listNames(names)}`
      : `did you mean \`${server}/${near}\`?`
  }

  /**
   * Limited to the number of problems shown: ten thousand rules against a thousand names would take
   * minutes.
   */
  #nearest(word: string, words: readonly string[]): string | undefined {
    return this.#suggestions++ < PROBLEMS_MAX ? nearest(word, words) : undefined
  }
}

function listNames(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN_MAX
  const list = names.slice(0, NAMES_SHOWN_MAX).map((name) => `\`${name}\``)
  return `${list.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}` || 'none'
}

/** An argument that no tool declares: a mistyped name would leave the one that is meant unchecked. */
function checkDestinations(
  document: LocatedMap,
  tools: ReadonlyMap<KnownTool, DeclaredType>,
  report: ReportBindProblem,
): void {
  for (const { key, value } of asMap(findEntry(document, 'destinations')).entries) {
    const glob = parseGlob(String(key.value))
    const schemas = [...tools]
      .filter(([{ definition }]) => globMatches(glob, definition.server, definition.name))
      .map(([, schema]) => schema)
    for (const { key: argument } of asMap(value).entries) {
      const path = String(argument.value).split('.')
      if (schemas.length > 0 && schemas.every((one) => findDeclared(one, path) === undefined))
        report(toUndeclaredProblem(path, argument.at, schemas))
    }
  }
}

/** The tools each rule and guardrail matches, and the rules that apply to one of them. */
function meetings(policy: CompiledPolicy, tools: readonly KnownTool[]) {
  const met = new Map<Rule | Guardrail, KnownTool[]>()
  const counting = new Set<Rule | Guardrail>()
  const meet = (rule: Rule | Guardrail, tool: KnownTool) => {
    const list = met.get(rule)
    if (list === undefined) met.set(rule, [tool])
    else list.push(tool)
  }
  for (const tool of tools) {
    const { server, name } = tool.definition
    const whole = getRulesForTool(policy, tool)
    for (const rule of policy.tools.all(server, name)) meet(rule, tool)
    const own = new Set<Rule | Guardrail>(policy.guardrails)
    const generals = new Set<Rule>()
    const specific = new Set<Rule | Guardrail>()
    for (const scope of [whole, ...(whole.doubted ? [whole.doubted] : [])]) {
      for (const { rule } of [...scope.rules, ...scope.shadow]) counting.add(rule)
      for (const { rule } of [...scope.guardrails, ...scope.shadow])
        if (own.has(rule)) specific.add(rule)
      const general = policy.categories.get(scope.category)
      if (general !== undefined) generals.add(general)
    }
    for (const rule of [...specific, ...generals]) meet(rule, tool)
  }
  return { met, counting }
}

/** A rule that matches several tools must fit at least one of them. */
function checkArguments(
  rule: Rule | Guardrail,
  tools: readonly KnownTool[],
  schemas: readonly DeclaredType[],
  report: ReportBindProblem,
): void {
  if (rule.when !== undefined) {
    const problem = misfit(rule, tools, schemas)
    if (problem !== undefined)
      report({
        ...problem,
        at: rule.when.placeOf(problem.at),
        message: `in \`when\`: ${problem.message}`,
      })
  }
  for (const { path, at } of rule.limits.flatMap((limit) => limit.reads))
    if (schemas.every((schema) => findDeclared(schema, path) === undefined))
      report(toUndeclaredProblem(path, at, schemas))
}

/** Why `when` fits none of the tools; undefined if it fits one. */
function misfit(
  { when, extraArgs }: Rule | Guardrail,
  tools: readonly KnownTool[],
  schemas: readonly DeclaredType[],
): BindProblem | undefined {
  const { expression } = when as NonNullable<Rule['when']>
  let first: BindProblem | undefined
  for (const schema of schemas) {
    const { problem } = bindExpression(expression, schema, { extraArgs })
    if (problem === undefined) return undefined
    first ??= problem
  }
  if (first === undefined || schemas.length === 1) return first
  const nowhere = expression.variables.find(
    ({ root, path }) =>
      root === 'args' && schemas.every((schema) => findDeclared(schema, path) === undefined),
  )
  if (nowhere !== undefined && !extraArgs)
    return toUndeclaredProblem(nowhere.path, nowhere.at, schemas)
  const { server, name } = (tools[0] as KnownTool).definition
  return {
    ...first,
    help: `it fits none of the ${tools.length} tools it meets; for \`${server}/${name}\`: ${first.help}`,
  }
}
