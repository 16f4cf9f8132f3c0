// The operations that have an address under `/api`: each row of the table as an endpoint, and the stream
// of changes of held calls, which is no operation.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import { toAnswerSchema } from '@sluice/access/identity/answer-shapes'
import type { Person, Role } from '@sluice/access/identity/person'
import type { HttpFace, Operation, OperationParts } from '@sluice/gateway/operations/operation'
import { runProven } from '@sluice/gateway/operations/run-operation'
import type { ShapeFields } from '@sluice/policy/document/shape'
import type { JsonObject } from '@sluice/policy/values/json'
import { type Endpoint, type EndpointCall, endpoint, takesBody } from '../http/endpoint.ts'
import { EventStreamResponse } from '../http/events.ts'

/** What the console does beside an operation, by its name. */
type FollowUps = Readonly<
  Record<
    string,
    (answer: JsonObject, input: JsonObject, by: Person) => JsonObject | Promise<JsonObject>
  >
>

export function operationEndpoints(
  rows: readonly Operation[],
  parts: OperationParts,
  followUps: FollowUps = {},
): Endpoint[] {
  return rows.flatMap((row) => {
    const { http, summary, role, proof } = row
    if (http === undefined) return []
    const { method, path } = http
    const followUp = followUps[row.name] ?? ((answer: JsonObject) => answer)
    return [
      {
        method,
        path,
        summary,
        role: role as Role,
        proof: proof === 'fresh' || http.proof === true,
        input: fieldsOf(row.input, http),
        hasBody: takesBody(method),
        ...(row.output === undefined ? {} : { output: toAnswerSchema(row.output) }),
        handle: async ({ input, person }: EndpointCall<JsonObject>) =>
          followUp(await runProven(row, parts, input, person), input, person),
      },
    ]
  })
}

function fieldsOf(input: ShapeFields, { omit = [], require = [] }: HttpFace): ShapeFields {
  const fields = Object.entries(input).filter(([name]) => !omit.includes(name))
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      require.includes(name) ? { ...field, required: true as const } : field,
    ]),
  )
}

export function watchEndpoint(approvals: ApprovalService): Endpoint {
  return endpoint('GET /api/approvals/watch', {
    role: 'viewer',
    summary: 'every change of a held call, as an event `approval`',
    handle: () =>
      new EventStreamResponse((feed) =>
        approvals.watch((request) => void feed.send('approval', request)),
      ),
  })
}
