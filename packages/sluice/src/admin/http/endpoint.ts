// One row of the API's table: where, who may, what it takes, what it does. The router serves the rows
// and openapi.ts describes them, so that no address can be without its authorisation or its page.

import type { IncomingMessage } from 'node:http'
import type { JsonObject } from '@sluice/policy/core/json'
import type { ShapeFields } from '@sluice/policy/document/shape'
import type { z } from 'zod'
import type { Person, Role } from '../../core/person.ts'
import type { Download } from './download.ts'
import type { EventStreamResponse } from './events.ts'

/** What a handler gets; everything in it has been checked. */
export interface EndpointCall<Body, Query> {
  /** Who asks; `proof` is `passkey` where the row needs one, and was given. */
  readonly person: Person
  /** A passkey assertion for just this request came along and holds. */
  readonly isProven: boolean
  /** Of the address: `:id` is `params.id`. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Body
  readonly query: Query
  /** Of an operation, from wherever it came. */
  readonly input: JsonObject
  /** Where the last stream of this client ended. */
  readonly lastEventId: string | undefined
  readonly request: IncomingMessage
}

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/api/approvals/:id`. */
  readonly path: string
  /** `anyone`: before sign-in. */
  readonly role: Role | 'anyone'
  /** Needs a fresh passkey assertion for just this request; a system's credential is one. `offered`:
   * checked if one is sent, and passed to the handler. */
  readonly proof: boolean | 'offered'
  readonly summary: string
  readonly body?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  /** Of an operation: its fields come from the path, and from the query or the body. */
  readonly input?: ShapeFields
  readonly answer?: z.ZodType | undefined
  /** Of an operation: JSON Schema of its answer. */
  readonly output?: JsonObject
  /** A JSON value, a stream of events, or a file. */
  readonly handle: (call: EndpointCall<unknown, unknown>) => unknown
}

interface EndpointDefinition<Body extends z.ZodType, Query extends z.ZodType> {
  readonly method: Endpoint['method']
  readonly path: string
  readonly role: Endpoint['role']
  readonly proof?: Endpoint['proof']
  readonly summary: string
  readonly body?: Body
  readonly query?: Query
  readonly answer?: z.ZodType
  readonly handle: (
    call: EndpointCall<z.output<Body>, z.output<Query>>,
  ) => object | EventStreamResponse | Download | Promise<object>
}

/** Whether the fields of the input come in the body, else in the query. */
export function hasBody({ method, body, input }: Endpoint): boolean {
  return input === undefined ? body !== undefined : method === 'POST' || method === 'PUT'
}

/**
 * A row that only HTTP has. What a person or program can ask of a gate is an operation (operations/), from
 * which the socket and the command line derive too. These are none: sign-in and passkeys, because the socket
 * knows its caller by the operating system; streams and files, which are not one answer; what a page of the
 * console shows at once, which commands have apart; agents, which commands reach by tool calls, as any
 * client; and saving a policy or trying a call, which commands do with the file and with a client.
 */
export function endpoint<
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>({ proof = false, handle, ...row }: EndpointDefinition<Body, Query>): Endpoint {
  return { ...row, proof, handle: handle as Endpoint['handle'] }
}
