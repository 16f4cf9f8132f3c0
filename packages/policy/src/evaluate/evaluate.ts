// One call, one decision, for programs that use the package alone: compiles the document if it is a
// text, fills in what the caller leaves out, and charges limits. What is left out is never taken in the
// caller's favour: a condition that reads it cannot be decided and takes its stricter branch.

import type { Facts } from '../calls/call.ts'
import type { Instant } from '../calls/clock.ts'
import type { Decision } from '../calls/decision.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { type SampleFacts, sampleFacts, splitServerAndName } from '../cases/sample-facts.ts'
import { compile } from '../compile/compile.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { decide } from '../decide/decide.ts'
import { errorsIn, type Problem } from '../document/problem.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { pickDefined } from '../structures/pick-defined.ts'
import type { JsonObject } from '../values/json.ts'

/**
 * A tool call to decide on. Only `tool` is required.
 *
 * @example
 * ```ts
 * const call: ToolCall = { tool: 'shop/create_refund', args: { amount: 20 }, category: 'Financial' }
 * ```
 */
export interface ToolCall extends Pick<SampleFacts, 'principal' | 'session' | 'agent'> {
  /** `<server>/<tool>`, or the tool with its definition: then undeclared arguments are noticed. */
  readonly tool: string | KnownTool
  /** The arguments; none by default. */
  readonly args?: JsonObject
  /** The category of a tool that is given by name. By default `Execute`, as for a tool that the gate
   * cannot classify. */
  readonly category?: Category
  /** Whether the arguments contain a secret (`call.secret`). Undecidable by default. */
  readonly holdsSecret?: boolean
}

/**
 * What `evaluate` counts limits with, and the time.
 *
 * @example
 * ```ts
 * const options: EvaluateOptions = { counters: new MemoryCounters(), now: Date.now() }
 * ```
 */
export interface EvaluateOptions {
  /** Keeps count between calls. By default nothing has been used yet. */
  readonly counters?: MemoryCounters
  /** Milliseconds since 1970, or both clocks. By default conditions on the time are undecidable, and
   * all calls of `counters` happen in one instant, so that no window ever ends. */
  readonly now?: number | Instant
}

/**
 * Thrown by `evaluate` if the text of the policy has errors.
 *
 * @example
 * ```ts
 * try {
 *   evaluate(text, call)
 * } catch (error) {
 *   if (error instanceof PolicyDocumentError) console.error(error.problems)
 * }
 * ```
 */
export class PolicyDocumentError extends Error {
  /** Every problem, with file, line, column and what to do. */
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = errorsIn(problems).map(
      ({ file, line, column, message, help }) => `${file}:${line}:${column}: ${message}; ${help}`,
    )
    super(lines.join('\n'))
    this.name = 'PolicyDocumentError'
    this.problems = problems
  }
}

/**
 * Decides one tool call. Pure: no I/O and no clock. If the decision is `allow`, its limits are charged
 * to `options.counters`.
 *
 * Compile the text once with `compile` if you decide more than a few calls.
 *
 * @param policy the text of a policy document, or the result of `compile`
 * @returns a decision; a denial is a value and never thrown
 * @throws PolicyDocumentError if `policy` is a text with errors
 *
 * @example
 * ```ts
 * const policy = `
 * version: 1
 * default: deny
 * tools:
 *   shop/create_refund: { action: allow, when: args.amount <= 50, otherwise: require_approval }
 * `
 * evaluate(policy, { tool: 'shop/create_refund', args: { amount: 20 } }).action // 'allow'
 * evaluate(policy, { tool: 'shop/create_refund', args: { amount: 90 } }).action // 'require_approval'
 * evaluate(policy, { tool: 'shop/delete_customer' }).action // 'deny'
 * ```
 */
export function evaluate(
  policy: string | CompiledPolicy,
  call: ToolCall,
  options: EvaluateOptions = {},
): Decision {
  const compiled = typeof policy === 'string' ? compileText(policy) : policy
  const tool = typeof call.tool === 'string' ? toKnownTool(call.tool, call.category) : call.tool
  const { server, name } = tool.definition
  const counters = options.counters ?? new MemoryCounters()
  const now = toInstant(options.now)
  const target = { server, name, method: TOOL_CALL, args: call.args ?? {} }
  const decision = decide(compiled, target, toFacts(call, tool), counters, now)
  if (decision.action === 'allow') counters.consume(decision.limits, now)
  return decision
}

function compileText(text: string): CompiledPolicy {
  const { policy, problems } = compile({ file: 'policy', text })
  if (policy === undefined) throw new PolicyDocumentError(problems)
  return policy
}

function toKnownTool(tool: string, category: Category | undefined): KnownTool {
  const parts = splitServerAndName(tool)
  if (parts === undefined)
    throw new TypeError(
      `\`${tool}\` is not \`<server>/<tool>\`: put the server's name before the \`/\``,
    )
  // Nothing is declared, so arguments are taken as they are.
  const definition = { ...parts, inputSchema: { type: 'object', additionalProperties: true } }
  return category === undefined
    ? { definition, category: 'Execute', risk: 'critical', unknown: true }
    : { definition, category, risk: 'critical' }
}

/** Leaves `holdsSecret` out if the call does not say it: then a rule that reads it is undecidable. */
function toFacts(call: ToolCall, tool: KnownTool): Facts {
  const { principal, session, agent, holdsSecret } = call
  const {
    holdsSecret: _,
    holds: __,
    ...facts
  } = sampleFacts(tool, pickDefined({ principal, session, agent }))
  return holdsSecret === undefined ? facts : { ...facts, holdsSecret: () => holdsSecret }
}

function toInstant(now: number | Instant | undefined): Instant {
  if (now === undefined) return { wallMs: Number.NaN, monotonicMs: 0 }
  return typeof now === 'number' ? { wallMs: now, monotonicMs: now } : now
}
