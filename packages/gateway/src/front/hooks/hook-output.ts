// The output of a client's tool on its way through the gate: as the result of the call, as text for origins, and as
// what the model reads in its place.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { type HookAnswer, PASS } from '../../hooks/clients/hook-event.ts'
import type { CallReply } from '../sessions/kept-links.ts'

/** An object stays one, so that a rule for answers changes its texts and not its form. */
export function toResult(output: JsonValue, isError: boolean): JsonObject {
  if (isObject(output)) return { content: [], structuredContent: output, isError }
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return { content: [{ type: 'text', text }], isError }
}

/** Every text of an output, and what it is called. */
export function joinTexts(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(joinTexts).join('\n')
  if (!isObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, member]) => `${key}\n${joinTexts(member)}`)
    .join('\n')
}

/** What the model is to read, if that is not what the tool said. */
export function toReplacement(reply: CallReply, output: JsonValue): HookAnswer {
  if (reply.kind !== 'result')
    return { kind: 'replace', output: replaceTexts(output, reply.text), reason: reply.text }
  const shown = isObject(output) ? (reply.structured ?? {}) : reply.text
  const said = isObject(output) || typeof output === 'string' ? output : JSON.stringify(output)
  return JSON.stringify(shown) === JSON.stringify(said) ? PASS : { kind: 'replace', output: shown }
}

/** Clients ignore a replacement that has another form than the output, and show the output. */
function replaceTexts(value: JsonValue, text: string): JsonValue {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, text))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    key === 'type' ? member : replaceTexts(member, text),
  ])
  return Object.fromEntries(entries) as JsonObject
}
