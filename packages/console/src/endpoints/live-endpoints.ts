// Recorded calls: pages of the ledger, one call explained, events. Everything here only looks; reading is done in a thread of its own.

import { COUNT } from '@sluice/access/identity/answer-shapes'
import type { Query } from '@sluice/ledger/query/query'
import { RECORD_LABELS } from '@sluice/ledger/records/outcome-label'
import { parseConditions, TAGS } from '@sluice/ledger/records/recorded-values'
import { integer, required, text, word } from '@sluice/policy/document/build-shape'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { explainCall } from '../queries/call-views.ts'
import type { NamesRequest } from '../queries/histogram.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import type { CallAddress } from '../queries/read-requests.ts'
import type { RuleText } from '../queries/rule-text.ts'
import { SUMMED_BY } from '../queries/value-queries.ts'
import { STRETCH, toStretch } from './stretch.ts'

export interface LiveEndpointParts {
  readonly reader: LedgerReader
  /** The rule of a pointer, as written in the document in force. */
  readonly ruleText: (policy: string, pointer: string) => RuleText | null
  /** What a session is called; its id if that is not known any more. */
  readonly nameSession: (session: string) => string
  readonly nowMs: () => number
}

const TEXT = text(400)
/** Which calls: everything given must hold. */
export const FILTER = {
  principal: { shape: TEXT, doc: 'who called' },
  agent: { shape: TEXT, doc: 'which agent' },
  session: { shape: TEXT, doc: 'in which session' },
  parent: { shape: TEXT, doc: 'by the program of which call of `run_code`' },
  server: { shape: TEXT, doc: 'to which server' },
  name: { shape: TEXT, doc: 'which tool' },
  action: { shape: TEXT, doc: 'what was decided' },
  code: { shape: TEXT, doc: 'for which reason' },
  sinceMs: STRETCH.sinceMs,
  untilMs: STRETCH.untilMs,
  text: { shape: TEXT, doc: 'words that the record has' },
  word: { shape: word(RECORD_LABELS), doc: 'how it ended' },
  where: { shape: TEXT, doc: 'recorded values and tags: `args.amount > 5000; approver:ada`' },
} as const
const QUERY = {
  ...FILTER,
  order: {
    shape: word(['newest', 'oldest', 'largest', 'smallest']),
    doc: 'which come first; the last two by the value at `sort`',
  },
  sort: { shape: TEXT, doc: 'the path of a recorded value: only calls that have one' },
  before: { shape: COUNT, doc: 'only records before this one' },
  after: { shape: COUNT, doc: 'only records after this one' },
  limit: { shape: integer(1, 500), doc: 'at most so many' },
} as const
const COLUMNS = ['principal', 'agent', 'session', 'server', 'tool', 'code', 'value'] as const
const NAMED_COLUMNS = [...COLUMNS, ...TAGS] as const
const NAMES = {
  of: required(word(NAMED_COLUMNS satisfies readonly NamesRequest['of'][]), 'the column'),
  text: { shape: { ...TEXT, empty: true }, doc: 'what they contain' },
} as const
const ADDRESS = {
  session: required({ ...TEXT, empty: true }, 'of the call'),
  atMs: required(COUNT, 'when it was made'),
  seq: { shape: COUNT, doc: 'of its record' },
} as const

export function liveEndpoints(parts: LiveEndpointParts): Endpoint[] {
  const { reader, nowMs } = parts
  return [
    endpoint('GET /api/ledger', {
      role: 'viewer',
      input: QUERY,
      summary: 'calls on record, newest or oldest first, a page at a time',
      handle: ({ input: { sort }, input, request }) =>
        reader.ask(sort === undefined ? 'page' : 'sorted', toQuery(input), request),
    }),
    endpoint('GET /api/ledger/histogram', {
      role: 'viewer',
      input: FILTER,
      summary: 'the same calls counted in intervals of time by outcome (CallHistogram)',
      handle: ({ input, request }) => reader.ask('histogram', toQuery(input), request),
    }),
    sumEndpoint(reader),
    endpoint('GET /api/ledger/names', {
      role: 'viewer',
      input: NAMES,
      summary: 'names that recorded calls have in one column, for suggestions (LedgerNames)',
      handle: ({ input }) => reader.ask('names', { text: '', ...input }),
    }),
    endpoint('GET /api/overview', {
      role: 'viewer',
      input: {
        ...STRETCH,
        top: { shape: integer(1, 1_000), doc: 'so many tools, the most called first' },
      },
      summary:
        'calls of a stretch of time by outcome, reason, principal, agent and tool (Overview)',
      handle: ({ input }) =>
        reader.ask('overview', { ...toStretch(input, nowMs()), top: input.top }),
    }),
    endpoint('GET /api/ledger/events', {
      role: 'viewer',
      summary: 'what happened to the gate itself: starts, policies, pins, freezes, people',
      handle: () => reader.ask('events', undefined),
    }),
    endpoint('GET /api/calls/:callId', {
      role: 'viewer',
      input: ADDRESS,
      summary: 'one call with everything its verdict was reached from',
      handle: ({ input }) => findCall(parts, input),
    }),
  ]
}

function sumEndpoint(reader: LedgerReader): Endpoint {
  return endpoint('GET /api/ledger/sum', {
    role: 'viewer',
    input: {
      ...FILTER,
      sort: required(TEXT, 'the path of the value'),
      by: { shape: word(SUMMED_BY), doc: 'also for each caller, or each approver' },
    },
    summary:
      'sum, smallest and largest of a recorded value of the same calls, for each currency (RecordedSum)',
    handle: ({ input: { by, ...input }, request }) =>
      reader.ask('sum', { query: toQuery(input), by }, request),
  })
}

/** Conditions that cannot be read are refused before the reading thread is asked. */
export function toQuery(input: object): Query {
  const query = input as Query
  parseConditions(query.where)
  return query
}

async function findCall(
  { reader, ruleText, nameSession }: LiveEndpointParts,
  address: CallAddress,
) {
  const { called, behind, context } = await reader.ask('call', address)
  if (called === null)
    throw new ApiError(
      'API_NOT_FOUND',
      behind > 0
        ? `${behind} records are being indexed, and this call is not among the others`
        : 'this call is not on record yet',
      'look again in some seconds',
    )
  const { policy, decision, session } = called.record
  // Sessions of other gates, and of earlier runs, are known from their records only.
  const known = nameSession(session)
  const sessionName = known === session ? (context.sessionName ?? known) : known
  return explainCall(called, ruleText(policy, decision.rule), { ...context, sessionName })
}
