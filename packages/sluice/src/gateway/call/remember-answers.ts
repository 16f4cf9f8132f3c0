// What a session remembers of a message towards its client: the texts and the structured content of
// answers, prompts and resources, errors, and what a server says unasked. Called for every message, and
// only if a rule reads where values came from.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { rememberAnswer } from '@sluice/policy/provenance/check-call'
import { ANSWER_REMEMBERED_CHARS_MAX } from '@sluice/policy/provenance/limits'
import type { Answer, SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { isDense } from '../../protocol/json/is-dense.ts'
import { PARSED_MARKS_MAX } from '../../protocol/json/limits.ts'
import type { ParsedMembers } from '../../protocol/message.ts'

export interface RememberedMessage {
  readonly text: string
  /** The parameters of the call that it answers; undefined if it answers none. */
  readonly params: ParsedMembers | undefined
  /** The policy says that nobody else writes what this source answers. */
  readonly isTrusted: boolean
}

export function rememberMessage(
  memory: SessionProvenance,
  { text, params, isTrusted }: RememberedMessage,
): void {
  // Escapes may double the length. What is not read counts as forgotten.
  if (text.length > 2 * ANSWER_REMEMBERED_CHARS_MAX || isDense(text, PARSED_MARKS_MAX))
    return memory.markIncomplete()
  const message = JSON.parse(text) as JsonObject
  const args = params?.value.arguments
  const name = nameTool(message, params)
  const call = { name, args: isObject(args) ? args : {}, inputSchema: undefined }
  rememberAnswer(call, toAnswer(message), memory, isTrusted)
}

/** The tool that answered; undefined for errors, prompts, resources and what was not asked for. */
function nameTool({ result }: JsonObject, params: ParsedMembers | undefined): string | undefined {
  const name = params?.value.name
  return isObject(result) && Array.isArray(result.content) && typeof name === 'string'
    ? name
    : undefined
}

/** The texts of a message, each read by itself, and everything else of it as structured content. */
function toAnswer({ result, error, params }: JsonObject): Answer {
  const texts: string[] = []
  if (isObject(error)) return { texts: [String(error.message)], structured: error.data }
  const value = result ?? params ?? null
  if (!isObject(value)) return { texts, structured: value }
  const { structuredContent = null } = value
  let rest: Record<string, JsonValue> | undefined
  for (const key of Object.keys(value)) {
    const member = value[key] as JsonValue
    if (BLOCKS.has(key)) collectTexts(member, texts)
    else if (key !== 'structuredContent' && key !== '_meta') {
      rest ??= Object.create(null) as Record<string, JsonValue>
      rest[key] = member
    }
  }
  if (rest === undefined && structuredContent === null) return { texts }
  return { texts, structured: [structuredContent, rest ?? null] }
}

const BLOCKS: ReadonlySet<string> = new Set(['content', 'contents', 'messages'])

/** Texts of content blocks; what is not text (a link, a name) counts as text too. */
function collectTexts(blocks: JsonValue, texts: string[]): void {
  if (typeof blocks === 'string') texts.push(blocks)
  else if (Array.isArray(blocks)) for (const block of blocks) collectTexts(block, texts)
  else if (isObject(blocks))
    for (const key of Object.keys(blocks))
      if (!IGNORED.has(key)) collectTexts(blocks[key] as JsonValue, texts)
}

/** Pictures and sound; what names the kind of a block. */
const IGNORED: ReadonlySet<string> = new Set(['type', 'mimeType', 'data', 'blob', 'role', '_meta'])
