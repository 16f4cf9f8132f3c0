// Whether changed rules for answers only tighten, member by member: rules that match one answer add up, so that a
// rule may be compared with the rule of the same key alone. Sound and incomplete, as compare.ts is.

import {
  type AnswerPolicy,
  type AnswerRule,
  combineAnswerRules,
  isHostListed,
} from '../model/answer-rule.ts'
import type { NameMap } from '../model/policy.ts'

export interface AnswerLoosening {
  /** The key under `answers`. */
  readonly key: string
  readonly what: string
}

export function answersLoosen(
  old: NameMap<AnswerRule>,
  now: NameMap<AnswerRule>,
): AnswerLoosening[] {
  const [before, after] = [groupByKey(old), groupByKey(now)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) =>
    listLooser(mergeRules(before.get(key) ?? []), mergeRules(after.get(key) ?? [])).map((what) => ({
      key,
      what,
    })),
  )
}

/** All that is said under one key; `protect: strict` may say something there too. */
interface MergedRule extends Omit<AnswerPolicy, 'seal'> {
  /** The globs of each list, as the document writes them. */
  readonly seal: readonly (readonly string[])[]
}

function mergeRules(rules: readonly AnswerRule[]): MergedRule {
  const seal = rules.flatMap(({ seal }) => (seal === undefined ? [] : [seal]))
  return { ...combineAnswerRules(rules), seal }
}

function groupByKey(map: NameMap<AnswerRule>): ReadonlyMap<string, readonly AnswerRule[]> {
  const groups = new Map<string, AnswerRule[]>()
  for (const [key, rule] of map.entries()) groups.set(key, [...(groups.get(key) ?? []), rule])
  return groups
}

function listLooser(old: MergedRule, now: MergedRule): string[] {
  const found: string[] = []
  for (const kind of old.deny)
    if (!now.deny.has(kind)) found.push(`answers with \`${kind}\` are no longer withheld`)
  for (const kind of old.redact)
    if (!now.redact.has(kind) && !now.deny.has(kind))
      found.push(`\`${kind}\` is no longer redacted`)
  // A rule may wait for a label or for its absence.
  for (const kind of [...old.mark, ...now.mark])
    if (old.mark.has(kind) !== now.mark.has(kind))
      found.push(`\`mark\` of \`${kind}\` ${ELSEWHERE}`)
  for (const [word, field] of BOUNDS)
    if (now[field] > old[field]) found.push(`\`${word}\` is larger, or gone`)
  const narrows = (list: readonly string[], wide: readonly string[]) =>
    list.every((host) => isWithin(host, wide))
  if (!old.links.every((wide) => now.links.some((list) => narrows(list, wide))))
    found.push('`links` may keep more')
  const isSealed = old.seal.every((wide) =>
    now.seal.some((list) => list.every((glob) => wide.includes(glob))),
  )
  if (!isSealed || (old.seal.length === 0 && now.seal.length > 0))
    found.push('`seal` may let secrets go to more tools')
  return found
}

const ELSEWHERE = 'is another, which may open something elsewhere'

const BOUNDS = [
  ['max_bytes', 'maxBytes'],
  ['max_tokens', 'maxTokens'],
] as const

/** Whether every host that an entry stands for is listed. */
function isWithin(host: string, hosts: readonly string[]): boolean {
  // Without its star `*.example.com` ends as every host below it does.
  return hosts.includes(host) || isHostListed(host.replace(/^\*/, ''), hosts)
}
