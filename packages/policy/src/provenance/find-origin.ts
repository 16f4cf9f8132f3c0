// Answers from the memory of a session where a value of the arguments stands: with the user, in a field, in the prose
// of a stranger, or nowhere. A path may also be made of parts that are known.

import type { Origin, ValueReading } from '../calls/provenance.ts'
import { FIELD, OWN, PROSE, TRUSTED, TRUSTED_ID, toFieldOrigin } from './field-flags.ts'
import { listEnds } from './path-parts.ts'
import { HOST, type ProvenanceTables, TOKEN, WHOLE } from './provenance-tables.ts'
import { isDestinationKind } from './read-value.ts'
import { standsIn } from './words.ts'

const NUMBER = /^\d+$/

/** Where a value of the arguments stands: the most that can be said for it. */
export function findOrigin(tables: ProvenanceTables, reading: ValueReading): Origin {
  const { kind, whole, host } = reading
  if (whole === '') return 'user'
  // One hash for both tables.
  tables.hash.hash(WHOLE, whole)
  const { low, high } = tables.hash
  if (tables.prompt.get(low, high) !== 0 || isNamedInWords(tables, reading)) return 'user'
  const flags = tables.answers.get(low, high)
  if ((flags & TRUSTED) !== 0) return 'trusted'
  if ((flags & TRUSTED_ID) !== 0 && !isDestinationKind(kind)) return 'trusted'
  const joined = kind === 'path' ? originOfJoined(tables, whole) : undefined
  if (joined !== undefined) return joined
  if ((flags & FIELD) !== 0) return 'field'
  if ((flags & OWN) !== 0) return 'own'
  const field = toFieldOrigin(flags)
  if (field !== undefined) return field
  if ((flags & PROSE) !== 0 || tables.answers.isIncomplete) return 'prose'
  return standsIn(tables.hash, tables.answers, host ?? whole) === 0 ? 'nowhere' : 'prose'
}

/** The origin of a path that is made of known parts: that of the least trusted part. */
function originOfJoined(tables: ProvenanceTables, whole: string): Origin | undefined {
  const named = originOfNamed(tables, whole)
  if (named !== undefined) return named
  const at = whole.lastIndexOf('/')
  if (at <= 0) return undefined
  const directory = whole.slice(0, at)
  if (originOfNamed(tables, directory) !== undefined) return 'field'
  const [parent, name] = [
    originOfPart(tables, directory),
    originOfPart(tables, whole.slice(at + 1)),
  ]
  if (parent === undefined || name === undefined) return undefined
  return parent === 'field' || name === 'field' ? 'field' : 'trusted'
}

/** The user named its end (`notes/a.txt`), and the directory that it is relative to is known. */
function originOfNamed(tables: ProvenanceTables, whole: string): Origin | undefined {
  if (tables.prompt.size === 0) return undefined
  const end = listEnds(whole).find((one) => tables.has(tables.prompt, WHOLE, one))
  return end === undefined ? undefined : originOfPart(tables, whole.slice(0, -end.length - 1))
}

function originOfPart(
  tables: ProvenanceTables,
  part: string,
): 'user' | 'trusted' | 'field' | undefined {
  tables.hash.hash(WHOLE, part)
  const { low, high } = tables.hash
  if (tables.prompt.get(low, high) !== 0 || isNamedInWords(tables, { kind: 'text', whole: part }))
    return 'user'
  const flags = tables.answers.get(low, high)
  if ((flags & (TRUSTED | TRUSTED_ID)) !== 0) return 'trusted'
  return (flags & FIELD) === 0 ? undefined : 'field'
}

/** Whether the words of the value stand in the prompt, beside other words. */
function isNamedInWords(tables: ProvenanceTables, { kind, whole, host }: ValueReading): boolean {
  if (tables.prompt.size === 0) return false
  if (kind === 'url') return tables.has(tables.prompt, HOST, host as string)
  // `15` of a date is not the id 15.
  if (NUMBER.test(whole)) return tables.has(tables.prompt, TOKEN, whole)
  return kind !== 'email' && standsIn(tables.hash, tables.prompt, whole) !== 0
}
