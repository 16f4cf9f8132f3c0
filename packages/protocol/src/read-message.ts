// The strict reader of JSON-RPC messages: a text becomes messages that every peer would read the
// same way, or a rejection that says why. Keeps the text of each member of `params` and of
// `result`, so that what was decided on is what is sent. Pure; every transport reads with it, in
// both directions.

import { isObject } from '@sluice/policy/values/json'
import { checkParams, rejectCaseVariant } from './check-params.ts'
import { findId, isId } from './find-id.ts'
import { OPEN_ARRAY, OPEN_OBJECT } from './json/characters.ts'
import type { WireErrorCode } from './json/errors.ts'
import {
  BATCH_MESSAGES_MAX,
  ID_LENGTH_MAX,
  JSON_LIMITS,
  type JsonLimits,
  METHOD_LENGTH_MAX,
} from './json/limits.ts'
import { JsonReader } from './json/read-json.ts'
import { skipValue } from './json/skip-json.ts'
import { quoteForMessage, WireRejection } from './json/wire-rejection.ts'
import { ENVELOPE_KEYS, ERROR_KEYS, PARAMS_KEYS } from './known-keys.ts'
import type { JsonRpcMessage, JsonRpcResponse, ParsedMembers, RequestId } from './message.ts'

/** Only this revision of MCP has batches. */
export function hasBatches(revision: string): boolean {
  return revision === '2025-03-26'
}

export interface ReadOptions {
  /** Whether the revision has batches (of MCP's only 2025-03-26). */
  readonly batches: boolean
  readonly limits?: Partial<JsonLimits>
}

export type MessagesReading =
  | { readonly ok: true; readonly messages: JsonRpcMessage[]; readonly batch: boolean }
  | {
      readonly ok: false
      readonly code: WireErrorCode
      readonly message: string
      /** Where in the text, in UTF-16 code units. */
      readonly offset: number
      /**
       * Of the single refused message, if it can be determined: to answer it, or to fail the
       * request that it was to answer.
       */
      readonly id: RequestId | null
      /** It has no `method`, as far as can be determined. */
      readonly isAnswer: boolean
    }

export function readMessages(text: string, options: ReadOptions): MessagesReading {
  const limits = options.limits === undefined ? JSON_LIMITS : { ...JSON_LIMITS, ...options.limits }
  const reader = new JsonReader(text, limits)
  try {
    return reader.readText(() => readRoot(reader, options.batches))
  } catch (thrown) {
    if (!(thrown instanceof WireRejection)) throw thrown
    const { code, message, offset } = thrown
    return { ok: false, code, message, offset, ...findId(text) }
  }
}

function readRoot(reader: JsonReader, batches: boolean): MessagesReading & { ok: true } {
  if (reader.skipSpace() !== OPEN_ARRAY)
    return { ok: true, messages: [readOne(reader)], batch: false }
  const start = reader.at
  if (!batches) reader.refuse('WIRE_BATCH', 'a batch, send every message by itself')
  const messages: JsonRpcMessage[] = []
  reader.readValue(undefined, () => {
    if (reader.skipSpace() === OPEN_ARRAY) reader.refuse('WIRE_BATCH', 'a batch inside a batch')
    if (messages.length >= BATCH_MESSAGES_MAX)
      reader.refuse('WIRE_BATCH', `a batch has more than ${BATCH_MESSAGES_MAX} messages`)
    messages.push(readOne(reader))
    return null
  })
  if (messages.length === 0) reader.refuse('WIRE_BATCH', 'a batch has no message', start)
  return { ok: true, messages, batch: true }
}

/** A message while it is read; an absent member is undefined. */
interface Envelope {
  jsonrpc: '2.0' | undefined
  id: RequestId | null | undefined
  method: string | undefined
  params: ParsedMembers | undefined
  paramsAt: number
  result: string | undefined
  error: JsonRpcResponse['error']
}

function readOne(reader: JsonReader): JsonRpcMessage {
  const isObjectAhead = reader.skipSpace() === OPEN_OBJECT
  const start = reader.at
  if (!isObjectAhead) {
    skipValue(reader)
    reader.refuse('WIRE_ENVELOPE', 'a message must be an object', start)
  }
  const envelope: Envelope = {
    jsonrpc: undefined,
    id: undefined,
    method: undefined,
    params: undefined,
    paramsAt: start,
    result: undefined,
    error: undefined,
  }
  reader.eachMember((keyAt) => readMember(reader, envelope, keyAt))
  if (envelope.jsonrpc === undefined)
    reader.refuse('WIRE_VERSION', '`jsonrpc` is missing, it must be the string "2.0"', start)
  const source = reader.text.slice(start, reader.at)
  return envelope.method === undefined
    ? toAnswer(reader, envelope, start, source)
    : toRequest(reader, envelope, envelope.method, start, source)
}

/** The usual spellings, by their first letters; any other spelling is read like every string. */
const BY_FIRST_LETTER: readonly ({ readonly key: string; readonly written: string } | undefined)[] =
  Array.from({ length: 128 }, (_, code) => {
    const keys = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
    const key = keys.find((each) => each.charCodeAt(0) === code)
    return key === undefined ? undefined : { key, written: `"${key}":` }
  })

/** Reads the key at `reader.at` and advances to its value. */
function readKey(reader: JsonReader, keyAt: number): string {
  const { text } = reader
  const likely = BY_FIRST_LETTER[text.charCodeAt(keyAt + 1)]
  if (likely !== undefined && text.startsWith(likely.written, keyAt)) {
    reader.at = keyAt + likely.written.length
    reader.skipSpace()
    return likely.key
  }
  const key = reader.readString()
  reader.skipColon()
  return key
}

function readMember(reader: JsonReader, envelope: Envelope, keyAt: number): void {
  const key = readKey(reader, keyAt)
  const start = reader.at
  if (key === 'jsonrpc') {
    if (envelope.jsonrpc !== undefined) reader.refuseDoubled(key, keyAt)
    if (reader.readValue() !== '2.0')
      reader.refuse('WIRE_VERSION', '`jsonrpc` must be the string "2.0"', start)
    envelope.jsonrpc = '2.0'
  } else if (key === 'id') {
    if (envelope.id !== undefined) reader.refuseDoubled(key, keyAt)
    envelope.id = readId(reader, start)
  } else if (key === 'method') {
    if (envelope.method !== undefined) reader.refuseDoubled(key, keyAt)
    envelope.method = readMethod(reader, start)
  } else if (key === 'params') {
    if (envelope.params !== undefined) reader.refuseDoubled(key, keyAt)
    envelope.params = readParams(reader, start)
    envelope.paramsAt = start
  } else if (key === 'result') {
    if (envelope.result !== undefined) reader.refuseDoubled(key, keyAt)
    skipValue(reader)
    envelope.result = reader.text.slice(start, reader.at)
  } else if (key === 'error') {
    if (envelope.error !== undefined) reader.refuseDoubled(key, keyAt)
    envelope.error = readError(reader, start)
  } else {
    rejectCaseVariant(key, ENVELOPE_KEYS, keyAt)
    reader.refuse(
      'WIRE_ENVELOPE',
      `a message has no member ${quoteForMessage(key)}, leave it out`,
      keyAt,
    )
  }
}

function readId(reader: JsonReader, start: number): RequestId | null {
  const id = reader.readValue()
  if (id === null || isId(id)) return id === 0 ? 0 : id
  if (typeof id === 'string')
    return reader.refuse('WIRE_ID', `\`id\` has more than ${ID_LENGTH_MAX} characters`, start)
  const kinds = 'a string or a whole number that a double holds exactly'
  return reader.refuse('WIRE_ID', `\`id\` must be ${kinds}`, start)
}

function readMethod(reader: JsonReader, start: number): string {
  const method = reader.readValue()
  if (typeof method !== 'string')
    return reader.refuse('WIRE_METHOD', '`method` must be a string', start)
  if (method.length > METHOD_LENGTH_MAX)
    reader.refuse('WIRE_METHOD', `\`method\` has more than ${METHOD_LENGTH_MAX} characters`, start)
  return method
}

function readParams(reader: JsonReader, start: number): ParsedMembers {
  const text = new Map<string, string>()
  const value = reader.readValue((key, keyAt) => {
    rejectCaseVariant(key, PARAMS_KEYS, keyAt)
    reader.skipSpace()
    const from = reader.at
    const member = reader.readValue()
    text.set(key, reader.text.slice(from, reader.at))
    return member
  })
  if (!isObject(value)) return reader.refuse('WIRE_PARAMS', '`params` must be an object', start)
  return reader.isPlain ? { value, text, isOneLine: true } : { value, text }
}

function readError(reader: JsonReader, start: number): JsonRpcResponse['error'] {
  const error = reader.readValue((key, keyAt) => {
    rejectCaseVariant(key, ERROR_KEYS, keyAt)
    return reader.readValue()
  })
  const { code, message, data } = isObject(error) ? error : {}
  if (typeof code !== 'number' || !Number.isSafeInteger(code) || typeof message !== 'string')
    return reader.refuse('WIRE_ENVELOPE', '`error` must be { code, message, data }', start)
  return data === undefined ? { code, message } : { code, message, data }
}

function toRequest(
  reader: JsonReader,
  { id, params, paramsAt, result, error }: Envelope,
  method: string,
  start: number,
  source: string,
): JsonRpcMessage {
  if (result !== undefined || error !== undefined)
    reader.refuse(
      'WIRE_ENVELOPE',
      'a message has `method` together with `result` or `error`',
      start,
    )
  checkParams(method, params?.value, paramsAt)
  if (id === null)
    return reader.refuse('WIRE_ID', 'the `id` of a request is `null`, give it one', start)
  if (id !== undefined) return { kind: 'request', id, method, params, source }
  // A call without an id would be run by some servers, and answered by none.
  if (!method.startsWith('notifications/'))
    reader.refuse(
      'WIRE_METHOD',
      `${quoteForMessage(method)} is not a notification, give it an \`id\``,
      start,
    )
  return { kind: 'notification', method, params, source }
}

function toAnswer(
  reader: JsonReader,
  { id, params, result, error }: Envelope,
  start: number,
  source: string,
): JsonRpcMessage {
  const wrong =
    params !== undefined
      ? 'a message has `params` but no `method`'
      : result === undefined && error === undefined
        ? 'a message has no `method`, no `result` and no `error`'
        : result !== undefined && error !== undefined
          ? 'an answer has `result` and `error`, keep one'
          : undefined
  if (wrong !== undefined) reader.refuse('WIRE_ENVELOPE', wrong, start)
  if (result !== undefined && (id === undefined || id === null))
    reader.refuse('WIRE_ID', 'an answer with a `result` has no `id`', start)
  return { kind: 'answer', id: id ?? null, result, error, source }
}
