// Where one argument came from, as a condition of a policy asks for it.

import { ORIGINS, type Origin, type ProvenanceLookup } from '../calls/provenance.ts'
import type { JsonValue } from '../values/json.ts'
import { readValue } from './read-value.ts'
import { visitLeaves } from './visit-arguments.ts'

/** The worst origin of the texts and ids of one argument. */
export function originOfArgument(value: JsonValue, name: string, memory: ProvenanceLookup): Origin {
  let worst: Origin = 'user'
  const isTooLarge = visitLeaves({ [name]: value }, undefined, ({ text, role }) => {
    const origin = memory.originOf(readValue(text, role === 'address'))
    if (ORIGINS.indexOf(origin) > ORIGINS.indexOf(worst)) worst = origin
  })
  return isTooLarge ? 'nowhere' : worst
}
