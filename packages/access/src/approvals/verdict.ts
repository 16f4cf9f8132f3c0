// Checks a verdict against the request, its approver and channel before anything changes. Refuses
// with what is wrong and what to do.

import type { Channel } from '@sluice/policy/calls/decision'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { Person } from '../identity/person.ts'
import type { ApprovalVerdict } from './approval.ts'
import { isSatisfied, matchRequirements, mayNotDecide } from './count-votes.ts'
import { ARGS_LENGTH_MAX, COMMENT_LENGTH_MAX } from './limits.ts'
import type { ApprovalRow, StoredVote } from './requests.ts'

/** The votes on a request with one more. */
export interface VoteTally {
  readonly votes: readonly StoredVote[]
  /** The vote that was added, the last of `votes`. */
  readonly vote: StoredVote
  /** The number of edits of the arguments that the vote is on. */
  readonly edit: number
  /** What the vote made of the request: `voted` if it needs more of them. */
  readonly outcome: 'approved' | 'denied' | 'voted'
}

interface VerdictOrigin {
  readonly who: Person
  readonly channel: Channel
  readonly atMs: number
  /** Returns what is wrong with edited arguments. */
  readonly readArgs: (text: string) => string | undefined
}

export function tallyVerdict(
  row: ApprovalRow,
  verdict: ApprovalVerdict,
  { who, channel, atMs, readArgs }: VerdictOrigin,
): VoteTally {
  const no = mayNotDecide(row, who, channel)
  if (no !== undefined) throw new OperationError(no, 'another approver has to decide')
  const { comment = '', args, forAWhile } = verdict
  if (typeof comment !== 'string' || comment.length > COMMENT_LENGTH_MAX)
    throw new OperationError(
      `the comment has more than ${COMMENT_LENGTH_MAX} characters`,
      'shorten it',
    )
  const { name: by, kind, proof } = who
  const given = { by, kind, proof, channel, verdict: verdict.verdict, comment, atMs }
  if (verdict.verdict === 'deny') {
    if (args !== undefined || forAWhile !== undefined)
      throw new OperationError('a denial changes no arguments and lasts no while', 'leave them out')
    if (channel === 'client' && matchRequirements(row, who, channel).asks.length === 0)
      throw new OperationError('the client may not decide this', 'a person has to')
    const vote: StoredVote = { ...given, asks: [], edit: row.edited }
    return { votes: [...row.votes, vote], vote, edit: row.edited, outcome: 'denied' }
  }
  const { asks, why } = matchRequirements(row, who, channel)
  if (asks.length === 0)
    throw new OperationError(
      `\`${by}\` may not approve this: ${why.join('; ')}`,
      'ask one of those it names',
    )
  if (args !== undefined) checkEdit(row, args, readArgs)
  // Of two who must agree, one must not be able to change what the other has read.
  else if ((verdict.edits ?? 0) !== row.edited)
    throw new OperationError(
      'the arguments were changed by another approver in the meantime',
      'look at the request once more',
    )
  const edit = args === undefined ? row.edited : row.edited + 1
  const has = row.votes.some(
    (vote) => vote.by === by && vote.verdict === 'approve' && vote.edit === edit && !vote.gone,
  )
  if (has) throw new OperationError(`\`${by}\` has approved it already`, 'it waits for others')
  const vote: StoredVote = { ...given, asks, edit }
  const votes = [...row.votes, vote]
  const isDone = isSatisfied(row.asks, votes, edit)
  if (forAWhile !== undefined && !(isDone && isSatisfied(row.asks, [vote], edit)))
    throw new OperationError(
      'a standing approval is given by one person, and this request needs more than one',
      'approve the call alone',
    )
  if (forAWhile !== undefined && (args !== undefined || row.edited > 0))
    throw new OperationError('edited arguments cannot get a standing approval', 'one or the other')
  return { votes, vote, edit, outcome: isDone ? 'approved' : 'voted' }
}

function checkEdit(
  row: ApprovalRow,
  args: string,
  readArgs: (text: string) => string | undefined,
): void {
  const closed = row.asks.find(({ editArgs }) => !editArgs)
  if (closed !== undefined)
    throw new OperationError(
      `${closed.rule} does not let an approver change arguments`,
      'approve it as it is, or deny it; `edit_args: true` in the rule would allow it',
    )
  if (row.method !== 'tools/call')
    throw new OperationError('only the arguments of a tool can be changed', 'approve it as it is')
  if (args.length > ARGS_LENGTH_MAX)
    throw new OperationError(`arguments of more than ${ARGS_LENGTH_MAX} characters`, 'shorten them')
  const wrong = readArgs(args)
  if (wrong !== undefined)
    throw new OperationError(`the changed arguments: ${wrong}`, 'give a JSON object')
}

/** A pending request is decided; an approved and unused one can be revoked. */
export function checkOpen(
  { state, usedBy, votes }: ApprovalRow,
  { verdict }: ApprovalVerdict,
): void {
  if (state === 'pending') return
  if (state === 'approved' && usedBy === null && verdict === 'deny') return
  const last = votes.at(-1)
  const did = last?.verdict === 'deny' ? 'denied' : 'approved'
  throw new OperationError(
    `the request is ${state} already${last === undefined ? '' : `: \`${last.by}\` has ${did} it`}`,
    state === 'void' ? 'if the call still waits, it has a new request' : 'nothing to do',
  )
}
