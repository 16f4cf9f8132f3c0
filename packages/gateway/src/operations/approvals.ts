// `sluice approvals`: calls that wait for a person. Listing and waiting for news need no proof on the
// socket; every verdict, every look behind a mask and every lifting does. Whether this person may decide
// over a request is the engine's to say.

import {
  APPROVAL_STATES,
  type ApprovalBlock,
  type ApprovalRequest,
  type ApprovalService,
  type ApprovalVerdict,
  type RevealedArguments,
  type StandingApproval,
} from '@sluice/access/approvals/approval'
import { COUNT, FLAG, fieldsOf, listOf, objectOf } from '@sluice/access/identity/answer-shapes'
import {
  BOOLEAN,
  form,
  integer,
  list,
  object,
  record,
  required,
  someOf,
  text,
  textOrEmpty,
  word,
} from '@sluice/policy/document/build-shape'
import type { ShapeValue } from '@sluice/policy/document/shape'
import { NotFoundError, OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { APPROVALS_LISTED_MAX, APPROVALS_PAGE_MAX, DENIED_AT_ONCE_MAX } from './limits.ts'
import {
  type LedgerLookup,
  type Operation,
  type OperationParts,
  operation,
  type Requester,
} from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const WORDS = textOrEmpty(10_000)
const ID = required(text(300), 'of the request; at a terminal the beginning is enough')
const FILTER = {
  states: { shape: list(word(APPROVAL_STATES), 7), doc: 'only in these states' },
  server: { shape: text(64), doc: 'only of this server' },
  principal: { shape: text(300), doc: 'only of this caller' },
} as const
const BOUND = object('a bound', {
  any: { shape: BOOLEAN, doc: 'any value' },
  oneOf: { shape: someOf(WORDS, 100), doc: 'one of these JSON texts' },
  min: { shape: WORDS, doc: 'at least this number' },
  max: { shape: WORDS, doc: 'at most this number' },
  lines: { shape: list(list(WORDS, 101), 21), doc: 'command lines of these families' },
  below: { shape: WORDS, doc: 'this directory and what is below it' },
})
const COUNT_MAX = Number.MAX_SAFE_INTEGER
const TERMS = object('terms of a standing approval', {
  forMs: required(integer(1, COUNT_MAX), 'how long, in milliseconds'),
  calls: { shape: integer(1, COUNT_MAX), doc: 'at most so many calls' },
  session: { shape: BOOLEAN, doc: 'only in the session of the call' },
  bounds: {
    shape: record(form('name of an argument', /^[\s\S]{0,200}$/, 'its name'), BOUND),
    doc: 'what arguments may be; the others stay exactly as they are',
  },
})

const REQUEST = objectOf<ApprovalRequest>()
const STANDING_FIELDS = {
  standing: listOf(objectOf<StandingApproval>()),
  barred: listOf(objectOf<ApprovalBlock>()),
} as const
const LISTING = fieldsOf(
  { requests: listOf(REQUEST) },
  { ...STANDING_FIELDS, news: COUNT, total: COUNT },
)
export type ApprovalsListing = ShapeValue<typeof LISTING>

export const LIST_APPROVALS = operation({
  name: 'approvals.list',
  summary: 'held calls, the newest first',
  role: 'viewer',
  proof: 'none',
  socket: 'approvals',
  needsGate: true,
  http: { method: 'GET', path: '/api/approvals' },
  input: {
    ...FILTER,
    text: {
      shape: text(200),
      doc: 'only with this text in the tool, a person, a comment or a value, in any case',
    },
    before: { shape: text(64), doc: 'those older than this request' },
    limit: { shape: integer(1, APPROVALS_PAGE_MAX), doc: 'at most so many' },
  },
  output: LISTING,
  run: async (parts, input, { channel }) => {
    const { approvals, lookup } = parts
    const { text: wanted } = input
    const recorded = wanted === undefined ? undefined : await lookup?.recordedArguments(wanted)
    const filter = { ...input, ...pickDefined({ recorded }) }
    if (channel !== 'console') return listAll(parts, { states: ['pending'], ...filter })
    const requests = await fillArguments(await approvals.list(filter), lookup)
    // Of the first page.
    return input.before === undefined
      ? { requests, total: await approvals.count(filter) }
      : { requests }
  },
})

/** Answers when something has changed since `news`, or after a while. */
export const APPROVAL_NEWS = operation({
  name: 'approvals.news',
  summary: 'what waits, when something has changed',
  role: 'viewer',
  proof: 'none',
  socket: 'approvals-news',
  needsGate: true,
  command: 'approvals watch',
  input: {
    news: { shape: integer(0, COUNT_MAX), doc: 'what the last answer said' },
  },
  output: LISTING,
  run: async (parts, input) => {
    if (parts.news.count === input.news) await parts.news.next()
    return listAll(parts, { states: ['pending'] })
  },
})

export const SHOW_APPROVAL = operation({
  name: 'approvals.show',
  summary: 'one held call',
  role: 'viewer',
  proof: 'none',
  socket: 'approval',
  needsGate: true,
  http: { method: 'GET', path: '/api/approvals/:id' },
  input: { id: ID },
  output: REQUEST,
  run: async (parts, input, asker) => {
    const request = findRequest(parts, input.id, asker)
    const [filled] = await fillArguments([request], parts.lookup)
    return filled ?? request
  },
})

export const REVEAL_APPROVAL = operation({
  name: 'approvals.reveal',
  summary: 'what is sent, with what is masked elsewhere; on record',
  role: REQUIRED_ROLES.verdict,
  proof: 'fresh',
  socket: 'approval-reveal',
  needsGate: true,
  http: { method: 'POST', path: '/api/approvals/:id/reveal' },
  command: 'approvals show --reveal',
  input: { id: ID },
  output: objectOf<RevealedArguments>(),
  run: (parts, input, asker) =>
    parts.approvals.reveal(findRequest(parts, input.id, asker).id, asker.by),
})

export const DECIDE_APPROVAL = operation({
  name: 'approvals.decide',
  summary: 'approve or deny',
  role: REQUIRED_ROLES.verdict,
  proof: 'fresh',
  socket: 'approval-decide',
  needsGate: true,
  http: { method: 'POST', path: '/api/approvals/:id/verdict' },
  command: ({ verdict }) => `approvals ${String(verdict)}`,
  changes: true,
  input: {
    id: ID,
    verdict: required(word(['approve', 'deny']), 'what is decided'),
    comment: { shape: WORDS, doc: 'in the audit log; a denial tells it to the caller' },
    edits: {
      shape: integer(0, COUNT_MAX),
      doc: 'as the request that was seen has it; needed if an approver changed the arguments',
    },
    args: { shape: textOrEmpty(1_024 * 1_024), doc: 'JSON text of the arguments to send instead' },
    forAWhile: { shape: TERMS, doc: 'a standing approval: calls like this one pass, too' },
  },
  output: REQUEST,
  run: (parts, { id, ...verdict }, asker) => {
    const request = findRequest(parts, id, asker)
    const { by, channel } = asker
    return parts.approvals.decide(request.id, verdict as ApprovalVerdict, by, channel)
  },
})

/** Each with the same verdict: what was decided meanwhile, or may not be decided by this person, stays. */
const DENY_APPROVALS = operation({
  name: 'approvals.deny',
  summary: 'deny several held calls at once',
  role: REQUIRED_ROLES.verdict,
  proof: 'fresh',
  needsGate: true,
  http: { method: 'POST', path: '/api/approvals/deny' },
  changes: true,
  input: {
    ids: required(someOf(ID.shape, DENIED_AT_ONCE_MAX), 'of the requests'),
    comment: { shape: WORDS, doc: 'in the audit log; told to the callers' },
  },
  output: fieldsOf({ requests: listOf(REQUEST) }),
  run: async (parts, { ids, comment = '' }, { by, channel }) => {
    const verdict = { verdict: 'deny', comment } as const
    const requests: ApprovalRequest[] = []
    const faults: Error[] = []
    for (const id of ids)
      await parts.approvals.decide(id, verdict, by, channel).then(
        (request) => requests.push(request),
        (error: Error) => faults.push(error),
      )
    if (requests.length === 0) throw faults[0]
    return { requests }
  },
})

const STANDING = operation({
  name: 'approvals.standing',
  summary: 'approvals that hold for a while, and tools that a session may not ask for',
  role: 'viewer',
  proof: 'none',
  http: { method: 'GET', path: '/api/standing' },
  input: {},
  output: fieldsOf(STANDING_FIELDS),
  run: ({ approvals: { standing, barred } }) => ({ standing, barred }),
})

export const END_STANDING = operation({
  name: 'approvals.end',
  summary: 'end an approval that holds for a while',
  role: REQUIRED_ROLES.verdict,
  proof: 'identity',
  socket: 'approval-end',
  needsGate: true,
  http: { method: 'DELETE', path: '/api/standing/:id' },
  changes: true,
  input: { id: { ...ID, doc: 'of the standing approval' } },
  output: fieldsOf({ ended: FLAG }),
  run: async ({ approvals }, { id }, { by }) => {
    await approvals.endStanding(id, by)
    return { ended: true }
  },
})

export const LIFT = operation({
  name: 'approvals.lift',
  summary: 'let a session ask for a tool again',
  role: REQUIRED_ROLES.verdict,
  proof: 'fresh',
  socket: 'approval-lift',
  needsGate: true,
  http: { method: 'POST', path: '/api/barred/lift' },
  changes: true,
  input: {
    session: required(WORDS, 'as `sluice approvals list` shows it'),
    server: required(WORDS, 'the server of the tool'),
    name: required(WORDS, 'the tool'),
  },
  output: fieldsOf({ lifted: FLAG }),
  run: async ({ approvals }, input, { by }) => {
    await approvals.lift(input, by)
    return { lifted: true }
  },
})

export const APPROVAL_OPERATIONS: readonly Operation[] = [
  LIST_APPROVALS,
  APPROVAL_NEWS,
  SHOW_APPROVAL,
  REVEAL_APPROVAL,
  DECIDE_APPROVAL,
  DENY_APPROVALS,
  STANDING,
  END_STANDING,
  LIFT,
]

/** Arguments are deleted with the decision: those that a rule read are on record. */
async function fillArguments(
  requests: readonly ApprovalRequest[],
  lookup: LedgerLookup | undefined,
): Promise<readonly ApprovalRequest[]> {
  const deleted = requests.filter(({ args }) => args === '').map(({ id }) => id)
  if (deleted.length === 0) return requests
  const recorded = await lookup?.recordedArguments(deleted)
  return requests.map((one) => ({ ...one, args: recorded?.get(one.id) ?? one.args }))
}

async function listAll(
  { approvals, news }: Pick<OperationParts, 'approvals' | 'news'>,
  filter: Parameters<ApprovalService['list']>[0],
): Promise<ApprovalsListing> {
  // What changes while it is listed is news.
  const { count } = news
  const requests = await approvals.list({ limit: APPROVALS_LISTED_MAX, ...filter })
  return { requests, standing: approvals.standing, barred: approvals.barred, news: count }
}

/** At the terminal the beginning of an id is enough; a signed request names it in full. */
function findRequest(
  { approvals }: Pick<OperationParts, 'approvals'>,
  id: string,
  { channel }: Requester,
): ApprovalRequest {
  const found = approvals.find(id)
  if (found !== undefined) return found
  const isWhole = channel === 'console'
  const alike = isWhole ? [] : approvals.idsStartingWith(id)
  const [first = '', second] = alike
  const only = second === undefined ? approvals.find(first) : undefined
  if (only !== undefined) return only
  if (second !== undefined)
    throw new OperationError(
      `\`${id}\` begins ${alike.length} requests`,
      'write more of it: `sluice approvals list`',
    )
  const help = isWhole ? 'see /api/approvals' : '`sluice approvals list`'
  throw new NotFoundError(`there is no request \`${id.slice(0, 40)}\``, help)
}
