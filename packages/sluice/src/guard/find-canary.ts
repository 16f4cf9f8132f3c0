// Planted values (canaries) in what an agent sends: as they are, whatever their case, in base64, hex or
// percent encoding, behind escapes, and split over adjacent arguments. One that turns up is proof that
// somebody read where it was planted. Linear. Pure.

import { isObject, type JsonValue } from '@sluice/policy/core/json'
import { formsOf } from '../core/value-forms.ts'
import { DECODED_CHARS_MAX, DEPTH_MAX } from './limits.ts'
import { newViewBudget, readingsOf, type ViewBudget } from './views.ts'

/** The name of the first that is found. */
export function findCanary(
  value: JsonValue,
  canaries: ReadonlyMap<string, string>,
): string | undefined {
  const texts: string[] = []
  collectTexts(value, texts, 0)
  const budget = newViewBudget()
  const readings = [...texts.flatMap((text) => readTexts(text, budget)), texts.join('')]
  const all = readings.join('\n')
  const folded = all.toLowerCase()
  for (const [name, planted] of canaries) {
    if (folded.includes(planted.toLowerCase())) return name
    if (formsOf(planted).some((form) => all.includes(form))) return name
  }
  return undefined
}

function readTexts(text: string, budget: ViewBudget): string[] {
  if (text.length > DECODED_CHARS_MAX) return [text]
  return readingsOf(text, budget).filter((reading) => reading !== undefined)
}

/** Values before names: pieces of a value stand one behind the other. */
function collectTexts(value: JsonValue, texts: string[], depth: number): void {
  if (typeof value === 'string') texts.push(value)
  else if (depth > DEPTH_MAX) return
  else if (Array.isArray(value))
    for (const item of value as readonly JsonValue[]) collectTexts(item, texts, depth + 1)
  else if (isObject(value)) {
    for (const key of Object.keys(value)) collectTexts(value[key] as JsonValue, texts, depth + 1)
    texts.push(...Object.keys(value))
  }
}
