// Writes JSON-RPC messages: a new envelope from what was parsed, members of `params` and results as
// the exact text that was read. Pure; the gate sends nothing that is not written here or forwarded
// whole, and every line-framed peer (stdio, `data:` of a stream) gets it through `oneLine`.

import type { Steps } from '@sluice/policy/structures/steps'
import { type JsonValue, quoteJson } from '@sluice/policy/values/json'
import { writeJson } from './json/write-json.ts'
import type { RequestId } from './message.ts'

/** Replacement texts of members of `params`; undefined removes a member. */
export type Overrides = Readonly<Record<string, string | undefined>>

type MemberTexts = ReadonlyMap<string, string> | undefined

export function writeRequest(
  id: RequestId,
  method: string,
  members: MemberTexts,
  overrides?: Overrides,
): string {
  return `{"jsonrpc":"2.0","id":${writeId(id)},${writeCall(method, members, overrides)}}`
}

export function writeNotification(
  method: string,
  members: MemberTexts,
  overrides?: Overrides,
): string {
  return `{"jsonrpc":"2.0",${writeCall(method, members, overrides)}}`
}

export function writeResult(id: RequestId, resultText: string): string {
  return `{"jsonrpc":"2.0","id":${writeId(id)},"result":${resultText}}`
}

/** A response that was written for one id, for another. */
export function withResponseId(answer: string, from: RequestId, to: RequestId): string {
  const head = `{"jsonrpc":"2.0","id":`
  const before = head + JSON.stringify(from)
  if (!answer.startsWith(before)) throw new Error(`no answer to \`${from}\``)
  return head + JSON.stringify(to) + answer.slice(before.length)
}

export function writeError(
  id: RequestId | null,
  code: number,
  message: string,
  data?: JsonValue,
): string {
  const error = `"code":${code},"message":${JSON.stringify(message)}`
  const rest = data === undefined ? '' : `,"data":${writeJson(data)}`
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{${error}${rest}}}`
}

function writeCall(method: string, members: MemberTexts, overrides?: Overrides): string {
  const params = overrides === undefined ? members : overridden(members, overrides)
  const head = `"method":${quoteJson(method)}`
  return params === undefined ? head : `${head},"params":${writeMembers(params)}`
}

/**
 * Adds members to others, or replaces them. An override that is undefined removes the member. Undefined if there were no
 * members and none were added.
 */
function overridden(members: MemberTexts, overrides: Overrides): MemberTexts {
  const params = new Map(members)
  for (const [key, text] of Object.entries(overrides)) {
    if (text === undefined) params.delete(key)
    else params.set(key, text)
  }
  return members === undefined && params.size === 0 ? undefined : params
}

/** An object of members whose texts are already written: the inverse of `splitMembers`. */
export function writeMembers(members: ReadonlyMap<string, string>): string {
  let written = ''
  for (const [key, text] of members) written += `${written && ','}${quoteJson(key)}:${text}`
  return `{${written}}`
}

function writeId(id: RequestId): string {
  return typeof id === 'number' ? String(id) : quoteJson(id)
}

/**
 * What a peer may read as the end of a line, and tabs. JSON allows the first four only between
 * tokens and the last three only inside strings, so the context need not be known.
 */
const BREAKS = /[\t\n\r\u0085\u2028\u2029]/
const BETWEEN_TOKENS = /[\t\n\r]+/g
const INSIDE_STRINGS = /[\u0085\u2028\u2029]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '\u0085': '\\u0085',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/**
 * A JSON text that the strict reader accepted, on one line and with the same value. Otherwise an
 * `arguments` object on its own line would be a call without a decision.
 */
export function oneLine(text: string): string {
  if (!BREAKS.test(text)) return text
  return text
    .replace(BETWEEN_TOKENS, '')
    .replace(INSIDE_STRINGS, (character) => ESCAPES[character] as string)
}

/** Characters of a step. */
const STEP_LENGTH = 65_536

/** Does the same as `oneLine`, with a pause after each part. */
export function* oneLineSteps(text: string): Steps<string> {
  if (text.length <= STEP_LENGTH) return oneLine(text)
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at += STEP_LENGTH) {
    const part = text.slice(at, at + STEP_LENGTH)
    const written = oneLine(part)
    if (written !== part) {
      parts.push(text.slice(from, at), written)
      from = at + STEP_LENGTH
    }
    yield
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}
