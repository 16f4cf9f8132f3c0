// The section `trust` of a document: which fields of answers nobody else can choose. A field that others
// usually choose is a warning: a wrong entry is a hole.

import type { AnswerTrust, TrustedField, TrustWord } from '../calls/provenance.ts'
import { asMap } from '../document/check-shape.ts'
import { strings } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import { findEntry, type LocatedMap, type LocatedScalar } from '../document/read-document.ts'
import { parseGlob } from '../language/glob.ts'
import { NameMap } from '../model/policy.ts'
import { splitName } from '../provenance/names.ts'
import { getToolWords } from '../provenance/tool-words.ts'
import { toWordSet } from '../structures/word-set.ts'

/** Members that the sender of a message, or the author of a thing, chooses. */
const CHOSEN_BY_OTHERS = toWordSet(
  'from sender author owner participant participants attendees url link body',
)

export function parseTrust(document: LocatedMap, problems: Problems): NameMap<AnswerTrust> {
  const entries = asMap(findEntry(document, 'trust')).entries.map(
    ({ key, value }): [string, AnswerTrust] => {
      const tool = String(key.value)
      if (value.kind === 'scalar') return [tool, 'all']
      return [tool, asMap(value).entries.map((one) => readField(tool, one, problems))]
    },
  )
  for (const { key, value } of asMap(findEntry(document, 'labels')).entries)
    if (strings(value).includes('trusted')) {
      problems.warn(
        'POLICY_NO_EFFECT',
        key.at,
        `the label \`trusted\` of \`${key.value}\` is read as \`trust: all\` in this version only`,
        `write \`trust: { ${JSON.stringify(key.value)}: all }\``,
      )
      entries.push([String(key.value), 'all'])
    }
  return new NameMap(entries)
}

function readField(
  tool: string,
  { key, value }: LocatedMap['entries'][number],
  problems: Problems,
): TrustedField {
  const written = String(key.value)
  const path = written === '.' ? [] : written.split('.')
  const word = (value as LocatedScalar).value as TrustWord
  const why = word === 'address' ? findDoubt(tool, path) : undefined
  if (why !== undefined)
    problems.warn(
      'POLICY_NO_EFFECT',
      key.at,
      `\`${written}: address\` of \`${tool}\` trusts addresses that others choose: ${why}`,
      'write `id`, or take the entry away',
    )
  return { path, word }
}

/** Why others may choose the addresses in the field. */
function findDoubt(tool: string, path: readonly string[]): string | undefined {
  if (path.length === 0) return 'everything in the answer is meant'
  const member = path.at(-1) as string
  if (splitName(member).some((name) => CHOSEN_BY_OTHERS.has(name)))
    return `\`${member}\` is mostly chosen by the sender or the author`
  return getToolWords(parseGlob(tool).name).handsOverContent
    ? 'by its name the tool hands over content as somebody wrote it'
    : undefined
}
