// Finds the id of a message that the strict reader refused: to report whose message it is, or to
// fail the request that it was to answer. A short text is parsed leniently. Of a long one only the
// two ends are read: a text refused for its cost must not be parsed after all. Pure.

import { parseObject } from '@sluice/policy/values/json'
import { FIND_ID_PARSED_LENGTH_MAX, ID_LENGTH_MAX } from './json/limits.ts'
import type { RequestId } from './message.ts'

export interface RejectedText {
  readonly id: RequestId | null
  /** It has no `method`: a request from the server has an id too, from a different sequence. */
  readonly isAnswer: boolean
}

/** Characters at either end of a long text that are searched for members of the envelope. */
const END_LENGTH = 2 * ID_LENGTH_MAX
const WRITTEN_ID = String.raw`"id"[ \t\r\n]*:[ \t\r\n]*(-?\d{1,16}|"[^"\\]{0,${ID_LENGTH_MAX}}")`
const FIRST_MEMBERS = new RegExp(
  String.raw`^[ \t\r\n]*\{[ \t\r\n]*(?:"jsonrpc"[ \t\r\n]*:[ \t\r\n]*"2\.0"[ \t\r\n]*,[ \t\r\n]*)?${WRITTEN_ID}[ \t\r\n]*,`,
)
const LAST_MEMBER = new RegExp(String.raw`${WRITTEN_ID}[ \t\r\n]*\}[ \t\r\n]*$`)
const NOTHING: RejectedText = { id: null, isAnswer: false }

export function findId(text: string): RejectedText {
  if (text.length > FIND_ID_PARSED_LENGTH_MAX) return findAtEnds(text)
  const message = parseObject(text)
  if (message === undefined) return NOTHING
  const id = Object.hasOwn(message, 'id') ? message.id : null
  return { id: isId(id) ? id : null, isAnswer: !Object.hasOwn(message, 'method') }
}

function findAtEnds(text: string): RejectedText {
  const begin = text.slice(0, END_LENGTH)
  const end = text.slice(-END_LENGTH)
  const written = (FIRST_MEMBERS.exec(begin) ?? LAST_MEMBER.exec(end))?.[1]
  if (written === undefined) return NOTHING
  const id: unknown = written.startsWith('"') ? written.slice(1, -1) : Number(written)
  const isAnswer = !begin.includes('"method"') && !end.includes('"method"')
  return { id: isId(id) ? id : null, isAnswer }
}

export function isId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= ID_LENGTH_MAX : Number.isSafeInteger(id)
}
