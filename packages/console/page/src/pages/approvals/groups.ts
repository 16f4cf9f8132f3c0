// The held calls as the inbox shows them: searched, in the order that is chosen, those of one session together.
// Pure.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { parseMembers } from './arguments.tsx'

export const ORDERS = [
  { value: 'danger', says: 'Most dangerous' },
  { value: 'time', says: 'Least time left' },
  { value: 'amount', says: 'Largest amount' },
] as const

const RISKS = ['critical', 'high', 'medium', 'low']

export interface SessionGroup {
  readonly session: string
  readonly requests: readonly ApprovalRequest[]
}

export function groupBySession(
  requests: readonly ApprovalRequest[],
  { order, search }: { readonly order: string; readonly search: string },
): SessionGroup[] {
  const wanted = search.toLowerCase()
  const rank = { danger: rankRisk, amount: rankAmount }[order] ?? (() => 0)
  const shown = requests
    .filter((request) => describe(request).toLowerCase().includes(wanted))
    .map((request, at) => ({ request, at, rank: rank(request) }))
    .sort((one, other) => one.rank - other.rank || one.at - other.at)
  const groups = new Map<string, ApprovalRequest[]>()
  for (const { request } of shown)
    groups.set(request.session, [...(groups.get(request.session) ?? []), request])
  return [...groups].map(([session, list]) => ({ session, requests: list }))
}

function describe(request: ApprovalRequest): string {
  const { principal, sessionName = '', args, id } = request
  return [titleOfCall(request), principal.id, sessionName, args, id].join(' ')
}

function rankRisk({ risk, unknown }: ApprovalRequest): number {
  const rank = RISKS.indexOf(unknown === true ? 'medium' : (risk ?? ''))
  return rank < 0 ? RISKS.length : rank
}

function rankAmount({ args }: ApprovalRequest): number {
  const numbers = (parseMembers(args) ?? []).map(([, value]) => Number(String(value)))
  return -Math.max(0, ...numbers.filter(Number.isFinite))
}

/** Enough to tell two requests apart, numbers first. */
export function summarize(args: string): string {
  const members = parseMembers(args)
  return members === undefined ? args.slice(0, 200) : summarizeMembers(members)
}

export function summarizeMembers(members: readonly [name: string, value: unknown][]): string {
  const isNumber = (value: unknown) => (typeof value === 'number' ? 0 : 1)
  const text = members
    .toSorted(([, one], [, other]) => isNumber(one) - isNumber(other))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return text.join(' · ').slice(0, 200)
}
