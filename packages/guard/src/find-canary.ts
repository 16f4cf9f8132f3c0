// Planted values (canaries) in what an agent sends: as they are, whatever their case, in base64, hex or
// percent encoding, folded or behind escapes, as numbers, and split over adjacent arguments. One that turns up is proof that
// somebody read where it was planted. Linear, in steps; nothing is left out, however long it is. Pure.

import { memoizeFor } from '@sluice/policy/structures/memoize'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import type { JsonValue } from '@sluice/policy/values/json'
import { leavesOf } from './locate-data.ts'
import { FormFinder } from './value-forms.ts'
import { readingsOf } from './views.ts'

/** The name of the first that is found. */
export function findCanary(
  value: JsonValue,
  canaries: ReadonlyMap<string, string>,
): string | undefined {
  return runSteps(findCanarySteps(value, canaries))
}

/** The same in steps, each short. */
export function* findCanarySteps(
  value: JsonValue,
  canaries: ReadonlyMap<string, string>,
): Steps<string | undefined> {
  const finder = finderOf(canaries)
  const texts = listTexts(value)
  let unpaused = 0
  for (const text of texts)
    for (const part of partsOf(text)) {
      // Its own budget for each part: all of them are looked at.
      for (const reading of readingsOf(part, { charsLeft: Number.POSITIVE_INFINITY })) {
        const canary = findIn(reading as string, finder) ?? findUnfolded(reading as string, finder)
        if (canary !== undefined) return canary
      }
      unpaused += TEXT_COST + part.length
      if (unpaused < PART_CHARS) continue
      unpaused = 0
      yield
    }
  return yield* findJoined(texts, finder)
}

/** What a text costs however short it is, in characters. */
const TEXT_COST = 20
/** A text is read in parts of this length, each with the end of the one before: longer than a planted value in
 * any spelling. */
const PART_CHARS = 32_768
const OVERLAP_CHARS = 4_096

function* partsOf(text: string): Generator<string> {
  if (text.length <= PART_CHARS) return yield text
  for (let start = 0; start < text.length; start += PART_CHARS - OVERLAP_CHARS)
    yield text.slice(start, start + PART_CHARS)
}

/** Over the ends of adjacent texts. */
function* findJoined(
  texts: readonly string[],
  finder: FormFinder<string>,
): Steps<string | undefined> {
  let joined = ''
  for (const text of texts) {
    joined += text.length > 2 * OVERLAP_CHARS ? text.slice(0, OVERLAP_CHARS) : text
    if (joined.length < PART_CHARS && text.length <= 2 * OVERLAP_CHARS) continue
    const canary = findIn(joined, finder)
    if (canary !== undefined) return canary
    joined = (text.length > 2 * OVERLAP_CHARS ? text : joined).slice(-OVERLAP_CHARS)
    yield
  }
  return texts.length < 2 ? undefined : findIn(joined, finder)
}

function findIn(text: string, finder: FormFinder<string>): string | undefined {
  return finder.find(text, Number.POSITIVE_INFINITY)?.[0]?.owner
}

/** Line breaks, blanks and what else stands between the bytes of a dump: `base64` and `xxd` fold what they write. */
const FOLDED = /[\s:,]+/g

function findUnfolded(text: string, finder: FormFinder<string>): string | undefined {
  const unfolded = text.replace(FOLDED, '')
  return unfolded.length === text.length ? undefined : findIn(unfolded, finder)
}

/** Made once for a policy: every call is looked through. */
const finderOf = memoizeFor((canaries: ReadonlyMap<string, string>): FormFinder<string> => {
  const finder = new FormFinder<string>()
  for (const [name, planted] of canaries) finder.add(name, planted)
  return finder
})

/** Values before names: pieces of a value stand one behind the other. */
function listTexts(value: JsonValue): string[] {
  const leaves = [...leavesOf(value, 0, '')]
  const values = leaves.filter(({ name }) => name !== undefined)
  const names = leaves.filter(({ name }) => name === undefined)
  return [...values, ...names].flatMap(({ text }) => text ?? [])
}
