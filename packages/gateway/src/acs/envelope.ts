// The envelope of a request of the Agent Control Standard 0.1.0 (OWASP): JSON-RPC with a version, an id, a time,
// the agent and its session, and a signature over all of it. Read here as far as every method has it; a payload is
// read by read-step.ts.

import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { ACS_NAME_LENGTH_MAX, ACS_SKEW_MS } from './limits.ts'

/** The version of the standard that the gate speaks. Any with the same major version is accepted. */
export const ACS_VERSION = '0.1.0'

/** Codes of JSON-RPC and of the standard. */
export const ACS_CODE = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  fault: -32603,
  version: -32001,
  signature: -32004,
  replay: -32005,
  time: -32006,
} as const

export interface AcsRequest {
  /** The id of JSON-RPC, which the response repeats. */
  readonly id: string | number
  readonly method: string
  /** Unique within the session: a request with one that was used is a replay. */
  readonly requestId: string
  readonly timestamp: string
  /** The grant that the agent signs as. */
  readonly agent: string
  readonly session: string
  readonly version: string
  readonly payload: JsonObject
  /** What the agent has signed: the request without its signature, as canonical JSON (RFC 8785). */
  readonly signed: string
  /** Base64; undefined if there is none that the gate can check. */
  readonly signature: string | undefined
  /** The members of `params` without the signature, which the chain commits to. */
  readonly params: JsonObject
}

/** Why a request has no decision. */
export interface AcsFault {
  readonly code: number
  readonly message: string
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

export function isAcsName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= ACS_NAME_LENGTH_MAX
}

/** The id of JSON-RPC of anything that has arrived; null if it has none. */
export function idOf(value: JsonValue): string | number | null {
  const id = isObject(value) ? value.id : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

export function readEnvelope(value: JsonValue): AcsRequest | AcsFault {
  if (Array.isArray(value)) return invalid('a batch is not read: send one request at a time')
  if (!isObject(value)) return invalid('it is not an object')
  const { jsonrpc, method, params } = value
  const id = idOf(value)
  if (jsonrpc !== '2.0') return invalid(`\`jsonrpc\` is ${quote(jsonrpc)}, and has to be "2.0"`)
  if (typeof method !== 'string') return invalid(`\`method\` is ${quote(method)}, and no text`)
  if (id === null) return invalid(`\`id\` is ${quote(value.id)}, and neither a text nor a number`)
  if (!isObject(params)) return invalid(`\`params\` is ${quote(params)}, and no object`)
  const { signature, ...signedParams } = params
  const { acs_version, request_id, timestamp, metadata, payload = {} } = signedParams
  if (typeof acs_version !== 'string')
    return invalid(`\`acs_version\` is ${quote(acs_version)}, and no text`)
  if (typeof request_id !== 'string' || !UUID.test(request_id))
    return invalid(`\`request_id\` is ${quote(request_id)}, and no UUID`)
  if (typeof timestamp !== 'string' || !TIME.test(timestamp))
    return invalid(`\`timestamp\` is ${quote(timestamp)}, and no time of ISO 8601 with a zone`)
  if (!isObject(metadata)) return invalid(`\`metadata\` is ${quote(metadata)}, and no object`)
  const { agent_id: agent, session_id: session } = metadata
  if (!isAcsName(agent)) return invalid(`\`metadata.agent_id\` is ${quote(agent)}, and no name`)
  if (!isAcsName(session))
    return invalid(`\`metadata.session_id\` is ${quote(session)}, and no name`)
  if (!isObject(payload)) return invalid(`\`payload\` is ${quote(payload)}, and no object`)
  return {
    id,
    method,
    requestId: request_id,
    timestamp,
    agent,
    session,
    version: acs_version,
    payload,
    signed: writeCanonicalJson({ ...value, params: signedParams }),
    signature: readSignature(signature),
    params: signedParams,
  }
}

/** Undefined if the request may be decided on: its version is known, and its time is now. `offMs`: how far its timestamp
 * is ahead of the gate's clock; not a number if there is no such time. */
export function findEnvelopeFault(
  { version, timestamp }: AcsRequest,
  offMs: number,
): AcsFault | undefined {
  if (!/^0\.\d+\.\d+$/.test(version))
    return {
      code: ACS_CODE.version,
      message: `UNSUPPORTED_VERSION: \`acs_version\` is \`${version.slice(0, 60)}\`, and this gate speaks ${ACS_VERSION}`,
    }
  if (Math.abs(offMs) <= ACS_SKEW_MS) return undefined
  const where = offMs < 0 ? 'behind' : 'ahead of'
  const why = Number.isNaN(offMs)
    ? 'is no time'
    : `is ${Math.abs(offMs)} ms ${where} the gate's clock, at most ${ACS_SKEW_MS} ms are accepted`
  const message = `TIMESTAMP_OUT_OF_WINDOW: \`timestamp\` \`${timestamp}\` ${why}`
  return { code: ACS_CODE.time, message }
}

/** What a response signs: itself, without its signature. */
export function toSignedText(response: JsonObject): string {
  return writeCanonicalJson(response)
}

function readSignature(signature: JsonValue | undefined): string | undefined {
  if (!isObject(signature) || signature.algorithm !== 'HMAC-SHA256') return undefined
  return typeof signature.value === 'string' ? signature.value : undefined
}

export function invalid(why: string): AcsFault {
  return { code: ACS_CODE.invalidRequest, message: `Invalid Request: ${why}` }
}

export function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
