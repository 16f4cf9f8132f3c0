// Runs a bound expression on one call: fills its variables, checks types, exactness and bounds, and
// returns true, false or why it cannot be decided. Never throws.

import type { Call, Facts } from '../../calls/call.ts'
import type { Instant } from '../../calls/clock.ts'
import type { NumberKind } from '../../calls/data-kinds.ts'
import type { PastCall, PastCalls } from '../../calls/past-calls.ts'
import type { ArgumentFlow, ArgumentRoles } from '../../calls/provenance.ts'
import type { Category } from '../../calls/tools.ts'
import { parseDuration } from '../../document/shape.ts'
import { globMatches, parseGlob } from '../../language/glob.ts'
import { TOOL_CALL } from '../../language/methods.ts'
import { originOfArgument } from '../../provenance/origin-of-argument.ts'
import { isObject, type JsonObject, type JsonValue } from '../../values/json.ts'
import { timestamp } from '../functions/text.ts'
import { UndecidableError } from '../functions/undecidable-error.ts'
import type { LastRead } from '../read-last.ts'
import type { BoundExpression } from './bind-expression.ts'
import type { BoundVariable } from './bound-variable.ts'
import { describeUnread, findLast } from './find-last.ts'
import { findProtection, isProtectionName, type ProtectionName } from './protection.ts'
import { ArgumentWalk } from './walk-arguments.ts'

/** Result of an expression. `either`: it depends on the call, which is not known yet (a list). */
export type ConditionResult =
  | { readonly is: 'true' | 'false' | 'either' }
  | {
      readonly is: 'undecidable'
      readonly why: string
      /** `why` says which call settles it. */
      readonly isAdvice?: true
    }

export interface EvaluationContext {
  readonly call: Call
  readonly facts: Facts
  readonly now: Instant
  readonly category: Category
  /** The arguments; undefined while a list is built. */
  readonly args: JsonObject | undefined
  /** Where arguments of the tool go; undefined if nothing says it. */
  readonly flow?: ArgumentFlow | undefined
  /** What arguments of the tool are, if `destinations` says it. */
  readonly roles?: ArgumentRoles | undefined
  /** The results of conditions that a proof assumes. */
  readonly assumed: ReadonlyMap<BoundExpression, ConditionResult> | undefined
}

const TRUE: ConditionResult = { is: 'true' }
const FALSE: ConditionResult = { is: 'false' }
const EITHER: ConditionResult = { is: 'either' }

export function evaluate(program: BoundExpression, situation: EvaluationContext): ConditionResult {
  const { args } = situation
  if (program.expression.dependsOnCall && args === undefined) return EITHER
  try {
    if (program.closedTo !== undefined)
      for (const name in args)
        if (!program.closedTo.has(name))
          return undecidable(`the tool declares no argument \`${name}\``)
    if (program.fact !== undefined) {
      const value = callValue(program.fact, situation)
      if (typeof value === 'boolean') return value ? TRUE : FALSE
    }
    const values: Record<string, unknown> = {}
    const walk = new ArgumentWalk()
    for (const variable of program.variables) {
      const value = readVariable(variable, situation, walk)
      if (value !== undefined) values[variable.name] = value
    }
    walk.hold(program.expression.macros)
    const answer = program.run(values)
    if (answer === true) return TRUE
    if (answer === false) return FALSE
    return undecidable('the expression is neither true nor false')
  } catch (error) {
    return describeUndecided(describeFailure(error), program, situation)
  }
}

function undecidable(why: string): ConditionResult {
  return { is: 'undecidable', why }
}

function describeFailure(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string }
  return summary ?? message ?? 'the expression failed'
}

function describeUndecided(
  failure: string,
  program: BoundExpression,
  situation: EvaluationContext,
): ConditionResult {
  const [, index] = /^Unknown variable: s(\d+)$/.exec(failure) ?? []
  if (index === undefined) return undecidable(failure)
  const variable = program.variables[Number(index)]
  if (variable?.last !== undefined)
    return { is: 'undecidable', why: describeUnread(variable.last, situation), isAdvice: true }
  if (variable?.root === 'past') return undecidable('what the session called before is not known')
  if (variable?.root === 'origin' || isProtectionName(variable?.path[0]))
    return undecidable('where values came from is not known')
  const name = variable === undefined ? '' : [variable.root, ...variable.path].join('.')
  return undecidable(`\`${name}\` is not there`)
}

function readVariable(
  variable: BoundVariable,
  situation: EvaluationContext,
  walk: ArgumentWalk,
): unknown {
  if (variable.root === 'origin') return originValue(variable, situation)
  if (variable.root === 'last') return lastValue(variable, situation, walk)
  if (variable.root === 'past')
    return evaluatePast(variable.path, situation.facts.session.past, situation.now)
  if (variable.root !== 'args') return factValue(variable, situation, walk)
  const value = lookUp(situation.args as JsonObject, variable, 0)
  return variable.presence || value === undefined ? value : walk.convert(variable, value)
}

/**
 * The value at a variable's path, of which `from` is the part before `start`. With `presence`: whether
 * the last name exists, undefined if a name before it does not.
 */
function lookUp(from: JsonObject, variable: BoundVariable, start: number): JsonValue | undefined {
  const { root, path, presence } = variable
  let place: JsonValue | undefined = from
  const last = path.length - 1
  for (let index = start; index <= last; index++) {
    const name = path[index] as string
    if (place === undefined) return undefined
    if (!isObject(place))
      throw new UndecidableError(
        `\`${[root, ...path.slice(0, index)].join('.')}\` is not an object`,
      )
    const there: boolean = Object.hasOwn(place, name)
    if (presence && index === last) return there
    place = there ? place[name] : undefined
  }
  return place
}

/** The worst origin of the texts and ids of an argument; undefined if it is not known. */
function originValue(
  variable: BoundVariable,
  { facts, args }: EvaluationContext,
): string | undefined {
  const value = lookUp(args as JsonObject, variable, 0)
  const name = variable.path.at(-1) as string
  if (facts.provenance === undefined || value === undefined) return undefined
  return originOfArgument(value, name, facts.provenance)
}

/** Other methods than a tool call have no values of which it matters. */
function protectionValue(name: ProtectionName, situation: EvaluationContext): boolean | undefined {
  const { call, facts } = situation
  if (facts.provenance === undefined && call.method === TOOL_CALL) return undefined
  return findProtection(name, situation) !== undefined
}

function callValue({ path: [name] }: BoundVariable, situation: EvaluationContext): unknown {
  const { facts, category } = situation
  if (name === 'category') return facts.callCategory ?? category
  if (name === 'secret') return facts.holdsSecret?.()
  if (isProtectionName(name)) return protectionValue(name, situation)
  return facts.holds?.(name as NumberKind)
}

/** The value of a fact; undefined if the call has no agent or no tool: then reading it fails, as in CEL. */
function factValue(
  variable: BoundVariable,
  situation: EvaluationContext,
  walk: ArgumentWalk,
): unknown {
  const { call, facts, now, category } = situation
  const [name, below] = variable.path
  const { principal, agent, session } = facts
  switch (variable.root) {
    case 'now':
      return timestamp(now.wallMs)
    case 'call':
      return callValue(variable, situation)
    case 'tool':
      if (facts.tool === undefined) return undefined
      if (name === 'name') return call.name
      return name === 'category' ? category : facts.tool.risk
    case 'server':
      return name === 'name' ? call.server : facts.transport
    case 'agent':
      if (name === undefined) return agent
      if (agent === null) return undefined
      if (name === 'depth' || name === 'turn') return BigInt(agent[name])
      return agent[name as 'id' | 'owner' | 'template']
    case 'session':
      return name === 'saw' ? session.saw.includes(below as string) : sessionValue(name, situation)
    default:
      if (name === 'claims') {
        const claim = lookUp(principal.claims, variable, 1)
        return variable.presence || claim === undefined ? claim : walk.convert(variable, claim)
      }
      if (name === 'groups') return walk.convert(variable, principal.groups)
      return principal[name as 'id' | 'kind']
  }
}

/** A value of the session; undefined if it is not known. */
function sessionValue(
  name: string | undefined,
  { call, facts: { session } }: EvaluationContext,
): unknown {
  switch (name) {
    case 'calls':
      return BigInt(session.calls)
    case 'repeats':
      return session.repeats === undefined ? undefined : BigInt(session.repeats(call))
    case 'tokens':
      return session.tokens === undefined ? undefined : BigInt(session.tokens)
    case 'mode':
      return session.mode ?? ''
    case 'startedAt':
      return timestamp(session.startedAtMs)
    default:
      return session.id
  }
}

/** The field of the last answer; undefined if it is not known. */
function lastValue(variable: BoundVariable, situation: EvaluationContext, walk: ArgumentWalk) {
  const found = findLast(variable.last as LastRead, situation)
  return typeof found === 'string' ? undefined : walk.convert(variable, found.value)
}

/** The result of a function of the past; undefined if it is not known, because what was dropped could matter. */
function evaluatePast(
  [name, first = '', second = '']: readonly string[],
  past: PastCalls | undefined,
  now: Instant,
): boolean | bigint | undefined {
  if (past === undefined) return undefined
  const { calls, hasMore } = past
  const matches = matcher(first)
  if (name === 'callsAfter') {
    const start = calls.findLastIndex(matcher(second))
    if (start === -1) return hasMore ? undefined : 0n
    return BigInt(calls.slice(start + 1).filter(matches).length)
  }
  const last = calls.findLast(matches)
  if (name === 'called') return last === undefined && hasMore ? undefined : last !== undefined
  const since = now.monotonicMs - (parseDuration(second) as number) * 1_000
  if (last !== undefined) return last.atMs > since
  const [oldest] = calls
  const isCovered = !hasMore || (oldest !== undefined && oldest.atMs <= since)
  return isCovered ? false : undefined
}

function matcher(key: string): (call: PastCall) => boolean {
  const glob = parseGlob(key)
  return ({ server, name }) => globMatches(glob, server, name)
}
