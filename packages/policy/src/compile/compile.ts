// Compiles a document to a policy: reads it, validates it against the language's shape, parses the
// rules and, if tools are known, binds every rule to the tools it matches. Errors are returned as
// problems.

import type { Action } from '../calls/actions.ts'
import { DATA_KINDS } from '../calls/data-kinds.ts'
import type { ArgumentRole, ProtectionLevel } from '../calls/provenance.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { asMap, checkShape } from '../document/check-shape.ts'
import { readSection, scalar, strings } from '../document/fields.ts'
import { type Problem, Problems, type Severity } from '../document/problem.ts'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
  readDocument,
} from '../document/read-document.ts'
import { normaliseUriPattern } from '../expression/functions/resource-uri.ts'
import { parseGlob } from '../language/glob.ts'
import { DOCUMENT } from '../language/language.ts'
import { DOCUMENT_PATTERN_STEPS_MAX } from '../language/limits.ts'
import { type CompiledPolicy, NameMap } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { runSteps, type Steps } from '../structures/steps.ts'
import { checkAgainstServers, checkAgainstTools } from './check-tools.ts'
import { noEffect } from './no-effect.ts'
import { parseAnswers, parseCanaries, parseEgress } from './parse-data-rules.ts'
import { parseGuardrail } from './parse-guardrail.ts'
import { parseRule, type RuleSection } from './parse-rule.ts'
import type { RuleContext } from './parse-rule-fields.ts'
import { parseTrust } from './parse-trust.ts'
import { buildProtectionGuardrails, PROTECTION_PARTS } from './protection-guardrails.ts'

/**
 * A document as it was read. `file` is what problems name.
 *
 * @example
 * ```ts
 * const source: PolicySource = { file: 'policy.yaml', text: readFileSync('policy.yaml', 'utf8') }
 * ```
 */
export interface PolicySource {
  readonly file: string
  readonly text: string
  /** The result of `readPolicyTree`, if it was called before. */
  readonly tree?: LocatedNode | undefined
}

/**
 * How `compile` names and checks a document.
 *
 * @example
 * ```ts
 * compile(source, { name: 'support', tools, unmatched: 'warning' })
 * ```
 */
export interface CompileOptions {
  /** The document's name under `policies:`; part of its counters' keys. */
  readonly name?: string
  /** If given, rules are checked against the tools they match. */
  readonly tools?: readonly KnownTool[]
  /** If given, names of other servers are warnings. */
  readonly servers?: readonly string[]
  /** How a rule that fits no known tool is reported: an error in `check`, a warning at start. */
  readonly unmatched?: Severity
  /** The base policy, whose guardrails apply on top of this document. */
  readonly base?: CompiledPolicy
}

/**
 * The compiled policy, and every problem of its document.
 *
 * @example
 * ```ts
 * const { policy, problems } = compile(source)
 * if (policy === undefined) throw new Error(problems[0]?.message)
 * ```
 */
export interface CompileResult {
  /** Absent if there are errors: a document with errors decides nothing. */
  readonly policy?: CompiledPolicy
  readonly problems: readonly Problem[]
}

const LABELS_ALWAYS: readonly string[] = ['private', 'untrusted', 'injection', ...DATA_KINDS]

/**
 * Compiles a policy document, once for any number of decisions. Never throws: what is wrong with the
 * document is in `problems`.
 *
 * @example
 * ```ts
 * const { policy } = compile({ file: 'policy.yaml', text: 'version: 1\ndefault: deny' })
 * ```
 */
export function compile(source: PolicySource, options: CompileOptions = {}): CompileResult {
  return runSteps(compileSteps(source, options))
}

/**
 * The tree of a document that has the shape of a policy; undefined after reporting why not. This is
 * most of the cost of compiling and cannot pause: for long documents the gate runs it in another
 * thread.
 */
export function readPolicyTree(text: string, problems: Problems): LocatedNode | undefined {
  const tree = readDocument(text, problems)
  if (tree === undefined || !checkShape(tree, DOCUMENT, 'the document', problems)) return undefined
  return tree
}

/** Compiles like `compile`, with a pause after each rule. */
export function* compileSteps(
  source: PolicySource,
  options: CompileOptions = {},
): Steps<CompileResult> {
  const problems = new Problems(source.file, source.text)
  const tree = source.tree ?? readPolicyTree(source.text, problems)
  if (tree === undefined) return { problems: problems.sorted() }
  const policy = yield* build(asMap(tree), problems, options)
  if (options.tools !== undefined && !problems.hasErrors)
    checkAgainstTools(policy, asMap(tree), {
      tools: options.tools,
      severity: options.unmatched ?? 'error',
      problems,
    })
  if (options.servers !== undefined && !problems.hasErrors)
    checkAgainstServers(policy, asMap(tree), options.servers, problems)
  return problems.hasErrors
    ? { problems: problems.sorted() }
    : { policy, problems: problems.sorted() }
}

function* build(
  document: LocatedMap,
  problems: Problems,
  options: CompileOptions,
): Steps<CompiledPolicy> {
  const name = options.name ?? 'policy'
  const labels = new NameMap(readSection(document, 'labels', strings))
  const known = new Set([...LABELS_ALWAYS, ...[...labels.values()].flat()])
  const context: RuleContext = {
    problems,
    labels: known,
    budget: { patternSteps: DOCUMENT_PATTERN_STEPS_MAX },
    document: name,
  }
  const protect = scalar(document, 'protect') as ProtectionLevel | undefined
  const guardrails = yield* parseGuardrails(document, context, protect)
  const categories = yield* parseRules('categories', document, context)
  const methods = yield* parseRules('methods', document, context)
  const tools = yield* parseRules('tools', document, context)
  const resources = yield* parseRules('resources', document, context)
  const prompts = yield* parseRules('prompts', document, context)
  checkQuiet(document, [...guardrails, ...categories, ...methods, ...tools], problems)
  return {
    name,
    file: problems.file,
    position: (offset) => problems.position(offset),
    fallback: scalar(document, 'default') as Action,
    shadow: scalar(document, 'mode') === 'shadow',
    categories: new Map(categories.map((rule) => [rule.key as Category, rule])),
    methods: new Map(methods.map((rule) => [rule.key, rule])),
    tools: byName(tools),
    resources: new NameMap<Rule>(resourceRules(resources, problems)),
    prompts: byName(prompts),
    guardrails,
    ...(protect === undefined ? {} : { protect }),
    isQuiet: scalar(document, 'quiet') === 'reads' && options.base?.isQuiet !== false,
    labels,
    labelScope: parseLabelScope(document, options.base),
    answers: parseAnswers(document, problems, protect),
    egress: parseEgress(document, problems),
    canaries: parseCanaries(document, problems),
    classify: new NameMap(readSection(document, 'classify', (node) => wordAt<Category>(node))),
    destinations: new NameMap(readSection(document, 'destinations', readRoles)),
    trust: parseTrust(document, problems),
    ...(options.base === undefined ? {} : { base: options.base }),
    scopes: new WeakMap(),
  }
}

/** A question is answered only for a call that a rule or an approver lets pass. */
function checkQuiet(
  document: LocatedMap,
  rules: readonly (Rule | Guardrail)[],
  problems: Problems,
): void {
  if (scalar(document, 'quiet') === undefined) return
  const isObserved = scalar(document, 'mode') === 'shadow'
  const isPassed =
    scalar(document, 'default') === 'require_approval' ||
    rules.some((rule) => !rule.shadow && listActions(rule).some(passes))
  if (isPassed && !isObserved) return
  const message = isObserved
    ? 'nothing is answered while the policy only observes'
    : 'nothing is answered, because no rule allows a call or asks for approval'
  const help = isObserved
    ? 'take `mode: shadow` out, or `quiet`'
    : 'write such a rule, or take `quiet` out'
  noEffect(document, 'quiet', { message, help, problems })
}

function listActions(rule: Rule | Guardrail): readonly (Action | undefined)[] {
  return 'otherwise' in rule ? [rule.action, rule.otherwise] : [rule.action]
}

function passes(action: Action | undefined): boolean {
  return action === 'allow' || action === 'require_approval'
}

/** The base policy can only widen it: a caller that has seen more labels is denied more. */
function parseLabelScope(
  document: LocatedMap,
  base: CompiledPolicy | undefined,
): CompiledPolicy['labelScope'] {
  const isWide = scalar(document, 'label_scope') === 'principal'
  return isWide || base?.labelScope === 'principal' ? 'principal' : 'session'
}

/** The rules for resources by their keys in normal form, see resource-uri.ts. */
function resourceRules(rules: readonly Rule[], problems: Problems): (readonly [string, Rule])[] {
  const byKey = new Map<string, Rule>()
  for (const rule of rules) {
    const { server, name } = parseGlob(rule.key)
    const pattern = normaliseUriPattern(name)
    const key = `${server}/${pattern ?? name}`
    if (pattern === undefined)
      problems.error(
        'POLICY_NO_EFFECT',
        rule.at,
        `\`${name}\` matches no URI: URIs are compared in normal form`,
        'write it without `..`, without a fragment, and its host as `xn--`',
      )
    else if (byKey.has(key))
      problems.error(
        'DOCUMENT_DOUBLED_KEY',
        rule.at,
        `\`${name}\` names the same URIs as \`${byKey.get(key)?.key}\`: both are \`${pattern}\``,
        'URIs are compared in normal form: keep one of the two rules',
      )
    byKey.set(key, rule)
  }
  return [...byKey]
}

function byName(rules: readonly Rule[]): NameMap<Rule> {
  return new NameMap(rules.map((rule) => [rule.key, rule]))
}

function* parseRules(
  section: RuleSection,
  document: LocatedMap,
  context: RuleContext,
): Steps<Rule[]> {
  const rules: Rule[] = []
  for (const { key, value } of asMap(findEntry(document, section)).entries) {
    rules.push(parseRule(section, key, value, context))
    yield
  }
  return rules
}

function* parseGuardrails(
  document: LocatedMap,
  context: RuleContext,
  protect: ProtectionLevel | undefined,
): Steps<Guardrail[]> {
  const node = findEntry(document, 'guardrails')
  const guardrails: Guardrail[] = []
  for (const item of node?.kind === 'list' ? node.items : []) {
    guardrails.push(parseGuardrail(item, guardrails.length, context))
    yield
  }
  const seen = new Set<string>(PROTECTION_PARTS.map(({ name }) => name))
  for (const [index, { name, at }] of guardrails.entries()) {
    const item = node?.kind === 'list' ? asMap(node.items[index]) : undefined
    const place = item && findEntry(item, 'name')?.at
    if (seen.has(name))
      context.problems.error(
        'DOCUMENT_DOUBLED_KEY',
        place ?? at,
        `\`${name}\` is the name of a guardrail before this one too`,
        'counters and records go by the name: give each its own',
      )
    seen.add(name)
  }
  if (protect !== undefined)
    guardrails.push(...buildProtectionGuardrails(protect, findEntry(document, 'protect')?.at ?? 0))
  return guardrails.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readRoles(node: LocatedNode): [path: string, role: ArgumentRole][] {
  return asMap(node)
    .entries.map(({ key, value }): [string, ArgumentRole] => [String(key.value), wordAt(value)])
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

function wordAt<Word>(node: LocatedNode): Word {
  return (node as LocatedScalar).value as Word
}
