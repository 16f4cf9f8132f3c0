// A server's answer, looked through before a session counts as having seen it: words that speak to
// the model (A05), hidden text (A04), keys and passwords (A20). Every text of it, names of members too;
// pictures and sound are not text. What is beyond the bound was not looked at, and is said to be so.
// Pure; called by the gate where a policy asks for it.

import { isObject, type JsonValue } from '../core/json.ts'
import { findInAnswer } from './answer-injections.ts'
import { findHidden } from './hidden-text.ts'
import { ANSWER_CHARS_MAX, DEPTH_MAX, STRINGS_MAX } from './limits.ts'
import { findSecrets } from './secrets.ts'
import { readingsOf } from './views.ts'

export type Wanted = 'injection' | 'secret'

export interface InAnswer {
  readonly kind: Wanted
  /** For people: the words, or what kind of secret; never the secret. */
  readonly words: string
}

/** The first finding of each kind that is wanted. */
export function inspectAnswer(value: JsonValue, wanted: readonly Wanted[]): InAnswer[] {
  const walk: Walk = { chars: 0, strings: 0, left: new Set(wanted), found: [] }
  look(value, 0, walk)
  return walk.found
}

/** Whether arguments hold a secret. */
export function holdsSecret(args: JsonValue): boolean {
  return inspectAnswer(args, ['secret']).length > 0
}

interface Walk {
  chars: number
  strings: number
  readonly left: Set<Wanted>
  readonly found: InAnswer[]
}

function look(value: JsonValue, depth: number, walk: Walk): void {
  if (walk.left.size === 0) return
  if (typeof value === 'string') return lookAt(value, walk)
  if (depth > DEPTH_MAX) return beyond('it is nested too deeply', walk)
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) look(item, depth + 1, walk)
    return
  }
  if (!isObject(value)) return
  const isMedia = value.type === 'image' || value.type === 'audio'
  for (const [name, member] of Object.entries(value)) {
    if (isMedia && name === 'data') continue
    lookAt(name, walk)
    look(member, depth + 1, walk)
  }
}

function lookAt(text: string, walk: Walk): void {
  walk.chars += text.length
  walk.strings++
  if (walk.chars > ANSWER_CHARS_MAX || walk.strings > STRINGS_MAX)
    return beyond('it is too large to look at', walk)
  if (walk.left.has('injection') && text.length >= ORDER_CHARS_MIN) {
    const [found] = readingsOf(text).flatMap((one) => [...findHidden(one), ...findInAnswer(one)])
    if (found !== undefined) tell('injection', `${found.kind}: ${found.text}`, walk)
  }
  if (walk.left.has('secret') && text.length >= ORDER_CHARS_MIN) {
    const [found] = readingsOf(text).flatMap(findSecrets)
    if (found !== undefined) tell('secret', found.kind, walk)
  }
}

/** No order and no key is shorter. */
const ORDER_CHARS_MIN = 10

/** What nobody looked at counts as found: otherwise padding would be the way around. */
function beyond(words: string, walk: Walk): void {
  for (const kind of walk.left) tell(kind, words, walk)
}

function tell(kind: Wanted, words: string, { left, found }: Walk): void {
  left.delete(kind)
  found.push({ kind, words })
}
