// The steps of a request in the ledger, each its own event: proposed, notified, voted, approved,
// denied, expired, void, executed, returned, revealed; and other actions of approvers. Reports read
// these.

import { digestText, type GateEvent } from '@sluice/ledger/records/record'
import type { Channel } from '@sluice/policy/calls/decision'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { displayName } from '../identity/display-name.ts'
import type { Person } from '../identity/person.ts'
import type { StandingTerms } from './approval.ts'
import type { ApprovalRow } from './requests.ts'

export const STEPS = [
  'proposed',
  'notified',
  'voted',
  'approved',
  'denied',
  'expired',
  'void',
  'executed',
  'returned',
  'revealed',
  'lifted',
  'standing-ended',
] as const
export type ApprovalStep = (typeof STEPS)[number]

/** `approval-proposed` and so on. */
export function stepEvent(step: ApprovalStep, atMs: number, detail: JsonObject): GateEvent {
  return { atMs, name: `approval-${step}`, detail }
}

/** What every step records of its request. */
export function aboutRequest(row: Omit<ApprovalRow, 'seq'>): JsonObject {
  const { id, callId, principal, agent, session, server, method, name } = row
  return {
    request: id,
    call: callId,
    principal: principal.id,
    agent,
    session,
    server,
    method,
    name: displayName(method, name),
  }
}

export function aboutProposal(row: Omit<ApprovalRow, 'seq'>, args: string): JsonObject {
  const { asks, asked, pin, expiresAtMs, category, risk } = row
  return {
    ...aboutRequest(row),
    category,
    risk,
    pin,
    asked,
    expiresAtMs,
    argsDigest: digestText(args),
    asks: asks.map(({ rule, reason, approvers, quorum, channels }) => ({
      rule,
      reason,
      quorum,
      approvers: [...approvers],
      channels: [...channels],
    })),
  }
}

export function aboutPerson({ name, kind, proof }: Person, channel: Channel | null): JsonObject {
  return { by: name, kind, proof, channel, verified: proof !== 'client' }
}

/** Bounds are written by the approver; exact values stay out of the ledger. */
export function describeTerms(wanted: StandingTerms | undefined): JsonObject {
  if (wanted === undefined) return {}
  return {
    forMs: wanted.forMs,
    calls: wanted.calls ?? null,
    session: wanted.session === true,
    bounds: JSON.parse(JSON.stringify(wanted.bounds ?? {})) as JsonValue,
  }
}
