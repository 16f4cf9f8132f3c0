// What the rules of a policy and of its base policy read of a session and of arguments: labels, kinds of data, where
// values came from, what was called before. What no rule reads is not looked for, and not remembered.

import type { AnswerField } from '../calls/answer-values.ts'
import { isProtectionName } from '../expression/evaluate/protection.ts'
import type { LastRead } from '../expression/read-last.ts'
import { memoizeFor } from '../structures/memoize.ts'
import { type CompiledPolicy, listAllRules } from './policy.ts'
import type { Guardrail, Rule } from './rule.ts'

/** What the rules of a policy and of its base policy read. */
export interface PolicyReads {
  /** Labels of a session that a condition reads. */
  readonly labels: ReadonlySet<string>
  /** Kinds of data that are looked for in arguments. */
  readonly kinds: ReadonlySet<'secret' | 'card' | 'iban'>
  /** A rule reads where values came from. */
  readonly provenance: boolean
  /** A rule reads what the session called before. */
  readonly past: boolean
  /** A rule reads how often the same call came in a row. */
  readonly repeats: boolean
  /** A rule reads how much the session has read. */
  readonly tokens: boolean
  /** Fields of answers that rules read, by `server/tool`. */
  readonly values: ReadonlyMap<string, readonly AnswerField[]>
  /** All of them as one text: what was remembered for another text is not all. */
  readonly valuesText: string
}

/** What rules read of answers, each field once. */
export function listLastReads(rules: readonly (Rule | Guardrail)[]): LastRead[] {
  const reads = rules.flatMap(({ when, limits }) => [
    ...(when?.expression.variables ?? []).flatMap(({ last = [] }) => last),
    ...limits.flatMap(({ maxOf }) => maxOf?.read ?? []),
  ])
  return [...new Map(reads.map((read) => [read.text, read])).values()]
}

function groupByTool(reads: readonly AnswerField[]): ReadonlyMap<string, readonly AnswerField[]> {
  const byTool = new Map<string, AnswerField[]>()
  for (const read of reads) byTool.set(read.tool, [...(byTool.get(read.tool) ?? []), read])
  return byTool
}

/** Found once for each policy. */
export const findReads = memoizeFor((policy: CompiledPolicy): PolicyReads => {
  const rules = listAllRules(policy)
  const variables = rules.flatMap(({ when }) => when?.expression.variables ?? [])
  const lasts = listLastReads(rules)
  const ofCall = variables.flatMap(({ root, path: [name] }) => (root === 'call' ? [name] : []))
  return {
    labels: new Set(
      variables.flatMap(({ root, path: [name, label] }) =>
        root === 'session' && name === 'saw' && label !== undefined ? [label] : [],
      ),
    ),
    kinds: new Set((['secret', 'card', 'iban'] as const).filter((kind) => ofCall.includes(kind))),
    provenance: ofCall.some(isProtectionName) || variables.some(({ root }) => root === 'origin'),
    past: variables.some(({ root }) => root === 'past'),
    repeats: variables.some(({ root, path }) => root === 'session' && path[0] === 'repeats'),
    tokens: variables.some(({ root, path }) => root === 'session' && path[0] === 'tokens'),
    values: groupByTool(lasts),
    valuesText: lasts
      .map(({ text }) => text)
      .sort()
      .join('\n'),
  }
})
