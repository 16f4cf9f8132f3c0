// A request of the Agent Control Standard that is written by hand: signed as an agent does it, with whatever is wrong with
// it, and the requests that every gate refuses.

import { createHmac, hkdfSync, randomUUID } from 'node:crypto'
import { writeCanonicalJson } from '../../packages/policy/src/values/canonical-json.ts'
import type { JsonObject } from '../../packages/policy/src/values/json.ts'

export const ACS_KEY = 'a'.repeat(64)
/** Calls without an approval. */
export const ORDER = { tool: { name: 'get_order' }, arguments: {} }

type Signed = JsonObject & { readonly params: JsonObject }

export interface AcsSent {
  readonly session?: string
  readonly requestId?: string
  readonly timestamp?: string
  readonly key?: string
  /** The name of the grant; `shop` if left out. */
  readonly agent?: string
  readonly version?: string
  /** Changes the request after it was signed. */
  readonly change?: (request: Signed) => unknown
}

/** The body of a request. */
export function writeAcsRequest(method: string, payload: object, options: AcsSent = {}): string {
  const { session = randomUUID(), requestId = randomUUID(), key = ACS_KEY } = options
  const params = {
    acs_version: options.version ?? '0.1.0',
    request_id: requestId,
    timestamp: options.timestamp ?? new Date().toISOString(),
    metadata: { agent_id: options.agent ?? 'shop', session_id: session },
    payload: payload as JsonObject,
  }
  const request = { jsonrpc: '2.0', id: 1, method, params }
  const sessionKey = Buffer.from(hkdfSync('sha256', key, '', session, 32))
  const value = createHmac('sha256', sessionKey)
    .update(writeCanonicalJson(request))
    .digest('base64')
  const signature = { algorithm: 'HMAC-SHA256', value, key_id: 'k' }
  const signed = { ...request, params: { ...params, signature } }
  const body = options.change?.(signed) ?? signed
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** The result or the error that the gate at `url` answers with. */
export async function sendAcs(url: string, body: string): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/acs`, { method: 'POST', headers, body })
  const { result, error } = (await response.json()) as JsonObject
  return (result ?? error) as JsonObject
}

const without =
  (name: string) =>
  ({ params, ...rest }: Signed) => {
    const { [name]: _, ...others } = params
    return { ...rest, params: others }
  }
const movedTo = (metadata: JsonObject) => (request: Signed) => ({
  ...request,
  params: { ...request.params, metadata },
})

export interface BadAcsRequest {
  readonly name: string
  readonly sent: AcsSent
  readonly code: number
  /** Part of the message. */
  readonly why: string
}

/** Of `ORDER`, which would pass. */
export function listBadAcsRequests(nowMs: number): readonly BadAcsRequest[] {
  const at = (ms: number) => new Date(nowMs + ms).toISOString()
  const invalid = 'SIGNATURE_INVALID'
  return [
    { name: 'no JSON', sent: { change: () => '{"a":' }, code: -32700, why: 'Parse error' },
    {
      name: 'a doubled key',
      sent: { change: () => '{"id":1,"id":2}' },
      code: -32700,
      why: 'Parse error',
    },
    { name: 'a batch', sent: { change: (one) => [one] }, code: -32600, why: 'a batch is not read' },
    ...['request_id', 'timestamp', 'metadata'].map((member) => ({
      name: `no ${member}`,
      sent: { change: without(member) },
      code: -32600,
      why: `\`${member}\` is missing`,
    })),
    {
      name: 'another version',
      sent: { version: '1.0.0' },
      code: -32001,
      why: '`acs_version` is `1.0.0`',
    },
    { name: 'no signature', sent: { change: without('signature') }, code: -32004, why: invalid },
    { name: 'another key', sent: { key: 'b'.repeat(64) }, code: -32004, why: invalid },
    { name: 'no such agent', sent: { agent: 'other' }, code: -32004, why: invalid },
    {
      name: 'a request moved to another session',
      sent: { change: movedTo({ agent_id: 'shop', session_id: randomUUID() }) },
      code: -32004,
      why: invalid,
    },
    { name: 'an old one', sent: { timestamp: at(-301_000) }, code: -32006, why: 'behind the gate' },
    {
      name: 'one of the future',
      sent: { timestamp: at(330_000) },
      code: -32006,
      why: 'ahead of the gate',
    },
    {
      name: 'no such day',
      sent: { timestamp: '2026-13-01T00:00:00Z' },
      code: -32006,
      why: 'is no time',
    },
  ]
}
