// Collects the inputs of a decision: the arguments and claims read by the expressions, amounts and
// keys that apply to a call, whether the call holds a secret or a number that they ask for, and the
// groups of the caller. Numbers, booleans and words that the tool declares as an enum are recorded;
// other text only if configured, since it may be a secret. Called by the gate for the ledger entry of every call.

import type { AnswerFinding } from '../calls/answer-values.ts'
import type { Call, Facts } from '../calls/call.ts'
import type { Instant } from '../calls/clock.ts'
import type { DecisionInput, DecisionInputs, OmittedInput } from '../calls/decision-inputs.ts'
import { readDeclaredArguments } from '../expression/evaluate/declared-types.ts'
import { findLast } from '../expression/evaluate/find-last.ts'
import type { ExpressionVariable } from '../expression/expression-variables.ts'
import { pathText } from '../language/argument-path.ts'
import { JUDGED_CLAIMS_MAX, JUDGED_PATHS_MAX, JUDGED_TEXT_LENGTH_MAX } from '../language/limits.ts'
import type { ApplicableRules, PreparedRule } from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { listLastReads } from '../model/policy-reads.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { memoizeFor } from '../structures/memoize.ts'
import { ExactNumber, isObject, type JsonValue } from '../values/json.ts'
import { resolveRules } from './resolve.ts'

/** This input, beside the paths, tells whether the call has arguments that the tool does not declare. */
export const UNDECLARED = 'undeclared'
/** A JSON text; absent for the local user, who has no groups. */
export const GROUPS = 'principal.groups'
/** What the client's hooks said of the session. */
export const MODE = 'session.mode'
export const LOCAL = 'local'
/** Facts without a path below them, recorded if a rule reads them. */
const PLAIN_FACTS = new Map<string, (facts: Facts, call: Call) => DecisionInput | undefined>([
  ['session.repeats', ({ session }, call) => session.repeats?.(call)],
  ['session.tokens', ({ session }) => session.tokens],
  [MODE, ({ session }) => session.mode ?? ''],
  ['call.secret', ({ holdsSecret }) => holdsSecret?.()],
  ['call.card', ({ holds }) => holds?.('card')],
  ['call.iban', ({ holds }) => holds?.('iban')],
])
const NO_WORDS: ReadonlySet<string> = new Set()

interface InputReference {
  readonly path: readonly string[]
  readonly text: string
  /** The declared enum at this path; undefined if none is declared. */
  readonly words: ReadonlySet<string> | undefined
}

const ofScope = new WeakMap<ApplicableRules, ReturnType<typeof listReads>>()
const NOTHING: DecisionInputs = {}

export interface InputOptions {
  /** Texts that are not words of an enum are recorded too. */
  readonly texts: boolean
  /** When it was decided. */
  readonly now: Instant
}

export function collectInputs(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  { texts, now }: InputOptions,
): DecisionInputs {
  const scope = resolveRules(policy, call, facts)
  if (typeof scope === 'string') return NOTHING
  const { principal } = facts
  const isPlain = principal.kind === LOCAL && principal.groups.length === 0
  const ofPrincipal = isPlain ? NOTHING : recordGroups(principal.groups)
  let known = ofScope.get(scope)
  if (known === undefined) {
    known = listReads(scope, facts)
    ofScope.set(scope, known)
  }
  const { reads, claims, plain, lasts, declared } = known
  const isNone = [reads, claims, plain, lasts].every(({ length }) => length === 0)
  if (isNone) return ofPrincipal
  const values: Record<string, DecisionInput> = { ...ofPrincipal }
  for (const read of claims) values[read.text] = recordValue(principal.claims, read, texts)
  for (const read of reads) values[read.text] = recordValue(call.args, read, texts)
  for (const [text, find] of plain) values[text] = find(facts, call) ?? WITHHELD
  for (const read of lasts)
    values[read.text] = recordLast(findLast(read, { args: call.args, facts, now }), texts)
  if (reads.length > 0 && !declared.open)
    values[UNDECLARED] = Object.keys(call.args).some((name) => !declared.properties?.has(name))
  return values
}

/** Everything that applies to the call, including shadow rules. */
export function listApplicable(scope: ApplicableRules): readonly PreparedRule<Rule | Guardrail>[] {
  return [...scope.rules, ...scope.guardrails, ...scope.base, ...scope.shadow]
}

/** The paths below `args` that a rule or guardrail reads. */
export function argumentPaths({ when, limits }: Rule | Guardrail): (readonly string[])[] {
  const variables = when?.expression.variables.filter(({ root }) => root === 'args') ?? []
  const ofLimits = limits.flatMap(({ reads }) => reads.map(({ path }) => path))
  return [...variables.map(({ path }) => path), ...ofLimits]
}

function listReads(scope: ApplicableRules, { tool }: Facts) {
  const schema = tool?.definition.inputSchema
  const paths = listApplicable(scope).flatMap(({ rule }) => argumentPaths(rule))
  const byText = new Map(paths.map((path) => [pathText(path), path]))
  const reads = [...byText].slice(0, JUDGED_PATHS_MAX).map(([text, path]) => ({
    path,
    text,
    words: findEnum(schema, path),
  }))
  const names = new Set(listVariables(scope).map(({ root, path }) => `${root}.${path[0]}`))
  const plain = [...PLAIN_FACTS].filter(([text]) => names.has(text))
  // A record has room for so many together, and with more the call would be refused.
  const lasts = listLastReads(listApplicable(scope).map(({ rule }) => rule)).slice(
    0,
    JUDGED_PATHS_MAX - reads.length,
  )
  return { reads, plain, lasts, claims: claimsRead(scope), declared: readDeclaredArguments(schema) }
}

function listVariables(scope: ApplicableRules): ExpressionVariable[] {
  return listApplicable(scope).flatMap(({ rule }) => rule.when?.expression.variables ?? [])
}

function claimsRead(scope: ApplicableRules): readonly InputReference[] {
  const paths = listVariables(scope)
    .filter(isOfClaims)
    .map(({ path }) => path.slice(1))
  const byText = new Map(paths.map((path) => [claimText(path), path]))
  return [...byText]
    .slice(0, JUDGED_CLAIMS_MAX)
    .map(([text, path]) => ({ path, text, words: NO_WORDS }))
}

export function isOfClaims({ root, path }: ExpressionVariable): boolean {
  return root === 'principal' && path[0] === 'claims' && path.length > 1
}

/** The name of a claim in the ledger, from its path below the claims. */
export function claimText(path: readonly string[]): string {
  return `principal.claims${pathText(path).slice('args'.length)}`
}

/** All calls of a caller share one list, so that this is made once. */
const recordGroups = memoizeFor((groups: readonly string[]): DecisionInputs => {
  const text = JSON.stringify(groups)
  return { [GROUPS]: text.length > JUDGED_TEXT_LENGTH_MAX ? WITHHELD : text }
})

/** The texts of `enum` or `const` at a path, by names alone. */
function findEnum(
  schema: JsonValue | undefined,
  path: readonly string[],
): ReadonlySet<string> | undefined {
  let place: JsonValue | undefined = schema
  for (const name of path) {
    const properties: JsonValue | undefined = isObject(place) ? place.properties : undefined
    place = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  }
  if (!isObject(place)) return undefined
  const words = Array.isArray(place.enum) ? place.enum : [place.const]
  return new Set(words.filter((word) => typeof word === 'string'))
}

function recordValue(
  args: JsonValue,
  { path, words }: InputReference,
  texts: boolean,
): DecisionInput {
  let place: JsonValue | undefined = args
  for (const [depth, name] of path.entries()) {
    if (!isObject(place)) return WITHHELD
    if (!Object.hasOwn(place, name)) return depth === path.length - 1 ? MISSING : PARENTLESS
    place = place[name]
  }
  return place === undefined ? MISSING : recordPlain(place, texts, words)
}

function recordPlain(
  value: JsonValue,
  texts: boolean,
  words: ReadonlySet<string> | undefined,
): DecisionInput {
  if (typeof value === 'string') {
    const isKept = texts || words?.has(value)
    return isKept && value.length <= JUDGED_TEXT_LENGTH_MAX ? value : WITHHELD
  }
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  return value instanceof ExactNumber ? value : WITHHELD
}

function recordLast(found: AnswerFinding, texts: boolean): DecisionInput {
  if (found === 'never') return MISSING
  if (found === 'unknown') return PARENTLESS
  return recordPlain(found.value, texts, NO_WORDS)
}

const MISSING: OmittedInput = { is: 'missing' }
const PARENTLESS: OmittedInput = { is: 'parentless' }
const WITHHELD: OmittedInput = { is: 'withheld' }
