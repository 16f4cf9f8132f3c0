// Held calls over `/api`: the inbox, one request, its arguments in full, a verdict, and every change as
// it happens. A verdict needs the proof, for just this request and just this verdict; whether this
// person may decide over it is the engine's to say.

import { z } from 'zod'
import {
  APPROVAL_STATES,
  type ApprovalFilter,
  type ApprovalService,
  type ApprovalVerdict,
} from '../../core/approval.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { EventStreamResponse } from '../http/events.ts'
import { APPROVALS_PAGE_MAX } from '../http/limits.ts'

const STATES: readonly string[] = APPROVAL_STATES
const FILTER = z.strictObject({
  /** `pending,approved`. */
  states: z
    .string()
    .transform((text) => text.split(','))
    .refine((states) => states.every((state) => STATES.includes(state)), {
      message: `states are ${STATES.join(', ')}`,
    })
    .optional(),
  server: z.string().max(64).optional(),
  principal: z.string().max(300).optional(),
  /** Those older than this request. */
  before: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(APPROVALS_PAGE_MAX).optional(),
})

const TEXT = z.string().max(10_000)
const BOUND = z.union([
  z.strictObject({ any: z.literal(true) }),
  z.strictObject({ oneOf: z.array(TEXT).min(1).max(100) }),
  z.strictObject({ min: TEXT.optional(), max: TEXT.optional() }),
])
const VERDICT = z.strictObject({
  verdict: z.enum(['approve', 'deny']),
  comment: TEXT.optional(),
  /** As the request that was seen has it; needed where an approver changed the arguments. */
  edits: z.number().int().min(0).optional(),
  /** JSON text of the arguments to send instead. */
  args: z
    .string()
    .max(1_024 * 1_024)
    .optional(),
  forAWhile: z
    .strictObject({
      forMs: z.number().int().positive(),
      calls: z.number().int().positive().optional(),
      bounds: z.record(z.string().max(200), BOUND).optional(),
    })
    .optional(),
})

export function approvalEndpoints(approvals: ApprovalService): Endpoint[] {
  const found = (id: string | undefined) => {
    const request = approvals.find(id ?? '')
    if (request !== undefined) return request
    throw new ApiError('API_NOT_FOUND', `no request is called \`${id}\``, 'see /api/approvals')
  }
  return [
    endpoint({
      ...{ method: 'GET', path: '/api/approvals', role: 'viewer', query: FILTER },
      summary: 'held calls, the newest first',
      handle: ({ query }) => ({ requests: approvals.list(query as ApprovalFilter) }),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/approvals/watch', role: 'viewer' },
      summary: 'every change of a held call, as an event `approval`',
      handle: () =>
        new EventStreamResponse((feed) =>
          approvals.watch((request) => void feed.send('approval', request)),
        ),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/approvals/:id', role: 'viewer' },
      summary: 'one held call',
      handle: ({ params }) => found(params.id),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/approvals/:id/reveal', role: 'approver', proof: true },
      body: z.strictObject({}),
      summary: 'what is sent, with what is masked elsewhere; on record',
      handle: async ({ params, person }) => approvals.reveal(found(params.id).id, person),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/approvals/:id/verdict', role: 'approver', proof: true },
      body: VERDICT,
      summary: 'approve or deny',
      handle: ({ params, body, person }) =>
        approvals.decide(found(params.id).id, body as ApprovalVerdict, person, 'console'),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/standing', role: 'viewer' },
      summary: 'approvals that hold for a while, and tools that a session may not ask for',
      handle: () => ({ standing: approvals.standing, barred: approvals.barred }),
    }),
    endpoint({
      ...{ method: 'DELETE', path: '/api/standing/:id', role: 'approver' },
      summary: 'end an approval that holds for a while',
      handle: async ({ params, person }) => {
        await approvals.endStanding(params.id ?? '', person)
        return { ended: true }
      },
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/barred/lift', role: 'approver', proof: true },
      body: z.strictObject({ session: TEXT, server: TEXT, name: TEXT }),
      summary: 'let a session ask for a tool again',
      handle: async ({ body, person }) => {
        await approvals.lift(body, person)
        return { lifted: true }
      },
    }),
  ]
}
