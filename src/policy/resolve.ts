// Which rules and guardrails bear on a call, and in what order. For a tool this is worked out once
// for each accepted definition and kept, so that a decision costs the same under ten rules and
// under ten thousand. What falls away is kept with the reason, for `explain`.

import type { Call, Facts } from '../core/call.ts'
import { CATEGORIES, type Category, type KnownTool } from '../core/tools.ts'
import { type BindProblem, bindExpression, type Program } from './bind-expression.ts'
import { type Declared, declaredArguments } from './declared-types.ts'
import { globMatches, wildcardMatches } from './glob.ts'
import { CONTENT_METHODS, PLUMBING, TOOL_CALL } from './methods.ts'
import { type CompiledPolicy, type NameMap, narrowest } from './policy.ts'
import type { Guardrail, Rule } from './rule.ts'

/** A rule or guardrail made ready for one tool. */
export interface Ready<T extends Rule | Guardrail> {
  readonly rule: T
  /** As told in decisions: `house:` before the pointer of the house's guardrails. */
  readonly pointer: string
  readonly program?: Program
  /** Its `when` does not fit what the tool declares: never decidable. */
  readonly unfit?: string
  readonly declared: Declared
}

export interface Scope {
  readonly category: Category
  readonly classified: boolean
  /** Enforced and counting, by pointer. Empty: the default holds. */
  readonly rules: readonly Ready<Rule>[]
  readonly guardrails: readonly Ready<Guardrail>[]
  readonly house: readonly Ready<Guardrail>[]
  /** As if absent: rules by pointer, then guardrails. */
  readonly shadow: readonly Ready<Rule | Guardrail>[]
  /** What matches and does not count. */
  readonly aside: readonly { readonly pointer: string; readonly why: string }[]
}

export type Resolved = Scope | 'plumbing' | 'unknown-method' | 'unknown-tool'

export function resolve(policy: CompiledPolicy, call: Call, facts: Facts): Resolved {
  if (call.method === TOOL_CALL)
    return facts.tool === undefined ? 'unknown-tool' : toolScope(policy, facts.tool)
  const category = CONTENT_METHODS.get(call.method)
  if (category === undefined) return PLUMBING.has(call.method) ? 'plumbing' : 'unknown-method'
  return contentScope(policy, call, category)
}

export function toolScope(policy: CompiledPolicy, tool: KnownTool): Scope {
  let scope = policy.scopes.get(tool)
  if (scope === undefined) {
    const { server, name, inputSchema } = tool.definition
    const word = classified(policy, server, name)
    const category = word ?? tool.category
    const declared = declaredArguments(inputSchema)
    const named = policy.tools
    const target = { server, name, method: TOOL_CALL }
    scope = buildScope(policy, target, category, named, declared, word !== undefined)
    policy.scopes.set(tool, scope)
  }
  return scope
}

function contentScope(policy: CompiledPolicy, call: Call, category: Category): Scope {
  const { server, name, method } = call
  const named = method.startsWith('resources/')
    ? policy.resources
    : method === 'prompts/get'
      ? policy.prompts
      : undefined
  return buildScope(
    policy,
    { server, name, method },
    category,
    named,
    declaredArguments(undefined),
    false,
  )
}

/** A person's word over the catalogue's: exact before globs, the narrowest globs, the riskiest. */
function classified(policy: CompiledPolicy, server: string, name: string): Category | undefined {
  const exact = policy.classify.exact(server, name)
  if (exact !== undefined) return exact
  const { count } = narrowest(policy.classify.globs(server, name))
  return CATEGORIES.findLast((category) => count.some(({ value }) => value === category))
}

interface Target {
  readonly server: string
  readonly name: string
  readonly method: string
}

function buildScope(
  policy: CompiledPolicy,
  target: Target,
  category: Category,
  named: NameMap<Rule> | undefined,
  declared: Declared,
  classified: boolean,
): Scope {
  const { server, name } = target
  const aside: { pointer: string; why: string }[] = []
  const counting: Rule[] = []
  // A method's own rule takes the place of its category's.
  const ofMethod = policy.methods.get(target.method)
  const ofCategory = policy.categories.get(category)
  const shadow = [...(named?.all(server, name) ?? []), ofMethod, ofCategory].filter(
    (rule) => rule?.shadow,
  ) as Rule[]
  const enforced = [ofMethod, ofCategory].find((rule) => rule && !rule.shadow)
  const exact = named?.exact(server, name)
  const globs = (named?.globs(server, name) ?? []).filter(({ value }) => !value.shadow)
  if (exact !== undefined && !exact.shadow) {
    counting.push(exact)
    for (const { value } of globs)
      aside.push({ pointer: value.pointer, why: 'the exact name stands over it' })
    if (enforced) aside.push({ pointer: enforced.pointer, why: 'the exact name stands over it' })
  } else {
    const { count, wider } = narrowest(globs)
    for (const { glob, than } of wider)
      aside.push({
        pointer: glob.value.pointer,
        why: `\`${than.glob.key}\` is narrower and matches too`,
      })
    counting.push(...count.map(({ value }) => value))
    const lifting =
      enforced === ofCategory ? count.find(({ value }) => value.over.has(category)) : undefined
    if (enforced && lifting)
      aside.push({
        pointer: enforced.pointer,
        why: `lifted by \`over\` of \`${lifting.glob.key}\``,
      })
    else if (enforced) counting.push(enforced)
  }
  const ready = (rule: Rule) => makeReady(rule, rule.pointer, declared)
  const laid = (guardrails: readonly Guardrail[], prefix: string) =>
    guardrails
      .filter((guardrail) => bears(guardrail, target, category))
      .map((guardrail) => makeReady(guardrail, prefix + guardrail.pointer, declared))
  const own = laid(policy.guardrails, '')
  const house = laid(policy.house?.guardrails ?? [], 'house:')
  const houseShadow = policy.house?.shadow === true
  return {
    category,
    classified,
    rules: counting.map(ready).sort((a, b) => (a.pointer < b.pointer ? -1 : 1)),
    guardrails: own.filter(({ rule }) => !rule.shadow),
    house: house.filter(({ rule }) => !rule.shadow && !houseShadow),
    shadow: [
      ...shadow.map(ready).sort((a, b) => (a.pointer < b.pointer ? -1 : 1)),
      ...own.filter(({ rule }) => rule.shadow),
      ...house.filter(({ rule }) => rule.shadow || houseShadow),
    ],
    aside,
  }
}

function bears(
  { match }: Guardrail,
  { server, name, method }: Target,
  category: Category,
): boolean {
  if (match.categories !== undefined && !match.categories.includes(category)) return false
  if (match.methods !== undefined && !match.methods.includes(method)) return false
  if (
    match.servers !== undefined &&
    !match.servers.some((pattern) => wildcardMatches(pattern, server))
  )
    return false
  if (match.tools === undefined) return true
  return method === TOOL_CALL && match.tools.some((glob) => globMatches(glob, server, name))
}

function makeReady<T extends Rule | Guardrail>(
  rule: T,
  pointer: string,
  declared: Declared,
): Ready<T> {
  if (rule.when === undefined) return { rule, pointer, declared }
  const { program, problem } = bindExpression(rule.when.expression, declared, {
    extraArgs: rule.extraArgs,
  })
  return program
    ? { rule, pointer, declared, program }
    : { rule, pointer, declared, unfit: (problem as BindProblem).message }
}
