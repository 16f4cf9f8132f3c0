// The gate's decisions in the words of the Agent Control Standard. What waits for a person is deferred: the agent asks
// again, and a call that was approved meanwhile passes, also after a restart of the gate.

import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { HookAnswer } from '../hooks/clients/hook-event.ts'
import { ACS_VERSION, type AcsFault, type AcsRequest } from './envelope.ts'
import { ACS_SKEW_MS, ACS_TIMEOUT_MS } from './limits.ts'

/** The members of a result that say what was decided. */
export type AcsDecision = JsonObject & {
  readonly decision: 'allow' | 'deny' | 'modify' | 'defer'
}

export const ALLOW: AcsDecision = { decision: 'allow' }

export interface DecisionSources {
  /** The arguments that the agent wants to call with. */
  readonly args: JsonObject
  /** How long an approval can still be given; undefined if there is none of this id. */
  readonly remainingMsOf: (approvalId: string) => number | undefined
}

/** Of a call that is to be made. */
export function decideCall(answer: HookAnswer, sources: DecisionSources): AcsDecision {
  if (answer.kind === 'deny') return decideRefusal(answer, sources)
  // Nothing else is answered to an agent, and nothing else may let its call pass.
  if (answer.kind !== 'pass')
    return { decision: 'deny', reasoning: 'the gate gave an answer that is not for agents' }
  if (answer.args === undefined) return ALLOW
  const changed = Object.entries(answer.args).filter(
    ([name, value]) => !isSameValue(value, sources.args[name]),
  )
  const removed = Object.keys(sources.args).filter((name) => answer.args?.[name] === undefined)
  // Overrides can set an argument and cannot remove one.
  if (removed.length > 0)
    return {
      decision: 'deny',
      reasoning: `an approver took away ${removed.map((name) => `\`${name}\``).join(', ')}: make the call with ${JSON.stringify(answer.args)}`,
      reason_codes: ['modify_unsupported'],
    }
  if (changed.length === 0) return ALLOW
  return {
    decision: 'modify',
    reasoning: 'an approver changed the arguments',
    reason_codes: ['APPROVED'],
    modifications: { parameter_overrides: Object.fromEntries(changed) },
  }
}

/** Of what a call has said. Content that is replaced is one text in the standard. */
export function decideResult(answer: HookAnswer): AcsDecision {
  if (answer.kind === 'deny') return { decision: 'deny', reasoning: answer.reason }
  if (answer.kind !== 'replace') return ALLOW
  const { output, reason } = answer
  if (reason !== undefined) return { decision: 'deny', reasoning: reason }
  const content = typeof output === 'string' ? output : JSON.stringify(output)
  return {
    decision: 'modify',
    reasoning: 'the policy changes what is read of this answer',
    modifications: { modified_content: content },
  }
}

function decideRefusal(
  { reason, decision = {} }: Extract<HookAnswer, { kind: 'deny' }>,
  { remainingMsOf }: DecisionSources,
): AcsDecision {
  const { code, rule, approvalId, approvalUrl, retryAfterMs, callId } = decision
  const refusal = {
    reasoning: reason,
    ...(typeof code === 'string' ? { reason_codes: [code] } : {}),
    ...(typeof rule === 'string'
      ? { policy_references: [{ policy_id: 'sluice', rule_id: rule }] }
      : {}),
    policy_data: {
      sluice: {
        ...pick({ callId, approvalId, approvalUrl, retryAfterMs }),
      },
    },
  }
  const leftMs =
    code === 'APPROVAL_PENDING' && typeof approvalId === 'string'
      ? remainingMsOf(approvalId)
      : undefined
  if (leftMs === undefined) return { decision: 'deny', ...refusal }
  return {
    decision: 'defer',
    ...refusal,
    defer_details: {
      reason: 'pending_dependency',
      resolution_method: 'human_approval',
      resolution_timeout_ms: Math.max(Math.round(leftMs), 0),
      timeout_decision: 'deny',
    },
  }
}

export function writeServerHello(methods: readonly string[]): JsonObject {
  return {
    negotiated_version: ACS_VERSION,
    methods_evaluated: [...methods],
    selected_transport: 'http',
    signature_algorithms_supported: ['HMAC-SHA256'],
    timeout_config: { default_ms: ACS_TIMEOUT_MS },
    skew_window_ms: ACS_SKEW_MS,
    // A client that goes on without a decision would have no guardian at all.
    on_decision_failure: 'deny',
    approver_types_supported: ['human'],
    policy_requires_provenance: false,
    profiles_accepted: ['acs-core'],
  }
}

/** A response without its signature. */
export function writeResult({ id, requestId }: AcsRequest, members: JsonObject): JsonObject {
  const result = { type: 'final', acs_version: ACS_VERSION, request_id: requestId, ...members }
  return { jsonrpc: '2.0', id, result }
}

export function writeFault(id: string | number | null, { code, message }: AcsFault): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/** Puts a signature where the standard has it: beside what it signs. */
export function addSignature(response: JsonObject, signature: JsonObject): JsonObject {
  const holder = response.result === undefined ? 'error' : 'result'
  const held = response[holder]
  return { ...response, [holder]: { ...(isObject(held) ? held : {}), signature } }
}

function isSameValue(one: JsonValue, other: JsonValue | undefined): boolean {
  return other !== undefined && writeCanonicalJson(one) === writeCanonicalJson(other)
}

function pick(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const there = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as JsonObject
}
