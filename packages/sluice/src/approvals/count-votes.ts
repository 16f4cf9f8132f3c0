// Whose word counts: which of the asking rules a person may satisfy, and whether all of them are. A
// vote counts for the arguments it was given on and for the asks its giver fitted then. Pure.

import type { ApprovalRequirement, Channel } from '@sluice/policy/core/decision'
import type { RequirementStatus } from '../core/approval.ts'
import { canonicalName, hasRole, type Person } from '../core/person.ts'
import type { ApprovalRow, StoredVote } from './requests.ts'

/** Where people always are, whatever channels a rule names: nobody is locked out by a dead channel. */
const ALWAYS: ReadonlySet<Channel> = new Set(['console', 'terminal'])

/** Why this person may not decide over the request at all; undefined where they may. */
export function mayNotDecide(row: ApprovalRow, who: Person, channel: Channel): string | undefined {
  // The caller's own word has no role to show.
  if (channel === 'client') return undefined
  if (!hasRole(who, 'approver')) return `\`${who.name}\` is no approver`
  // A system that calls and decides under one name would be an agent that approves itself.
  if (
    who.kind === 'system' &&
    (isSameName(who.name, row.principal.id) || isSameName(who.name, row.agent ?? ''))
  )
    return `\`${who.name}\` is the one who asks`
  return undefined
}

/** The asks that an approval by this person counts for, by their place; why not, for each other. */
export function matchRequirements(
  row: ApprovalRow,
  who: Person,
  channel: Channel,
): { readonly asks: readonly number[]; readonly why: readonly string[] } {
  const asks: number[] = []
  const why: string[] = []
  for (const [at, ask] of row.asks.entries()) {
    const objection = objectionOf(ask, row, who, channel)
    if (objection === undefined) asks.push(at)
    else why.push(`${ask.rule}: ${objection}`)
  }
  return { asks, why }
}

function objectionOf(
  ask: ApprovalRequirement,
  row: ApprovalRow,
  who: Person,
  channel: Channel,
): string | undefined {
  if (channel === 'client') return clientObjection(ask, row)
  if (!ALWAYS.has(channel) && !ask.channels.includes(channel))
    return `it is not to be decided by ${channel}`
  const owns = [who.name, ...who.owns].some((name) => isSameName(name, row.principal.id))
  if (ask.separateDuties && owns)
    return `\`${who.name}\` owns \`${row.principal.id}\`, which asks, and duties are separate`
  const { approvers } = ask
  if (approvers.length === 0 || approvers.includes(who.name)) return undefined
  if (who.groups.some((group) => approvers.includes(group))) return undefined
  return `it asks for ${approvers.map((name) => `\`${name}\``).join(' or ')}`
}

function isSameName(one: string, other: string): boolean {
  return canonicalName(one) === canonicalName(other)
}

/** A form that the client answers is the caller's own word: real clients accept by themselves. */
export function clientObjection(
  ask: ApprovalRequirement,
  { category }: Pick<ApprovalRow, 'category'>,
): string | undefined {
  if (!ask.channels.includes('client')) return 'the client may not decide it'
  if (ask.approvers.length > 0 || ask.quorum > 1) return 'it asks for people'
  if (ask.separateDuties) return 'it is the caller’s own word, and duties are separate'
  if (category === 'Destructive' || category === 'Financial')
    return `the client may not decide over a ${category} call`
  return undefined
}

export function standingOf(row: ApprovalRow): RequirementStatus[] {
  return row.asks.map((ask, at) => ({ ...ask, approvedBy: approversOf(row.votes, at, row.edited) }))
}

export function isSatisfied(
  asks: readonly ApprovalRequirement[],
  votes: readonly StoredVote[],
  edit: number,
) {
  // Nothing that asks is satisfied by nobody.
  if (asks.length === 0) return false
  return asks.every(({ quorum }, at) => approversOf(votes, at, edit).length >= quorum)
}

function approversOf(votes: readonly StoredVote[], ask: number, edit: number): string[] {
  const counted = votes.filter(
    (vote) => vote.verdict === 'approve' && vote.edit === edit && vote.asks.includes(ask),
  )
  // A quorum is of people: two spellings of one name are one of them.
  const byForm = new Map(counted.map(({ by }) => [canonicalName(by), by]))
  return [...byForm.values()]
}
