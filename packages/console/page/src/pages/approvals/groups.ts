// The held calls as the inbox shows them: searched, in the order that is chosen, neighbours of one session together.
// Pure.

import { hasText } from '@sluice/access/approvals/request-text'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { parseMembers } from './members.ts'

export const ORDERS = [
  { value: 'danger', says: 'Most dangerous' },
  { value: 'time', says: 'Least time left' },
  { value: 'amount', says: 'Largest amount' },
  { value: 'session', says: 'By session' },
] as const

const RISKS = ['critical', 'high', 'medium', 'low']

export interface SessionGroup {
  readonly session: string
  readonly requests: readonly ApprovalRequest[]
  /** All that are shown of the session, also those at another place; of none but its first group. */
  readonly ofSession: readonly ApprovalRequest[]
}

export function groupBySession(
  requests: readonly ApprovalRequest[],
  { order, search }: { readonly order: string; readonly search: string },
): SessionGroup[] {
  const ranks = { danger: rankDanger, session: rankDanger, amount: rankAmount }
  const rank = ranks[order as keyof typeof ranks] ?? (() => [])
  const shown = requests
    .filter((request) => hasText(request, search))
    .map((request) => ({ request, ranks: rank(request) }))
    .sort((one, other) => compareRanks(one.ranks, other.ranks))
  const sessions = new Map<string, ApprovalRequest[]>()
  for (const { request } of shown) {
    const known = sessions.get(request.session)
    if (known === undefined) sessions.set(request.session, [request])
    else known.push(request)
  }
  const whole = [...sessions].map(([session, all]) => ({ session, requests: all, ofSession: all }))
  return order === 'session' || order === '' ? whole : splitInOrder(shown, sessions)
}

/** One list in the order of its requests. */
function splitInOrder(
  shown: readonly { readonly request: ApprovalRequest }[],
  sessions: ReadonlyMap<string, ApprovalRequest[]>,
): SessionGroup[] {
  const rest = new Map(sessions)
  const groups: (SessionGroup & { readonly requests: ApprovalRequest[] })[] = []
  for (const { request } of shown) {
    const { session } = request
    const last = groups.at(-1)
    if (last?.session === session) last.requests.push(request)
    else groups.push({ session, requests: [request], ofSession: rest.get(session) ?? [] })
    rest.delete(session)
  }
  return groups
}

const FROM_STRANGER = /\b(?:call\.(?:valueFromText|valueUnproven)|origin\.|session\.saw)/

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
  const rank = RISKS.indexOf(unknown === true ? 'high' : (risk ?? ''))
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
  if (members === undefined) return args.slice(0, 200)
  const isNumber = (value: unknown) => (typeof value === 'number' ? 0 : 1)
  const text = members
    .toSorted(([, one], [, other]) => isNumber(one) - isNumber(other))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return text.join(' · ').slice(0, 200)
}
