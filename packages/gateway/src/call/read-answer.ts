// The document that an answer is, for conditions over its fields: structured content, or a single block of
// text that is one JSON document. Read strictly: what two parsers could read differently has no value.

import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import { ANSWER_READ_CHARS_MAX } from '../shared/limits.ts'

/** Returns undefined for an error, for text, and for what is not read. */
export function readAnswer(message: string): JsonValue | undefined {
  if (message.length > ANSWER_READ_CHARS_MAX) return undefined
  const read = readJson(message)
  const result = read.ok && isObject(read.value) ? read.value.result : undefined
  if (!isObject(result) || result.isError === true) return undefined
  if (result.structuredContent !== undefined) return result.structuredContent
  const [block, ...others] = Array.isArray(result.content) ? result.content : []
  if (!isObject(block) || others.length > 0 || typeof block.text !== 'string') return undefined
  const document = readJson(block.text)
  return document.ok ? document.value : undefined
}
