// The sections `answers`, `egress` and `canaries` of a document: what comes back, which hosts arguments
// may name, and planted values. What would silently do nothing is an error.

import type { DataKind } from '../calls/data-kinds.ts'
import type { ProtectionLevel } from '../calls/provenance.ts'
import { asMap } from '../document/check-shape.ts'
import { items, readSection, scalar, strings } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import { findEntry, type LocatedMap, type LocatedScalar } from '../document/read-document.ts'
import { isGlob, parseGlob } from '../language/glob.ts'
import { CANARIES_MAX } from '../language/limits.ts'
import { type AnswerRule, STRICT_ANSWERS } from '../model/answer-rule.ts'
import { NameMap } from '../model/policy.ts'

const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const ADDRESS_V6 = /^\[[0-9a-f:.]+\]$/

/** Rules of the document, and those that `protect` adds. */
export function parseAnswers(
  document: LocatedMap,
  problems: Problems,
  protect: ProtectionLevel | undefined,
): NameMap<AnswerRule> {
  const own = readSection(document, 'answers', (value, key) =>
    parseAnswerRule(key, asMap(value), problems),
  )
  return new NameMap(protect === 'strict' ? [...own, ['*/*', STRICT_ANSWERS]] : own)
}

function parseAnswerRule(key: LocatedScalar, map: LocatedMap, problems: Problems): AnswerRule {
  const kinds = (field: string) => strings(findEntry(map, field)) as DataKind[]
  const has = (field: string) => findEntry(map, field) !== undefined
  const number = (field: string) => (has(field) ? Number(scalar(map, field)) : undefined)
  const links = findEntry(map, 'links')
  const rule: AnswerRule = {
    deny: kinds('deny'),
    redact: kinds('redact'),
    mark: kinds('mark'),
    seal: has('seal') ? strings(findEntry(map, 'seal')) : undefined,
    maxBytes: number('max_bytes'),
    maxTokens: number('max_tokens'),
    links: has('links') ? parseHosts(items(links), problems) : undefined,
  }
  if (map.entries.length === 0)
    problems.error(
      'POLICY_NO_EFFECT',
      key.at,
      `\`${key.value}\` says nothing about answers`,
      'write `redact`, `deny`, `mark`, `max_bytes`, `max_tokens` or `links`',
    )
  if (rule.seal !== undefined && !rule.redact.includes('secret'))
    problems.error(
      'POLICY_NO_EFFECT',
      findEntry(map, 'seal')?.at ?? key.at,
      '`seal` without `redact: [secret]`: nothing is sealed',
      'add `redact: [secret]`: only secrets that the model does not see are sealed',
    )
  for (const each of items(findEntry(map, 'seal')))
    if (parseGlob(String(each.value)).server === '*' && isGlob(String(each.value)))
      problems.error(
        'POLICY_NO_EFFECT',
        each.at,
        `\`${each.value}\` lets a sealed value go to any server`,
        'name the server that needs it: `deploy/*`',
      )
  return rule
}

export function parseEgress(document: LocatedMap, problems: Problems): NameMap<readonly string[]> {
  return new NameMap(readSection(document, 'egress', (hosts) => parseHosts(items(hosts), problems)))
}

function parseHosts(hosts: readonly LocatedScalar[], problems: Problems): string[] {
  return hosts.map(({ value, at }) => {
    const host = String(value)
    if (!HOST.test(host) && !ADDRESS_V6.test(host))
      problems.error(
        'POLICY_NO_EFFECT',
        at,
        `\`${host}\` is not a host that an address can have`,
        'write `example.com`, or `*.example.com` for every host below it: in lower case, without scheme, port and path',
      )
    return host
  })
}

/** Reads the planted values of a document, by their names. */
export function parseCanaries(
  document: LocatedMap,
  problems: Problems,
): ReadonlyMap<string, string> {
  const { entries } = asMap(findEntry(document, 'canaries'))
  if (entries.length > CANARIES_MAX)
    problems.error(
      'POLICY_NO_EFFECT',
      entries[CANARIES_MAX]?.key.at ?? 0,
      `more than ${CANARIES_MAX} canaries: each is looked for in every call`,
      'keep those that an attacker would find first',
    )
  const canaries = new Map<string, string>()
  for (const { key, value } of entries) {
    const planted = String((value as LocatedScalar).value)
    if (planted.length < CANARY_LENGTH_MIN || /^[a-z]+$/i.test(planted))
      problems.error(
        'POLICY_NO_EFFECT',
        value.at,
        `\`${key.value}\` may turn up by chance: a canary that does freezes an honest session`,
        `use at least ${CANARY_LENGTH_MIN} characters that no word has, such as a made-up key`,
      )
    canaries.set(String(key.value), planted)
  }
  return canaries
}

const CANARY_LENGTH_MIN = 12
