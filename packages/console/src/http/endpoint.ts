// One row of the API's table: where, who may, what it takes, what it does. The router serves the rows
// and openapi.ts describes them, so that no address can be without its authorisation or its page.

import type { IncomingMessage } from 'node:http'
import type { Person, Role } from '@sluice/access/identity/person'
import { required, text } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeFields } from '@sluice/policy/document/shape'
import type { JsonObject } from '@sluice/policy/values/json'
import type { Download } from './download.ts'
import type { EventStreamResponse } from './events.ts'

/** What a handler gets; everything in it has been checked. */
export interface EndpointCall<Input> {
  /** Who asks; `proof` is `passkey` where the row needs one, and was given. */
  readonly person: Person
  /** A passkey assertion for just this request came along and holds. */
  readonly isProven: boolean
  /** From the path, and from the query or the body. */
  readonly input: Input
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
  /** What is named in the path is there, the other fields in the query or the body. */
  readonly input: ShapeFields
  readonly hasBody: boolean
  /** JSON Schema of the answer, if it has one. */
  readonly output?: JsonObject
  /** A JSON value, a stream of events, or a file. */
  readonly handle: (call: EndpointCall<never>) => unknown
}

/** `GET /api/approvals/:id`. */
export type Route = `${Endpoint['method']} /${string}`

/** The names in a path. */
type PathNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type EndpointDefinition<Path, Fields> = Pick<Endpoint, 'role' | 'summary' | 'output'> & {
  readonly proof?: Endpoint['proof']
  /** Fields beside those that are named in the path. */
  readonly input?: Fields
  readonly handle: (
    call: EndpointCall<FieldValues<Fields> & Readonly<Record<PathNames<Path>, string>>>,
  ) => object | EventStreamResponse | Download | Promise<object>
}

/** Whether the fields of the input come in the body, else in the query. */
export function takesBody(method: Endpoint['method']): boolean {
  return method === 'POST' || method === 'PUT'
}

export function namesIn(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

const IN_PATH = required(text(300), 'in the path')

/**
 * A row that only HTTP has. What a person or program can ask of a gate is an operation (operations/), from
 * which the socket and the command line derive too. These are none: sign-in and passkeys, because the socket
 * knows its caller by the operating system; streams and files, which are not one answer; what a page of the
 * console shows at once, which commands have apart; agents, which commands reach by tool calls, as any
 * client; and saving a policy or trying a call, which commands do with the file and with a client.
 */
// biome-ignore lint/complexity/noBannedTypes: without `input` there are no fields
export function endpoint<const At extends Route, const Fields extends ShapeFields = {}>(
  route: At,
  { proof = false, input, handle, ...row }: EndpointDefinition<At, Fields>,
): Endpoint {
  const [method, path] = route.split(' ') as [Endpoint['method'], string]
  const named = Object.fromEntries(namesIn(path).map((name) => [name, IN_PATH]))
  return {
    ...row,
    method,
    path,
    proof,
    input: { ...named, ...input },
    hasBody: input !== undefined && takesBody(method),
    handle: handle as Endpoint['handle'],
  }
}
