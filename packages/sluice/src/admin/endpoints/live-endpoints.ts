// Calls as they pass and recorded calls: the stream of Live, pages of the ledger, one call explained,
// events. Everything here only looks; reading is done in a thread of its own.

import { z } from 'zod'
import { OUTCOME_LABELS } from '../../core/outcome-label.ts'
import type { CallExplanation } from '../contract/contract-console.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { EventStreamResponse } from '../http/events.ts'
import { explainCall } from '../queries/call-views.ts'
import type { NamesRequest } from '../queries/histogram.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import type { LiveHub } from './live-hub.ts'
import { STRETCH, toStretch } from './stretch.ts'

export interface LiveEndpointParts {
  readonly hub: LiveHub
  readonly reader: LedgerReader
  /** The rule of a pointer, as written in the document in force. */
  readonly ruleText: (policy: string, pointer: string) => CallExplanation['ruleText']
  /** What a session is called; its id if that is not known any more. */
  readonly nameSession: (session: string) => string
  readonly nowMs: () => number
}

const word = z.string().min(1).max(400).optional()
const number = z.coerce.number().int().min(0).optional()
/** Which calls: everything given must hold. */
export const FILTER = z.strictObject({
  principal: word,
  agent: word,
  session: word,
  server: word,
  name: word,
  action: word,
  code: word,
  sinceMs: number,
  untilMs: number,
  text: word,
  word: z.enum(OUTCOME_LABELS).optional(),
})
const QUERY = FILTER.extend({
  order: z.enum(['newest', 'oldest']).optional(),
  before: number,
  after: number,
  limit: z.coerce.number().int().min(1).max(500).optional(),
})
const NAMED_COLUMNS = ['principal', 'agent', 'session', 'server', 'tool', 'code'] as const
const NAMES = z.strictObject({
  of: z.enum(NAMED_COLUMNS satisfies readonly NamesRequest['of'][]),
  text: z.string().max(400).default(''),
})
const ADDRESS = z.strictObject({
  session: z.string().max(400),
  atMs: z.coerce.number().int().min(0),
  seq: number,
})

export function liveEndpoints(parts: LiveEndpointParts): Endpoint[] {
  const { hub, reader, ruleText, nameSession, nowMs } = parts
  return [
    endpoint({
      method: 'GET',
      path: '/api/live',
      role: 'viewer',
      summary:
        'calls as they pass: events `hello` (LiveSnapshot), `rows` (LiveRows), then `tick` (LiveTick)',
      handle: ({ lastEventId }) =>
        new EventStreamResponse((feed) => {
          let isHere = true
          const { resumed, leave } = hub.join(feed, lastEventId)
          if (!resumed)
            void reader.ask('past', nowMs()).then(
              (rows) => isHere && feed.send('rows', rows, hub.lastId),
              () => {},
            )
          return () => {
            isHere = false
            leave()
          }
        }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/ledger',
      role: 'viewer',
      query: QUERY,
      summary: 'calls on record, newest or oldest first, a page at a time',
      handle: ({ query }) => reader.ask('page', toSelection(query)),
    }),
    endpoint({
      method: 'GET',
      path: '/api/ledger/histogram',
      role: 'viewer',
      query: FILTER,
      summary: 'the same calls counted in intervals of time by outcome (CallHistogram)',
      handle: ({ query, request }) => reader.ask('histogram', toSelection(query), request),
    }),
    endpoint({
      method: 'GET',
      path: '/api/ledger/names',
      role: 'viewer',
      query: NAMES,
      summary: 'names that recorded calls have in one column, for suggestions (LedgerNames)',
      handle: ({ query }) => reader.ask('names', query),
    }),
    endpoint({
      method: 'GET',
      path: '/api/overview',
      role: 'viewer',
      query: STRETCH,
      summary:
        'calls of a stretch of time by outcome, reason, principal, agent and tool (Overview)',
      handle: ({ query }) => reader.ask('overview', toStretch(query, nowMs())),
    }),
    endpoint({
      method: 'GET',
      path: '/api/ledger/events',
      role: 'viewer',
      summary: 'what happened to the gate itself: starts, policies, pins, freezes, people',
      handle: () => reader.ask('events', undefined as never),
    }),
    endpoint({
      method: 'GET',
      path: '/api/calls/:callId',
      role: 'viewer',
      query: ADDRESS,
      summary: 'one call with everything its verdict was reached from',
      handle: async ({ params, query }) => {
        const request = { ...query, callId: params.callId ?? '' }
        const { called, behind, context } = await reader.ask('call', request)
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
        const rule = ruleText(policy, decision.rule)
        return explainCall(called, rule, { ...context, sessionName })
      },
    }),
  ]
}

function toSelection(query: z.output<typeof QUERY>): Record<string, never> {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined),
  ) as Record<string, never>
}
