// The policy's `answers` for every message towards a client: which rules hold for it, what becomes of it,
// and the labels of what is only marked. Costs nothing if no policy has such rules and the session has no
// sealed value. Answers of a call are filtered by inspect-result.ts, everything else by deliveries.ts.

import type { SessionVault, ValueSource } from '@sluice/access/identity/sessions/session-vault'
import { mayHaveLinks } from '@sluice/guard/external-links'
import { MESSAGE_CHARS_MAX } from '@sluice/guard/limits'
import { canHoldData } from '@sluice/guard/locate-data'
import type { ScanEffort } from '@sluice/guard/patterns'
import type { AnswerChange } from '@sluice/ledger/records/answer-changes'
import {
  type AnswerPolicy,
  answerMaps,
  canOpenFor,
  combineAnswerRules,
  hasAnswerRules,
} from '@sluice/policy/model/answer-rule'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { runSteps } from '@sluice/policy/structures/steps'
import type { JsonValue } from '@sluice/policy/values/json'
import { isDense } from '@sluice/protocol/json/is-dense'
import { PARSED_MARKS_MAX } from '@sluice/protocol/json/limits'
import { INSPECTED_AT_ONCE_LENGTH_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import { runBriefly } from '../shared/slices.ts'
import type { MessageSource } from '../shared/transport.ts'
import { valuesFor } from '../state/labels-of.ts'
import { type RewrittenMessage, rewriteAnswerSteps } from './rewrite-answer.ts'

export interface FilteredSession {
  readonly server: string
  readonly policy: () => CompiledPolicy
  readonly vault: () => SessionVault
  /** Adds labels to the session. */
  readonly see: (labels: readonly string[]) => void
  /** Called before a message that may hold placeholders is sent. */
  readonly saveSealed: () => void
  /** The tokens that an answer may have if the policy does not bound its size. */
  readonly tokensMax?: number | undefined
  /** See AnswerFilter. */
  readonly recordChanges: AnswerFilter['recordChanges']
  readonly log: Log
}

/** A message, what it may belong to, and the schema of its structured content. */
export interface FilterRequest {
  readonly text: string
  readonly sources: readonly MessageSource[]
  readonly schema: JsonValue | undefined | 'unknown'
  /** It passes unchanged or not at all: a file of a skill would no longer have its digest. */
  readonly isWhole?: boolean
  /** A program reads it, not a model: sizes bound what the program answers. */
  readonly isUncut?: boolean
}

export type FilteredAnswer = (
  | { readonly status: 'passes'; readonly text: string }
  | { readonly status: 'denied'; readonly reason: string }
) & {
  /** The changes for the ledger; undefined if nothing was changed. */
  readonly changes?: readonly AnswerChange[] | undefined
}

export interface AnswerFilter {
  /** Whether a message has to be filtered at all. */
  readonly isActive: () => boolean
  readonly filter: (request: FilterRequest) => FilteredAnswer | Promise<FilteredAnswer>
  /** Filters a message that cannot wait, in one piece. A message that would take too long is denied. */
  readonly filterAtOnce: (request: FilterRequest) => FilteredAnswer
  /** Changes of a message that no recorded call has in its outcome. */
  readonly recordChanges: (changes: FilteredAnswer['changes']) => void
  /** Whether a value that came from these sources may be opened for a tool of this server. */
  readonly canOpen: (sources: readonly ValueSource[], tool: string) => boolean
}

const TOO_LONG = withheld('it is too long to look through')
const NOT_WHOLE = withheld(
  'a file of a skill passes whole or not at all, and `answers` would change it',
)

function withheld(reason: string): RewrittenMessage {
  const changes = [{ change: 'withheld', kind: 'message', count: 1 }] as const
  return { status: 'denied', reason, changes }
}

export function createAnswerFilter(session: FilteredSession): AnswerFilter {
  const { server, policy, vault, see, log, tokensMax } = session
  const isActive = () => tokensMax !== undefined || hasAnswerRules(policy()) || vault().size > 0
  const rewrite = ({ text, sources, schema, isUncut }: FilterRequest, effort: ScanEffort) => {
    const from = sources.map((source) => ({ server, method: source.method, name: source.name }))
    const named = rulesFor(policy(), from)
    const rules = isUncut === true ? { ...named, ...UNCUT } : withTokensMax(named, tokensMax)
    if (vault().size === 0 && (hasNothingToDo(rules) || isHarmless(text, rules))) return undefined
    return rewriteAnswerSteps(text, { rules, vault: vault(), sources: from, schema, effort })
  }
  const settle = ({ text, isWhole }: FilterRequest, result: RewrittenMessage): FilteredAnswer => {
    session.saveSealed()
    const isChanged = result.status === 'passes' && result.text !== text
    const rewritten = isWhole === true && isChanged ? NOT_WHOLE : result
    if (rewritten.status === 'denied') {
      log('warn', `a message of ${server} was not passed on: ${rewritten.reason}`)
      return rewritten
    }
    const { changes, marked } = rewritten
    see([...marked])
    if (isChanged) log('info', `a message of ${server} was changed by \`answers\``)
    return { status: 'passes', text: rewritten.text, ...(changes.length > 0 && { changes }) }
  }
  const isTooLong = (text: string) =>
    text.length > MESSAGE_CHARS_MAX || isDense(text, PARSED_MARKS_MAX)
  return {
    isActive,
    recordChanges: session.recordChanges,
    filterAtOnce: (request) => {
      const { text } = request
      const steps = rewrite(request, 'at once')
      if (steps === undefined) return { status: 'passes', text }
      const isLong = text.length > INSPECTED_AT_ONCE_LENGTH_MAX || isTooLong(text)
      return settle(request, isLong ? TOO_LONG : runSteps(steps))
    },
    filter: (request) => {
      const { text } = request
      const steps = rewrite(request, 'in slices')
      if (steps === undefined) return { status: 'passes', text }
      if (isTooLong(text)) return settle(request, TOO_LONG)
      const rewritten = runBriefly(steps, 'answer')
      return rewritten instanceof Promise
        ? rewritten.then((later) => settle(request, later))
        : settle(request, rewritten)
    },
    canOpen: (sources, tool) =>
      sources.length > 0 && canOpenFor(rulesFor(policy(), sources), server, tool),
  }
}

const UNCUT = { maxBytes: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY }

function withTokensMax(rules: AnswerPolicy, tokensMax: number | undefined): AnswerPolicy {
  const isBounded = Math.min(rules.maxBytes, rules.maxTokens) !== Number.POSITIVE_INFINITY
  return tokensMax === undefined || isBounded ? rules : { ...rules, maxTokens: tokensMax }
}

/** Rules of the document and of the base policy, for every source that a message may have. */
function rulesFor(policy: CompiledPolicy, sources: readonly ValueSource[]): AnswerPolicy {
  const maps = answerMaps(policy)
  return combineAnswerRules(
    maps.flatMap((map) => [...new Set(sources.flatMap((source) => valuesFor(map, source)))]),
  )
}

/** Whether the text is short and cannot contain data, so that it need not be parsed. */
function isHarmless(text: string, { deny, redact, mark, links, ...room }: AnswerPolicy): boolean {
  if (links.length > 0 && mayHaveLinks(text)) return false
  if (text.length > Math.min(room.maxBytes / 3, room.maxTokens)) return false
  return !canHoldData(text, new Set([...deny, ...redact, ...mark]))
}

function hasNothingToDo(rules: AnswerPolicy): boolean {
  const { deny, redact, mark, links, maxBytes, maxTokens } = rules
  return (
    deny.size + redact.size + mark.size + links.length === 0 &&
    !Number.isFinite(maxBytes) &&
    !Number.isFinite(maxTokens)
  )
}
