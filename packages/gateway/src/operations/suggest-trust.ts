// Proposes entries for `trust` from recorded sessions: the fields in which a value of a held call stood before. What
// each would buy, and which attacks it would let through, is measured by playing the sessions with it. Pure.

import type { TrustWord } from '@sluice/policy/calls/provenance'
import type { SessionTrace, Simulation } from '@sluice/policy/cases/simulate'
import { type CompiledPolicy, NameMap } from '@sluice/policy/model/policy'
import { parseDocument } from '@sluice/policy/provenance/parse-document'
import { isDestinationKind, readValue } from '@sluice/policy/provenance/read-value'
import { isObject, type JsonValue } from '@sluice/policy/values/json'

export interface TrustProposal {
  readonly tool: string
  readonly path: string
  readonly word: TrustWord
  /** Sessions that pass untouched by this entry alone. */
  readonly sessions: number
  /** Attacks that are no longer stopped. */
  readonly attacks: number
}

type Entry = Pick<TrustProposal, 'tool' | 'path' | 'word'>

/** `play` plays the sessions, and the attacks on them, under a policy. The best proposal is the first. */
export function proposeTrust(
  policy: CompiledPolicy,
  traces: readonly SessionTrace[],
  play: (policy: CompiledPolicy) => Simulation,
): TrustProposal[] {
  const before = play(policy)
  return listEntries(traces, before)
    .map((entry) => {
      const after = play(addTrust(policy, entry))
      return {
        ...entry,
        sessions: after.benign.untouched - before.benign.untouched,
        attacks: before.attacks.stopped - after.attacks.stopped,
      }
    })
    .sort((one, other) => other.sessions - one.sessions || one.attacks - other.attacks)
}

function addTrust(policy: CompiledPolicy, { tool, path, word }: Entry): CompiledPolicy {
  const trust = new NameMap([...policy.trust.entries(), [tool, [{ path: path.split('.'), word }]]])
  return { ...policy, trust, scopes: new WeakMap() }
}

/** Fields of earlier answers of a session that had a value of a call that is held. */
function listEntries(traces: readonly SessionTrace[], { traces: played }: Simulation): Entry[] {
  const found = new Map<string, Entry>()
  for (const [index, { steps }] of traces.entries()) {
    const { id } = traces[index] as SessionTrace
    const calls = played.find((one) => one.id === id && one.injection === undefined)?.calls ?? []
    for (const [at, { action }] of calls.entries()) {
      if (action === 'allow') continue
      const given = listFields(steps[at]?.args ?? {}, '').map(({ text }) => readValue(text).whole)
      for (const { server, tool, answer } of steps.slice(0, at))
        for (const { path, text } of listFields(parseAnswer(answer), '')) {
          const { kind, whole } = readValue(text)
          if (path === '' || !given.includes(whole)) continue
          const word = isDestinationKind(kind) ? 'address' : 'id'
          found.set(`${server}/${tool} ${path} ${word}`, { tool: `${server}/${tool}`, path, word })
        }
    }
  }
  return [...found.values()]
}

/** A text that is no JSON has no fields. */
function parseAnswer(answer: JsonValue): JsonValue {
  return typeof answer === 'string' ? (parseDocument(answer) ?? null) : answer
}

/** Names that a path can have. */
const NAME = /^[^.\s[\]]{1,100}$/

function listFields(value: JsonValue, path: string): { path: string; text: string }[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, text: String(value) }]
  if (Array.isArray(value)) return value.flatMap((item) => listFields(item, path))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, one]) =>
    NAME.test(name) ? listFields(one, path === '' ? name : `${path}.${name}`) : [],
  )
}

/** The section of a document. An address is written only if a person said so: others may choose it. */
export function writeTrust(proposals: readonly TrustProposal[], acceptsAddresses: boolean): string {
  const written = proposals.filter(
    ({ word, sessions, attacks }) =>
      sessions > 0 && attacks === 0 && (word === 'id' || acceptsAddresses),
  )
  const tools = [...new Set(written.map(({ tool }) => tool))]
  const lines = tools.map((tool) => {
    const fields = written.filter((one) => one.tool === tool)
    const list = fields.map(({ path, word }) => `${JSON.stringify(path)}: ${word}`)
    return `  ${JSON.stringify(tool)}: { ${list.join(', ')} }\n`
  })
  return lines.length === 0 ? '' : `trust:\n${lines.join('')}`
}
