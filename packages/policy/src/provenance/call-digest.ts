// Equal for two calls of one tool with equal arguments, whatever the order of members. For
// `session.repeats`, which is a brake on loops and no boundary: who wants to pass it changes an argument.

import type { Call } from '../calls/call.ts'
import { writeCanonicalJson } from '../values/canonical-json.ts'
import { Hasher } from './hash.ts'

const hasher = new Hasher({ low: 1, high: 2 })

export function toCallDigest({
  server,
  name,
  args,
}: Pick<Call, 'server' | 'name' | 'args'>): string {
  hasher.hash(0, `${server}/${name} ${writeCanonicalJson(args)}`)
  return `${hasher.low} ${hasher.high}`
}
