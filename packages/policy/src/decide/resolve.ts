// Finds the rules and guardrails that apply to a call, and their order. For a tool this is computed
// once per accepted definition and cached, so that a decision costs the same with ten rules and
// with ten thousand. Rules without effect are listed with the reason, for `explain`.

import type { Call, Facts } from '../calls/call.ts'
import type { ArgumentFlow } from '../calls/provenance.ts'
import { CATEGORIES, type Category, type KnownTool } from '../calls/tools.ts'
import { bindExpression } from '../expression/evaluate/bind-expression.ts'
import type { BindProblem } from '../expression/evaluate/bind-problems.ts'
import { type DeclaredType, readDeclaredArguments } from '../expression/evaluate/declared-types.ts'
import { readUri } from '../expression/functions/resource-uri.ts'
import { globMatches, wildcardMatches } from '../language/glob.ts'
import { CONTENT_METHODS, PLUMBING, TOOL_CALL } from '../language/methods.ts'
import type { ApplicableRules, PreparedRule } from '../model/applicable-rules.ts'
import { type CompiledPolicy, type NameMap, narrowest } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { joinRoles, tightenRoles } from '../provenance/argument-roles.ts'
import { memoizeFor } from '../structures/memoize.ts'

/** The worst category of a tool whose category is a guess. */
const DOUBTED_AS: Category = 'Execute'

export type ResolvedRules = ApplicableRules | 'plumbing' | 'unknown-method' | 'unknown-tool'

export function resolveRules(policy: CompiledPolicy, call: Call, facts: Facts): ResolvedRules {
  if (call.method === TOOL_CALL) return resolveTool(policy, call, facts.tool)
  const category = CONTENT_METHODS.get(call.method)
  if (category === undefined) return PLUMBING.has(call.method) ? 'plumbing' : 'unknown-method'
  const { server, method } = call
  const isResource = method.startsWith('resources/')
  const [named, name] = isResource
    ? [policy.resources, normalName(policy.resources, call.name)]
    : [method === 'prompts/get' ? policy.prompts : undefined, call.name]
  const target = { server, name, method, category, accepted: category, classified: false }
  return buildScope(policy, target, named, readyMaker(readDeclaredArguments(undefined)))
}

/** Rules on resources compare normal forms. */
function normalName({ size }: NameMap<Rule>, uri: string): string {
  return size === 0 ? uri : readUri(uri).readings[0]
}

function resolveTool(
  policy: CompiledPolicy,
  call: Call,
  tool: KnownTool | undefined,
): ResolvedRules {
  if (tool === undefined) return 'unknown-tool'
  const { server, name } = tool.definition
  // Rules use the definition, counters use the call: both must be about the same tool.
  if (server !== call.server || name !== call.name)
    throw new Error(`the call is to another tool than the definition \`${server}/${name}\``)
  return getRulesForTool(policy, tool)
}

/**
 * The rules for the class of this very call, if its arguments make it worse than the tool's: a pipeline that writes, run
 * by a tool that reads. A class that the document gives the tool stays.
 */
export function getRulesForCall(
  policy: CompiledPolicy,
  { tool, callCategory }: Facts,
  { category }: ApplicableRules,
): ApplicableRules | undefined {
  if (tool === undefined || callCategory === undefined) return undefined
  if (CATEGORIES.indexOf(callCategory) <= CATEGORIES.indexOf(category)) return undefined
  const rules = getRulesForTool(policy, viewsOf(tool)[callCategory])
  return rules.category === category ? undefined : rules
}

/** The same tool in each category: rules are cached by the object. */
const viewsOf = memoizeFor((tool: KnownTool): Record<Category, KnownTool> => {
  const views = CATEGORIES.map((category) => [category, { ...tool, category, unknown: false }])
  return Object.fromEntries(views)
})

export function getRulesForTool(policy: CompiledPolicy, tool: KnownTool): ApplicableRules {
  let scope = policy.scopes.get(tool)
  if (scope === undefined) {
    const { server, name, inputSchema } = tool.definition
    const word = classified(policy, server, name)
    const category = word ?? tool.category
    const target = {
      server,
      name,
      method: TOOL_CALL,
      category,
      accepted: tool.category,
      classified: word !== undefined,
    }
    const declared = readDeclaredArguments(inputSchema)
    const make = readyMaker(declared)
    scope = buildScope(policy, target, policy.tools, make)
    // A guess is not a category: the call is decided as Execute too.
    if (tool.unknown === true && word === undefined && category !== DOUBTED_AS) {
      const doubted = { ...target, category: DOUBTED_AS } as const
      scope = { ...scope, doubted: buildScope(policy, doubted, policy.tools, make) }
    }
    policy.scopes.set(tool, scope)
  }
  return scope
}

/**
 * A user's classification overrides the catalogue's: exact before globs, the narrowest globs, the
 * riskiest.
 */
function classified(policy: CompiledPolicy, server: string, name: string): Category | undefined {
  const exact = policy.classify.exact(server, name)
  if (exact !== undefined) return exact
  const { count } = narrowest(policy.classify.globs(server, name))
  return CATEGORIES.findLast((category) => count.some(({ value }) => value === category))
}

interface RuleTarget {
  readonly server: string
  readonly name: string
  readonly method: string
  /** The category that the document's `classify` gives the tool, or else that of the catalogue. */
  readonly category: Category
  readonly classified: boolean
  /** The category that was accepted with the definition. */
  readonly accepted: Category
}

function buildScope(
  policy: CompiledPolicy,
  target: RuleTarget,
  named: NameMap<Rule> | undefined,
  make: ReadyMaker,
): ApplicableRules {
  const { category, accepted, classified } = target
  const { counting, shadow, aside } = rulesThatCount(policy, target, named)
  const ready = (rule: Rule) => make(rule, rule.pointer)
  const listGuardrails = (
    guardrails: readonly Guardrail[],
    classes: readonly Category[],
    prefix: string,
  ) =>
    guardrails
      .filter((guardrail) => bears(guardrail, target, classes))
      .map((guardrail) => make(guardrail, prefix + guardrail.pointer))
  const own = listGuardrails(policy.guardrails, [category], '')
  // The base policy uses either category: no document can reclassify a tool out of its reach.
  const ofBase = listGuardrails(policy.base?.guardrails ?? [], [category, accepted], 'house:')
  const isBaseShadow = policy.base?.shadow === true
  return {
    ...findFlows(policy, target),
    ...findRoles(policy, target),
    category,
    classified,
    rules: counting.map(ready).sort(byPointer),
    guardrails: own.filter(({ rule }) => !rule.shadow),
    base: ofBase.filter(({ rule }) => !rule.shadow && !isBaseShadow),
    shadow: [
      ...shadow.map(ready).sort(byPointer),
      ...own.filter(({ rule }) => rule.shadow),
      ...ofBase.filter(({ rule }) => rule.shadow || isBaseShadow),
    ],
    aside,
  }
}

/** `public` is external to everybody. No document takes a tool out of the reach of the base policy. */
function findFlows(policy: CompiledPolicy, { server, name, method }: RuleTarget) {
  const find = (one: CompiledPolicy | undefined): ArgumentFlow | undefined => {
    if (one === undefined || one.labels.size === 0 || method !== TOOL_CALL) return undefined
    const words = one.labels.all(server, name).flat()
    if (words.includes('external') || words.includes('public')) return 'external'
    return words.includes('internal') ? 'internal' : undefined
  }
  const [own, base] = [find(policy), find(policy.base)]
  return {
    flow: base === 'external' ? base : own,
    baseFlow: own === 'external' ? own : base,
  }
}

/** No document says less of an argument than the base policy does. */
function findRoles(policy: CompiledPolicy, { server, name, method }: RuleTarget) {
  const find = (one: CompiledPolicy | undefined) =>
    one === undefined || one.destinations.size === 0 || method !== TOOL_CALL
      ? undefined
      : joinRoles(one.destinations.all(server, name))
  const [own, base] = [find(policy), find(policy.base)]
  return { roles: tightenRoles(own, base), baseRoles: tightenRoles(base, own) }
}

function byPointer(a: PreparedRule<Rule>, b: PreparedRule<Rule>): number {
  return a.pointer < b.pointer ? -1 : 1
}

/** Step 1 of "How a call is decided". */
function rulesThatCount(
  policy: CompiledPolicy,
  target: RuleTarget,
  named: NameMap<Rule> | undefined,
) {
  const { server, name, category } = target
  const aside: { pointer: string; why: string }[] = []
  const ofMethod = policy.methods.get(target.method)
  const ofCategory = policy.categories.get(category)
  const shadow = [...(named?.all(server, name) ?? []), ofMethod, ofCategory].filter(
    (rule) => rule?.shadow,
  ) as Rule[]
  // A method's own rule replaces its category's.
  const general = [ofMethod, ofCategory].find((rule) => rule && !rule.shadow)
  const exact = named?.exact(server, name)
  const globs = (named?.globs(server, name) ?? []).filter(({ value }) => !value.shadow)
  if (exact !== undefined && !exact.shadow) {
    for (const rule of [...globs.map(({ value }) => value), ...(general ? [general] : [])])
      aside.push({ pointer: rule.pointer, why: 'the exact name overrides it' })
    return { counting: [exact], shadow, aside }
  }
  const { count, wider } = narrowest(globs)
  const counting = count.map(({ value }) => value)
  for (const { glob, than } of wider) {
    const why = `\`${than.glob.key}\` is narrower and matches too`
    aside.push({ pointer: glob.value.pointer, why })
  }
  const lifting = general === ofCategory && count.find(({ value }) => value.over.has(category))
  if (general && lifting)
    aside.push({ pointer: general.pointer, why: `lifted by \`over\` of \`${lifting.glob.key}\`` })
  else if (general) counting.push(general)
  return { counting, shadow, aside }
}

function bears(
  { match }: Guardrail,
  { server, name, method }: RuleTarget,
  classes: readonly Category[],
): boolean {
  if (match.categories && !classes.some((one) => match.categories?.includes(one))) return false
  if (match.methods !== undefined && !match.methods.includes(method)) return false
  if (
    match.servers !== undefined &&
    !match.servers.some((pattern) => wildcardMatches(pattern, server))
  )
    return false
  if (match.tools === undefined) return true
  return method === TOOL_CALL && match.tools.some((glob) => globMatches(glob, server, name))
}

type ReadyMaker = <T extends Rule | Guardrail>(rule: T, pointer: string) => PreparedRule<T>

/** Each rule is prepared once per tool, unless it reads the category, which may be one of two. */
function readyMaker(declared: DeclaredType): ReadyMaker {
  const made = new Map<string, PreparedRule<Rule | Guardrail>>()
  return <T extends Rule | Guardrail>(rule: T, pointer: string) => {
    const ready = made.get(pointer) ?? makeReady(rule, pointer, declared)
    if (!readsClass(rule)) made.set(pointer, ready)
    return ready as PreparedRule<T>
  }
}

function readsClass({ when }: Rule | Guardrail): boolean {
  return when?.expression.variables.some(({ path }) => path[0] === 'category') ?? false
}

function makeReady<T extends Rule | Guardrail>(
  rule: T,
  pointer: string,
  declared: DeclaredType,
): PreparedRule<T> {
  if (rule.when === undefined) return { rule, pointer, declared }
  const { program, problem } = bindExpression(rule.when.expression, declared, {
    extraArgs: rule.extraArgs,
  })
  return program
    ? { rule, pointer, declared, program }
    : { rule, pointer, declared, unfit: (problem as BindProblem).message }
}
