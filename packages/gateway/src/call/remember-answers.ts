// What a session remembers of a message towards its client: every member of answers, prompts and
// resources, errors, and what a server says unasked. Called for every message, and only if a rule reads
// where values came from.

import type { AnswerTrust } from '@sluice/policy/calls/provenance'
import { ANSWER_REMEMBERED_CHARS_MAX } from '@sluice/policy/provenance/limits'
import { rememberAnswer } from '@sluice/policy/provenance/remember-answer'
import type { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { Answer } from '@sluice/policy/provenance/write-answer'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { isDense } from '@sluice/protocol/json/is-dense'
import { PARSED_MARKS_MAX } from '@sluice/protocol/json/limits'
import type { ParsedMembers } from '@sluice/protocol/message'
import { CLIENT_TOOLS } from '../hooks/client-tools.ts'
import { isHookClient } from '../hooks/clients/table.ts'
import { originsFor } from '../session/program-origins.ts'
import type { SentRequest } from './pending-requests.ts'

export interface RememberedMessage {
  readonly text: string
  readonly server: string
  /** The call that it answers; undefined if it answers none. */
  readonly answered: Pick<SentRequest, 'params' | 'program'> | undefined
  /** What the policy trusts of this source. */
  readonly trust: AnswerTrust
  /** Which server inside the gate says it. */
  readonly builtin?: string | undefined
}

export function rememberMessage(
  memory: SessionProvenance,
  { text, server, answered, trust, builtin }: RememberedMessage,
): void {
  // Escapes may double the length. What is not read counts as forgotten.
  if (text.length > 2 * ANSWER_REMEMBERED_CHARS_MAX || isDense(text, PARSED_MARKS_MAX))
    return memory.markIncomplete()
  const short = readOneText(text)
  const message = short === undefined ? (JSON.parse(text) as JsonObject) : ONE_TEXT_MESSAGE
  const answer = short ?? toAnswer(message)
  // What a program says was computed. What it only copied is known by the answer that had it.
  if (builtin === 'code') {
    for (const one of answer.texts) {
      if (memory.hasRead) memory.addText(one)
      memory.addKnown(RUN_ID.exec(one)?.slice(1) ?? [])
    }
    return
  }
  const { params, program } = answered ?? {}
  const args = params?.value.arguments
  const name = nameTool(message, params)
  const read = isMarked(message.result) && trust !== 'all' ? [] : trust
  const asked = { args: isObject(args) ? args : {}, inputSchema: undefined }
  // Where the policy names fields of it, they count as it says.
  const isClientTool = read.length === 0 && isClientsOwn(builtin, name)
  const call = { ...asked, name, server, trust: read, isGates: builtin === 'agents', isClientTool }
  const said = isClientTool ? withoutFields(answer) : answer
  rememberAnswer(call, said, memory, originsFor(memory, program))
}

function isClientsOwn(builtin: string | undefined, tool = ''): boolean {
  return isHookClient(builtin) && CLIENT_TOOLS.has(tool)
}

/** The client chooses the names of what a file or a command says: `stdout` is no field. */
function withoutFields({ structured = null, ...answer }: Answer): Answer {
  const texts = [...answer.texts]
  collectTexts(structured, 'structuredContent', texts)
  return { ...answer, texts }
}

/** The form of most answers: one text, in which nothing has to be unescaped. */
const ONE_TEXT =
  /^\{"jsonrpc":"2\.0","id":(?:\d+|"[^"\\]*"),"result":\{"content":\[\{"type":"text","text":"([^"\\]*)"\}\](?:,"isError":false)?\}\}$/

const ONE_TEXT_MESSAGE: JsonObject = { result: { content: [] } }

/** Reads such an answer without a parser, which takes longer than all the rest of this. */
function readOneText(message: string): Answer | undefined {
  const text = ONE_TEXT.exec(message)?.[1]
  if (text === undefined) return undefined
  return { texts: ORDINARY.has(text) ? [] : [text], structured: undefined, isError: false }
}

/** How an answer of `run_code` begins. The client names the run in its next call. */
const RUN_ID = /^\{"status":"\w+","runId":"([\w.-]+)"/

/** The tool that answered; undefined for errors, prompts, resources and what was not asked for. */
function nameTool({ result }: JsonObject, params: ParsedMembers | undefined): string | undefined {
  const name = params?.value.name
  return isObject(result) && Array.isArray(result.content) && typeof name === 'string'
    ? name
    : undefined
}

/** A server says itself that others wrote the answer: no field of it is trusted. */
function isMarked(result: JsonValue | undefined): boolean {
  const { annotations, _meta } = isObject(result) ? result : ({} as JsonObject)
  return [annotations, _meta].some(
    (marks) =>
      isObject(marks) && (marks.openWorldHint === true || marks.maliciousActivityHint === true),
  )
}

/** The texts of a message, each read by itself, its structured content, and everything else of it. */
function toAnswer({ result, error, params }: JsonObject): Answer {
  const texts: string[] = []
  if (isObject(error))
    return { texts: [String(error.message)], rest: error.data ?? null, isError: true }
  const value = result ?? params ?? null
  if (!isObject(value)) return { texts, rest: value }
  const { structuredContent, isError } = value
  let rest: Record<string, JsonValue> | undefined
  for (const key of Object.keys(value)) {
    const member = value[key] as JsonValue
    if (BLOCKS.has(key)) collectTexts(member, key, texts)
    else if (key !== 'structuredContent' && typeof member !== 'boolean' && member !== COMPLETE) {
      rest ??= Object.create(null) as Record<string, JsonValue>
      rest[key] = member
    }
  }
  return { texts, structured: structuredContent, rest, isError: isError === true }
}

const BLOCKS: ReadonlySet<string> = new Set(['content', 'contents', 'messages'])
/** `resultType` of an ordinary result. */
const COMPLETE = 'complete'

/** Every member of content blocks counts as text. */
function collectTexts(value: JsonValue, key: string, texts: string[]): void {
  // Pictures, sound and blobs are read by the model, not here: that there is one is remembered.
  if (typeof value === 'string') {
    if (!ORDINARY.has(value)) texts.push(UNREADABLE.has(key) ? key : value)
  } else if (Array.isArray(value)) for (const item of value) collectTexts(item, key, texts)
  else if (isObject(value))
    for (const name of Object.keys(value)) collectTexts(value[name] as JsonValue, name, texts)
}

const UNREADABLE: ReadonlySet<string> = new Set(['data', 'blob'])
/** Words of the protocol in a block of text and in a prompt. */
const ORDINARY: ReadonlySet<string> = new Set(['text', 'user', 'assistant'])
