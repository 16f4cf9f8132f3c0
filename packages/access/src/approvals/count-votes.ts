// Which votes count: the requirements a person may satisfy, and whether all of them are met. A vote
// counts for the arguments it was given on and for the requirements its approver matched then.
// Pure.

import type { ApprovalRequirement, Channel } from '@sluice/policy/calls/decision'
import { canonicalName, hasRole, type Person } from '../identity/person.ts'
import type { RequirementStatus } from './approval.ts'
import type { ApprovalRow, StoredVote } from './requests.ts'

/** Always available, whatever channels a rule names: a dead channel locks no one out. */
const ALWAYS: ReadonlySet<Channel> = new Set(['console', 'terminal'])

/** Why this person may not decide on the request at all; undefined if they may. */
export function mayNotDecide(row: ApprovalRow, who: Person, channel: Channel): string | undefined {
  // The caller itself has no role.
  if (channel === 'client') return undefined
  if (!hasRole(who, 'approver')) return `\`${who.name}\` is not an approver`
  // A system that calls and decides under one name would be an agent that approves itself.
  if (
    who.kind === 'system' &&
    (isSameName(who.name, row.principal.id) || isSameName(who.name, row.agent ?? ''))
  )
    return `\`${who.name}\` is the caller`
  return undefined
}

/**
 * The requirements that an approval by this person counts for, by index; for each other one, why
 * not.
 */
export function matchRequirements(
  row: ApprovalRow,
  who: Person,
  channel: Channel,
): { readonly asks: readonly number[]; readonly why: readonly string[] } {
  const asks: number[] = []
  const why: string[] = []
  for (const [at, ask] of row.asks.entries()) {
    const objection = findObjection(ask, row, who, channel)
    if (objection === undefined) asks.push(at)
    else why.push(`${ask.rule}: ${objection}`)
  }
  return { asks, why }
}

function findObjection(
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
    return `\`${who.name}\` owns \`${row.principal.id}\`, the caller, and duties are separate`
  const { approvers } = ask
  if (approvers.length === 0 || approvers.includes(who.name)) return undefined
  if (who.groups.some((group) => approvers.includes(group))) return undefined
  return `it asks for ${approvers.map((name) => `\`${name}\``).join(' or ')}`
}

function isSameName(one: string, other: string): boolean {
  return canonicalName(one) === canonicalName(other)
}

/**
 * A form answered by the client is the caller's own approval: real clients accept automatically.
 */
export function clientObjection(
  ask: ApprovalRequirement,
  { category }: Pick<ApprovalRow, 'category'>,
): string | undefined {
  if (!ask.channels.includes('client')) return 'the client may not decide it'
  if (ask.approvers.length > 0 || ask.quorum > 1) return 'it requires people'
  if (ask.separateDuties) return 'it is the caller’s own approval, and duties are separate'
  if (category === 'Destructive' || category === 'Financial')
    return `the client may not decide over a ${category} call`
  return undefined
}

export function listRequirementStatus(row: ApprovalRow): RequirementStatus[] {
  return row.asks.map((ask, at) => ({
    ...ask,
    approvedBy: listApprovers(row.votes, at, row.edited),
  }))
}

export function isSatisfied(
  asks: readonly ApprovalRequirement[],
  votes: readonly StoredVote[],
  edit: number,
): boolean {
  // Fails closed: without requirements nothing is approved.
  if (asks.length === 0) return false
  return asks.every(({ quorum }, at) => listApprovers(votes, at, edit).length >= quorum)
}

function listApprovers(votes: readonly StoredVote[], ask: number, edit: number): string[] {
  const counted = votes.filter(
    (vote) => vote.verdict === 'approve' && vote.edit === edit && vote.asks.includes(ask),
  )
  // A quorum counts people: two spellings of one name are one person.
  const byForm = new Map(counted.map(({ by }) => [canonicalName(by), by]))
  return [...byForm.values()]
}
