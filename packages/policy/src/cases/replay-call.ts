// Decides a recorded call again under another document, from its ledger entry. If the entry lacks a
// value, every possible outcome is tried: the result is known only if all have the same action, and
// is never guessed. Called by `policy replay`.

import type { AnswerFinding } from '../calls/answer-values.ts'
import type { Call, Facts, Principal, SessionFacts } from '../calls/call.ts'
import type { Instant } from '../calls/clock.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { Decision, GuardrailMatch } from '../calls/decision.ts'
import {
  type DecisionInput,
  type DecisionInputs,
  isOmittedInput,
} from '../calls/decision-inputs.ts'
import {
  claimText,
  GROUPS,
  isOfClaims,
  LOCAL,
  listApplicable,
  MODE,
  UNDECLARED,
} from '../decide/collect-inputs.ts'
import { decide, decideAssuming } from '../decide/decide.ts'
import { COMPLETION, hasOtherReadings, RESOURCE_METHODS, readsUris } from '../decide/decide-uri.ts'
import { hasEgressLists } from '../decide/egress.ts'
import { resolveRules } from '../decide/resolve.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import { type ConditionResult, evaluate } from '../expression/evaluate/evaluate.ts'
import type { ExpressionVariable } from '../expression/expression-variables.ts'
import { pathText } from '../language/argument-path.ts'
import { REPLAY_UNKNOWNS_MAX } from '../language/limits.ts'
import { type ApplicableRules, listPreparedRules } from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { JsonValue } from '../values/json.ts'

export interface RecordedCall {
  readonly call: Omit<Call, 'args'>
  /** The facts, as far as they are known; `saw` and `calls` are those of that moment. */
  readonly facts: Facts
  readonly judged: DecisionInputs
  /** Whether the labels of the session are recorded. */
  readonly sawKnown: boolean
  /** Labels that the session may or may not have had under the document that decides now. */
  readonly doubtfulLabels?: ReadonlySet<string> | undefined
  /** The guardrails that matched when the call was made, if those of `protect` find the same under the document that
   * decides now. They read what is not recorded: texts of strangers. */
  readonly guardrails?: readonly GuardrailMatch[] | undefined
  /** Whether the declared types of the tool are known. */
  readonly schemaKnown: boolean
}

export type ReplayResult =
  | { readonly decision: Decision; readonly unknown?: undefined }
  | { readonly unknown: string }

/** Consumes nothing: the charges of an allowed call are in the decision. */
export function replayCall(
  policy: CompiledPolicy,
  past: RecordedCall,
  usage: LimitUsage,
  now: Instant,
): ReplayResult {
  const { judged } = past
  const facts = { ...past.facts, session: restoreSession(past) }
  if (RESOURCE_METHODS.has(past.call.method) && readsUris(policy))
    if (past.call.name.includes('***')) return { unknown: 'only a part of the URI is recorded' }
    else if (hasOtherReadings(policy, past.call))
      return { unknown: 'whether the server listed this spelling of the URI is not recorded' }
  if (past.call.method === COMPLETION)
    return { unknown: 'which prompt or resource the completion was for is not recorded' }
  const bare = { ...past.call, args: {} }
  const scope = resolveRules(policy, bare, facts)
  if (typeof scope === 'string') return { decision: decide(policy, bare, facts, usage, now) }
  const bearing = listPreparedRules(scope)
  if (!past.schemaKnown && bearing.some(({ rule }) => rule.when?.expression.readsArgs))
    return { unknown: 'what the tool declares is not known' }
  const reads = bearing.flatMap(({ rule }) => rule.limits.flatMap(({ reads: each }) => each))
  const lost = [
    ...reads.map(({ path }) => pathText(path)),
    ...bearing.flatMap(({ rule }) => rule.limits.flatMap(({ maxOf }) => maxOf?.read.text ?? [])),
  ].find((text) => !isRecorded(text, judged))
  const call = {
    ...past.call,
    args: rebuild(
      reads.map(({ path }) => ({ path })),
      judged,
    ),
  }
  const { assumed, open } = settleConditions(scope, past, now)
  const words = listOutcomes(open, assumed).map((each) =>
    decideAssuming(policy, call, facts, each, { scope }),
  )
  const [first] = words
  const why = open[0]?.why ?? ''
  if (first === undefined)
    return { unknown: `${open.length} conditions read values that are not recorded` }
  if (words.some(({ action }) => action !== first.action)) return { unknown: why }
  if (first.action === 'deny' || first.action === 'hide') return { decision: first }
  if (hasEgressLists(policy, call))
    return { unknown: 'the hosts in its arguments are not recorded' }
  const limited = bearing.some(({ rule }) => rule.limits.length > 0)
  if (limited && open.length > 0) return { unknown: why }
  if (lost !== undefined) return { unknown: `\`${lost}\` is not recorded` }
  // All conditions are known; only now the limits are checked.
  return { decision: decideAssuming(policy, call, facts, assumed, { usage, now, scope }) }
}

interface UnknownCondition {
  readonly program: BoundExpression
  readonly why: string
}

/** The result of every condition, and those that are unknown. */
function settleConditions(scope: ApplicableRules, past: RecordedCall, now: Instant) {
  const assumed = listProtected(scope, past)
  const open: UnknownCondition[] = []
  const classes = [scope, ...(scope.doubted ? [scope.doubted] : [])].flatMap((one) =>
    listApplicable(one).map(({ program }) => ({ program, category: one.category })),
  )
  for (const { program, category } of classes) {
    if (program === undefined || assumed.has(program)) continue
    const why = findUnknown(program, past)
    if (why !== undefined) open.push({ program, why })
    const args = restoreArguments(program, past.judged)
    const call = { ...past.call, args }
    const facts = {
      ...past.facts,
      session: restoreSession(past),
      principal: restorePrincipal(program, past),
      holdsSecret: () => past.judged['call.secret'] === true,
      holds: (kind: string) => past.judged[`call.${kind}`] === true,
    }
    const situation = { call, facts, now, category, args }
    assumed.set(program, evaluate(program, { ...situation, assumed: undefined }))
  }
  return { assumed, open }
}

/** What the guardrails of `protect` found when the call was made. */
function listProtected(
  { guardrails, doubted }: ApplicableRules,
  { guardrails: matches }: RecordedCall,
): Map<BoundExpression, ConditionResult> {
  const found = new Map<BoundExpression, ConditionResult>()
  // What they find depends on the category, and of two the record has the stricter decision.
  if (matches === undefined || doubted !== undefined) return found
  for (const { program, pointer } of guardrails)
    if (program !== undefined && pointer.startsWith('/protect/'))
      found.set(program, { is: matches.some(({ rule }) => rule === pointer) ? 'true' : 'false' })
  return found
}

/** Every combination of outcomes of the unknown conditions; none if there are too many. */
function listOutcomes(
  open: readonly UnknownCondition[],
  assumed: ReadonlyMap<BoundExpression, ConditionResult>,
): ReadonlyMap<BoundExpression, ConditionResult>[] {
  if (open.length > REPLAY_UNKNOWNS_MAX) return []
  let ends: ReadonlyMap<BoundExpression, ConditionResult>[] = [assumed]
  const ways: ConditionResult[] = [{ is: 'true' }, { is: 'false' }, { is: 'undecidable', why: '' }]
  for (const { program } of open)
    ends = ends.flatMap((end) => ways.map((truth) => new Map(end).set(program, truth)))
  return ends
}

/** Why a condition is unknown; undefined if it is known. */
function findUnknown(program: BoundExpression, past: RecordedCall): string | undefined {
  if (program.closedTo !== undefined && past.judged[UNDECLARED] === undefined)
    return 'which arguments were sent is not recorded'
  const variable = program.variables.find((each) => !isKnown(each, past))
  if (variable === undefined) return undefined
  const text = variable.last?.text ?? [variable.root, ...variable.path].join('.')
  return `\`${text}\` is not recorded`
}

/** What is recorded of a session if a rule reads it. */
const RECORDED_OF_SESSION: ReadonlySet<string | undefined> = new Set(['mode', 'repeats', 'tokens'])

function isKnown(
  { root, path, presence, last, uses }: ExpressionVariable,
  past: RecordedCall,
): boolean {
  const [name] = path
  switch (root) {
    case 'args':
      // By an argument without a use an earlier answer was found, and what was found is recorded.
      return (!presence && uses.length === 0) || isKnownArgument(path, presence, past)
    case 'call':
      return typeof past.judged[`call.${name}`] === 'boolean'
    case 'origin':
    case 'past':
      return false
    case 'last':
      return isRecorded(last?.text ?? '', past.judged)
    case 'server':
      return name === 'name'
    case 'principal':
      return name === 'id' || name === 'kind' || isKnownOfPrincipal(path, presence, past)
    case 'agent':
      return name === undefined || name === 'id' || past.facts.agent === null
    case 'session':
      if (RECORDED_OF_SESSION.has(name)) return past.judged[`session.${name}`] !== undefined
      return name !== 'saw' || isLabelKnown(path[1], past)
    case 'tool':
      return name !== 'risk' || past.schemaKnown
    default:
      return true
  }
}

function isKnownArgument(
  path: readonly string[],
  presence: boolean,
  { judged }: RecordedCall,
): boolean {
  const value = judged[pathText(path)]
  return value !== undefined && (presence || !isOmittedInput(value) || value.is !== 'withheld')
}

/** `label` is undefined if all labels are read. */
function isLabelKnown(label: string | undefined, past: RecordedCall): boolean {
  const { sawKnown, doubtfulLabels: doubtful } = past
  if (!sawKnown) return false
  return (
    doubtful === undefined || (label === undefined ? doubtful.size === 0 : !doubtful.has(label))
  )
}

/** Principals of these kinds never have claims. */
const WITHOUT_CLAIMS: ReadonlySet<string> = new Set([LOCAL, 'grant'])

function isKnownOfPrincipal(
  [name, ...below]: readonly string[],
  presence: boolean,
  { facts, judged }: RecordedCall,
): boolean {
  const { kind } = facts.principal
  const value = judged[name === 'groups' ? GROUPS : claimText(below)]
  if (value === undefined) return name === 'groups' ? kind === LOCAL : WITHOUT_CLAIMS.has(kind)
  return presence || !isOmittedInput(value) || value.is !== 'withheld'
}

/** The session, with what rules read of it when the call was decided. */
function restoreSession({ facts, judged }: RecordedCall): SessionFacts {
  return {
    ...facts.session,
    mode: String(judged[MODE] ?? ''),
    repeats: () => Number(judged['session.repeats'] ?? 0),
    tokens: Number(judged['session.tokens'] ?? 0),
    values: { find: ({ text }) => toFinding(judged[text]) },
  }
}

function toFinding(value: DecisionInput | undefined): AnswerFinding {
  if (value === undefined) return 'unknown'
  if (!isOmittedInput(value)) return { value }
  return value.is === 'missing' ? 'never' : 'unknown'
}

/** The principal, with what this condition reads of it. */
function restorePrincipal(program: BoundExpression, { facts, judged }: RecordedCall): Principal {
  const groups = judged[GROUPS]
  const read = program.variables.filter(isOfClaims).map(({ path }) => ({ path: path.slice(1) }))
  return {
    ...facts.principal,
    groups: typeof groups === 'string' ? (JSON.parse(groups) as string[]) : [],
    claims: rebuild(read, judged, claimText),
  }
}

function isRecorded(text: string, judged: DecisionInputs): boolean {
  const value = judged[text]
  return value !== undefined && !(isOmittedInput(value) && value.is === 'withheld')
}

/** Arguments that reproduce the result of this condition: only what it reads. */
function restoreArguments(
  program: BoundExpression,
  judged: DecisionInputs,
): Record<string, JsonValue> {
  const args = rebuild(
    program.variables.filter(({ root }) => root === 'args'),
    judged,
  )
  // Any name that no tool declares.
  if (program.closedTo !== undefined && judged[UNDECLARED] === true) args['\u0000'] = true
  return args
}

/** Deeper paths first: then the objects above them exist already. */
function rebuild(
  reads: readonly { readonly path: readonly string[] }[],
  judged: DecisionInputs,
  textOf = pathText,
): Record<string, JsonValue> {
  const args: Record<string, JsonValue> = {}
  for (const { path } of [...reads].sort((a, b) => b.path.length - a.path.length)) {
    const value = judged[textOf(path)]
    if (value === undefined || (isOmittedInput(value) && value.is === 'parentless')) continue
    let place = args
    for (const name of path.slice(0, -1)) {
      if (!Object.hasOwn(place, name)) place[name] = {}
      place = place[name] as Record<string, JsonValue>
    }
    const last = path.at(-1) as string
    if (isOmittedInput(value) && value.is === 'missing') continue
    // Of a withheld value, only its presence is ever read.
    if (!Object.hasOwn(place, last)) place[last] = isOmittedInput(value) ? '' : value
  }
  return args
}
