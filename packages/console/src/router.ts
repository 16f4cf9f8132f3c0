// `/api`: finds the row of the table that a request is for, and lets it through to its handler only
// with everything the row asks for: sign-in, role, a body that fits, the proof. One way for all rows,
// so that none can be forgotten.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzip } from 'node:zlib'
import type { RelyingParty } from '@sluice/access/identity/people/passkeys'
import { hasRole, NOBODY, type Person } from '@sluice/access/identity/person'
import { readBody } from '@sluice/gateway/front/http/read-body'
import { checkInput } from '@sluice/gateway/operations/run-operation'
import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import { describeToCaller, isOutage } from '@sluice/ledger/store/outage'
import { fromText } from '@sluice/policy/document/locate-value'
import type { ShapeFields } from '@sluice/policy/document/shape'
import { attempt } from '@sluice/policy/structures/attempt'
import {
  InputError,
  NotFoundError,
  OperationError,
  OutageError,
} from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import { bearerOf, headerOf } from './http/bearer-token.ts'
import { Download } from './http/download.ts'
import type { Endpoint, EndpointCall } from './http/endpoint.ts'
import { type ApiCode, ApiError } from './http/errors.ts'
import { EventStreamResponse } from './http/events.ts'
import {
  API_BODY_BYTES_MAX,
  ASSERTION_LENGTH_MAX,
  STREAMS_MAX,
  STREAMS_PER_PERSON_MAX,
  ZIPPED_LENGTH_MIN,
} from './http/limits.ts'
import type { Challenges } from './sign-in/challenges.ts'
import type { SignIns } from './sign-in/sign-ins.ts'

export interface RouterOptions {
  readonly endpoints: readonly Endpoint[]
  readonly signIns: SignIns
  readonly challenges: Challenges
  /** The address that a request came to. */
  readonly rpOf: (request: IncomingMessage) => RelyingParty
}

interface EndpointRoute {
  readonly pattern: RegExp
  readonly endpoints: Map<string, Endpoint>
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export class Router {
  readonly #options: RouterOptions
  readonly #routes: EndpointRoute[] = []
  /** What ends each, and whose it is. */
  readonly #streams = new Map<() => void, string>()

  constructor(options: RouterOptions) {
    this.#options = options
    const byPath = new Map<string, EndpointRoute>()
    for (const row of options.endpoints) {
      const route = byPath.get(row.path) ?? { pattern: patternOf(row.path), endpoints: new Map() }
      route.endpoints.set(row.method, row)
      byPath.set(row.path, route)
    }
    // What is spelt out comes before what has a name in it.
    this.#routes = [...byPath]
      .sort(([one], [other]) => Number(one.includes(':')) - Number(other.includes(':')))
      .map(([, route]) => route)
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // By which a caller finds the answer to its request in its own log; AuthZEN requires it, with errors too.
    const requestId = headerOf(request, 'x-request-id')
    if (requestId !== undefined) response.setHeader('x-request-id', requestId)
    try {
      const answer = await this.#answer(request)
      if (answer instanceof EventStreamResponse || answer instanceof Download)
        return this.#stream(answer, request, response)
      send(response, 200, answer, acceptsGzip(request))
    } catch (error) {
      writeApiError(response, error as Error)
    }
  }

  /** Ends every stream. */
  close(): void {
    for (const end of this.#streams.keys()) end()
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const url = new URL(request.url ?? '', 'http://gate.invalid')
    const { row, params } = this.#find(request.method ?? '', url.pathname)
    checkOrigin(request, this.#options.rpOf(request))
    const token = bearerOf(request)
    const person = row.role === 'anyone' ? NOBODY : this.#options.signIns.who(token).person
    if (row.role !== 'anyone' && !hasRole(person, row.role))
      throw new ApiError(
        'API_ROLE',
        `\`${person.name}\` may not do this`,
        `it needs the role \`${row.role}\`; an admin gives roles`,
      )
    const text = row.method === 'GET' ? '' : await readRequestBody(request, row)
    const source = row.hasBody ? () => jsonOf(text) : url.searchParams
    const input = readInput(row.input, params, source)
    const isProven =
      row.proof === true ||
      (row.proof === 'offered' && headerOf(request, 'sluice-proof') !== undefined)
    // With the query: it says what is done, too.
    const path = url.pathname + url.search
    const by = isProven ? await this.#prove(person, request, path, text) : person
    const lastEventId = headerOf(request, 'last-event-id')
    const call = { person: by, isProven, input, lastEventId, request }
    return row.handle(call as EndpointCall<never>)
  }

  #find(method: string, path: string): { row: Endpoint; params: Record<string, string> } {
    for (const { pattern, endpoints } of this.#routes) {
      const found = pattern.exec(path)
      if (found === null) continue
      const row = endpoints.get(method)
      if (row === undefined)
        throw new ApiError(
          'API_METHOD',
          `\`${path}\` has no ${method}`,
          [...endpoints.keys()].join(', '),
        )
      return { row, params: decoded(found.groups ?? {}) }
    }
    throw new ApiError(
      'API_NOT_FOUND',
      `nothing is at \`${path.slice(0, 100)}\``,
      'see /api/openapi.json',
    )
  }

  /** A system's credential is its proof; a person needs a passkey, for just this. */
  async #prove(
    person: Person,
    request: IncomingMessage,
    path: string,
    body: string,
  ): Promise<Person> {
    if (person.kind === 'system' && person.proof === 'token') return person
    const proof = headerOf(request, 'sluice-proof') ?? ''
    if (proof === '' || proof.length > ASSERTION_LENGTH_MAX)
      throw new ApiError(
        'API_PROOF',
        'this needs a passkey',
        'ask for a challenge at POST /api/proofs, and send the assertion in `Sluice-Proof`',
      )
    const assertion: unknown = attempt(() => JSON.parse(Buffer.from(proof, 'base64').toString()))
    if (assertion === undefined)
      throw new ApiError('API_PROOF', '`Sluice-Proof` is not an assertion', 'base64 of its JSON')
    const action = { method: request.method ?? '', path, body }
    const rp = this.#options.rpOf(request)
    return this.#options.challenges.prove(person, assertion, action, rp)
  }

  #stream(
    events: EventStreamResponse | Download,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const token = bearerOf(request)
    const { name } = this.#options.signIns.who(token).person
    const full = this.#refuseIfFull(name)
    if (full !== undefined) return writeApiError(response, full)
    const isIn = () => attempt(() => this.#options.signIns.who(token) !== undefined, false)
    const end: () => void = events.serve(response, isIn, () => this.#streams.delete(end))
    this.#streams.set(end, name)
  }

  /** One person's pages, or a program with their token, must not keep the others out. */
  #refuseIfFull(name: string): ApiError | undefined {
    if (this.#streams.size >= STREAMS_MAX)
      return new ApiError('API_LIMIT', `${STREAMS_MAX} streams are open already`, 'close a page')
    const own = [...this.#streams.values()].filter((of) => of === name).length
    if (own < STREAMS_PER_PERSON_MAX) return undefined
    return new ApiError(
      'API_LIMIT',
      `${STREAMS_PER_PERSON_MAX} streams of \`${name}\` are open already`,
      'close a page of yours: each has up to two',
    )
  }
}

/** A page elsewhere on this machine is another's: it may not even ask. */
function checkOrigin(request: IncomingMessage, rp: RelyingParty): void {
  const origin = headerOf(request, 'origin')
  const site = headerOf(request, 'sec-fetch-site')
  const isOurs = origin === undefined || origin.toLowerCase() === rp.origin
  const isHere = site === undefined || site === 'same-origin' || site === 'none'
  if (!isOurs || !isHere)
    throw new ApiError('API_ORIGIN', 'the page is not of this gate', `open ${rp.origin}/`)
}

async function readRequestBody(request: IncomingMessage, row: Endpoint): Promise<string> {
  const isEmpty = Number(request.headers['content-length'] ?? 0) === 0
  if (isEmpty && request.headers['transfer-encoding'] === undefined) return ''
  if (!row.hasBody) throw new ApiError('API_REQUEST', 'no body is read here', 'leave it out')
  const body = await readBody(request, API_BODY_BYTES_MAX)
  if (body.text !== undefined) return body.text
  throw new ApiError('API_REQUEST', body.why, 'send JSON, as application/json')
}

/** Read strictly first: doubled keys and the like are refused, not read one way or the other. */
function jsonOf(text: string): unknown {
  if (text === '') return {}
  const read = readJson(text)
  if (read.ok) return JSON.parse(text)
  throw new ApiError('API_REQUEST', `the body is not JSON: ${read.message}`, 'send JSON')
}

function decoded(groups: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]),
    )
  } catch {
    throw new ApiError('API_REQUEST', 'the address cannot be read', 'encode it as UTF-8')
  }
}

/** `/api/approvals/:id` takes one part for `id`. */
function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => part.replace(/^:(\w+)$/, '(?<$1>[^/]{1,300})'))
  return new RegExp(`^${parts.join('/')}$`)
}

function send(response: ServerResponse, status: number, value: unknown, isZipped = false): void {
  if (response.headersSent || response.destroyed) return
  const text = JSON.stringify(value)
  const write = (body: string | Buffer, headers: object) =>
    response.writeHead(status, { ...HEADERS, vary: 'accept-encoding', ...headers }).end(body)
  if (!isZipped || text.length < ZIPPED_LENGTH_MIN) return void write(text, {})
  // In a thread of the pool: no call waits for it.
  gzip(text, (error, body) => {
    if (error === null) write(body, { 'content-encoding': 'gzip' })
    else write(text, {})
  })
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return String(headers['accept-encoding'] ?? '').includes('gzip')
}

function codeOf(error: Error): ApiCode {
  if (error instanceof InputError) return 'API_REQUEST'
  if (error instanceof NotFoundError) return 'API_NOT_FOUND'
  if (error instanceof OutageError || isOutage(error)) return 'GATE_UNAVAILABLE'
  return error instanceof OperationError ? 'API_REFUSED' : 'API_FAULT'
}

function writeApiError(response: ServerResponse, error: Error): void {
  const { help = 'see the log of the gate' } = error as Partial<OperationError>
  const known =
    error instanceof ApiError ? error : new ApiError(codeOf(error), describeToCaller(error), help)
  const { code, message, status } = known
  if (status === 503) response.setHeader('retry-after', UNAVAILABLE_RETRY_MS / 1_000)
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="sluice"')
  send(response, status, { error: { code, message, help } })
}

/**
 * The input as a request brings it: names in the path, and the query or the body. A
 * query is text; its values become what their shapes say.
 */
function readInput(
  fields: ShapeFields,
  params: Readonly<Record<string, string>>,
  source: URLSearchParams | (() => unknown),
): JsonObject {
  const rest = typeof source === 'function' ? source() : fromQuery(fields, source)
  if (!isObject(rest)) throw new InputError('the body is not an object', 'see /api/openapi.json')
  const doubled = Object.keys(params).find((name) => Object.hasOwn(rest, name))
  if (doubled !== undefined)
    throw new InputError(`\`${doubled}\` is in the path already`, 'leave it out elsewhere')
  const input = { ...rest, ...params }
  checkInput(fields, input)
  return input
}

function fromQuery(fields: ShapeFields, query: URLSearchParams): JsonObject {
  return Object.fromEntries(
    [...query].map(([name, text]) => {
      const shape = Object.hasOwn(fields, name) ? fields[name]?.shape : undefined
      return [name, shape === undefined ? text : fromText(shape, text)]
    }),
  )
}
