// Half a surrogate pair in the answer of a model, which JSON allows and UTF-8 cannot carry: the agent's own texts, the gate and
// every export would refuse it from then on. It becomes U+FFFD where the answer is read. Called by ask-model.ts.

import { wellFormed } from '../guest/text.ts'
import type { ModelAnswer } from './models.ts'

export function mendAnswer({ text, toolCalls, usage }: ModelAnswer): ModelAnswer {
  return { text: wellFormed(text), toolCalls: mendJson(toolCalls), usage }
}

/** An escape of JSON: `JSON.stringify` writes half a pair as one, and a backslash of a text as two. */
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g
const HALF = /^\\ud[89a-f]/

function mendJson<Value>(value: Value): Value {
  const text = JSON.stringify(value)
  const mended = text.replace(ESCAPE, (each) => (HALF.test(each) ? '\ufffd' : each))
  return mended === text ? value : (JSON.parse(mended) as Value)
}
