// The held calls as the inbox shows them: searched, in the order that is chosen, those of one session together.
// Pure.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { parseMembers } from './members.ts'

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
  const rank = { danger: rankDanger, amount: rankAmount }[order] ?? (() => [])
  const shown = requests
    .filter((request) => describe(request).toLowerCase().includes(wanted))
    .map((request) => ({ request, ranks: rank(request) }))
    .sort((one, other) => compareRanks(one.ranks, other.ranks))
  const groups = new Map<string, ApprovalRequest[]>()
  for (const { request } of shown)
    groups.set(request.session, [...(groups.get(request.session) ?? []), request])
  return [...groups].map(([session, list]) => ({ session, requests: list }))
}

function describe(request: ApprovalRequest): string {
  const { principal, sessionName = '', args, id } = request
  return [titleOfCall(request), principal.id, sessionName, args, id].join(' ')
}

const FROM_STRANGER = /\b(?:call\.(?:valueFromText|valueUnproven)|origin\.|session\.saw)|"protect: /

/** What makes this very call suspect, beside the risk of its tool. */
export function listDangers({ masked, asks, looksLike }: ApprovalRequest): string[] {
  return [
    ...(asks.some(({ says }) => FROM_STRANGER.test(says)) ? ['from a stranger'] : []),
    ...(masked.count > 0 || asks.some(({ says }) => says.includes('call.secret'))
      ? ['secret']
      : []),
    ...(looksLike === undefined ? [] : ['look-alike']),
  ]
}

/** The smallest first: suspect calls, then by the risk of the tool, then by the largest amount. */
function rankDanger(request: ApprovalRequest): number[] {
  const { risk, unknown } = request
  const rank = RISKS.indexOf(unknown === true ? 'medium' : (risk ?? ''))
  return [-listDangers(request).length, rank < 0 ? RISKS.length : rank, ...rankAmount(request)]
}

function rankAmount({ args }: ApprovalRequest): number[] {
  const numbers = (parseMembers(args) ?? []).map(([, value]) => Number(String(value)))
  return [-Math.max(0, ...numbers.filter(Number.isFinite))]
}

/** Sorting is stable: of equal ones that with the least time left stays first. */
function compareRanks(ones: readonly number[], others: readonly number[]): number {
  return ones.map((one, at) => one - (others[at] ?? 0)).find((by) => by !== 0) ?? 0
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
