// What the guard finds in a message towards a client, as labels of the session, for policies that read
// them: `session.saw.injection` and `session.saw.secret`. Nothing is looked at where no rule asks, nor
// for what the session has seen already. Called by the gate for everything that it sends a client.

import type { JsonValue } from '../../core/json.ts'
import {
  inspectAnswer,
  type Strictness,
  tooLargeToInspect,
  type Wanted,
} from '../../guard/inspect-answer.ts'
import { MESSAGE_CHARS_MAX } from '../../guard/limits.ts'
import type { CompiledPolicy } from '../../policy/policy.ts'
import { labelsRead } from '../../policy/reads-label.ts'
import { isDense } from '../../wire/is-dense.ts'
import { PARSED_MARKS_MAX } from '../../wire/limits.ts'
import type { Log } from '../upstream/upstream.ts'
import type { InspectDelivery } from './deliveries.ts'
import { labelsOf } from './labels-of.ts'

const NONE: readonly string[] = []
const WANTED: readonly Wanted[] = ['injection', 'secret']

export interface LabelledSession {
  readonly server: string
  readonly policy: () => CompiledPolicy
  readonly slot: { see(labels: readonly string[]): readonly string[] }
  readonly saw: (label: string) => boolean
  /** What came into the session beside answers, until one puts it on record. */
  readonly brought: Set<string>
  /** After a message itself: what is hidden from those who have read it is so from now on. */
  readonly onSeen: () => void
  readonly log: Log
}

/** What answers and messages of one server bring into a session. */
export function labelSession({
  server,
  policy,
  slot,
  brought,
  onSeen,
  ...around
}: LabelledSession): {
  readonly onAnswer: (method: string, name: string) => readonly string[]
  readonly onDelivery: InspectDelivery
} {
  const see = (labels: readonly string[]): readonly string[] => {
    const seen = slot.see(labels)
    if (seen.length > 0) setImmediate(onSeen)
    return seen
  }
  return {
    onAnswer: (method, name) => {
      const seen = see(labelsOf(policy(), { server, method, name }))
      if (brought.size === 0) return seen
      const all = [...seen, ...brought]
      brought.clear()
      if (seen.length === 0) setImmediate(onSeen)
      return all
    },
    onDelivery: (text, strictness) => {
      const found = labelsFound(policy(), { text, strictness, from: server }, around)
      return found.length === 0 ? found : see(found)
    },
  }
}

interface Inspected {
  /** The whole message. */
  readonly text: string
  readonly strictness: Strictness
  readonly from: string
}

function labelsFound(
  policy: CompiledPolicy,
  { text, strictness, from }: Inspected,
  { saw, log }: { saw(label: string): boolean; readonly log: Log },
): readonly string[] {
  const read = labelsRead(policy)
  if (read.size === 0) return NONE
  const wanted = WANTED.filter((label) => read.has(label) && !saw(label))
  if (wanted.length === 0) return NONE
  const found =
    text.length > MESSAGE_CHARS_MAX || isDense(text, PARSED_MARKS_MAX)
      ? tooLargeToInspect(wanted)
      : inspectAnswer(JSON.parse(text) as JsonValue, wanted, strictness)
  return found.map(({ kind, words }) => {
    log(
      'warn',
      `a message of ${from} brings \`${kind}\` into the session: ${JSON.stringify(words)}`,
    )
    return kind
  })
}
