// Finds the value of `last(...)` for one call, and says which call would settle it if it is not known.

import type { AnswerFinding } from '../../calls/answer-values.ts'
import { pathText } from '../../language/argument-path.ts'
import { toAnswerKey } from '../../provenance/answer-key.ts'
import { getMember, type JsonObject, type JsonValue } from '../../values/json.ts'
import type { AnswerMatch, LastRead } from '../read-last.ts'
import type { EvaluationContext } from './evaluate.ts'

type LastContext = Pick<EvaluationContext, 'args' | 'facts' | 'now'>

export function findLast(read: LastRead, { args = {}, facts, now }: LastContext): AnswerFinding {
  const key = toAnswerKey(read.match.map((one) => matchedValue(one, args)))
  return facts.session.values?.find(read, key, now.wallMs) ?? 'unknown'
}

/** Says which call would settle it. Names arguments and not their values: the reason of a decision is recorded. */
export function describeUnread(read: LastRead, context: LastContext): string {
  const { tool, by, field, match } = read
  const given = by.map((name, index) => `${name} ${nameMatch(match[index] as AnswerMatch)}`)
  const call = `\`${tool}\`${given.length === 0 ? ' without arguments' : ` with ${given.join(', ')} and nothing else`}`
  return findLast(read, context) === 'never'
    ? `this session has not called ${call}: call it first`
    : `\`${field.join('.')}\` of the last answer of ${call} is not known: call it again`
}

function nameMatch(match: AnswerMatch): string {
  return 'path' in match ? `\`${pathText(match.path)}\`` : JSON.stringify(match.literal)
}

function matchedValue(match: AnswerMatch, args: JsonObject): JsonValue | undefined {
  return 'path' in match ? getMember(args, match.path) : match.literal
}
