// One rule of an Intercept policy, read and held to what the original accepts: its action, its
// conditions, its counter (also in the form `5/hour`).

import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import { APPROVAL_TIMEOUT_SECONDS_MAX } from '@sluice/policy/language/limits'
import { cleanLine } from './emit-document.ts'
import { isAmbiguous, keyAt, readList, readMap, readReason, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'
import type { CountingRule, StateBlock } from './translate-counters.ts'
import { parseShorthand, WINDOW_NAMES } from './translate-limit.ts'

export type RuleAction = 'evaluate' | 'deny' | 'require_approval'

export interface InterceptRule extends CountingRule {
  readonly name: string
  readonly at: number
  readonly action: RuleAction
  readonly reason: string | undefined
  readonly conditions: readonly LocatedMap[]
  readonly shorthand:
    | { readonly count: number; readonly window: string; readonly at: number }
    | undefined
  readonly approvalTimeout: string | undefined
}

const RULE_KEYS = [
  'name',
  'action',
  'rate_limit',
  'conditions',
  'on_deny',
  'state',
  'approval_timeout',
]
const ACTIONS = ['evaluate', 'deny', 'require_approval']

/** Undefined after an error. */
export function readRule(
  map: LocatedMap,
  number: number,
  report: ImportReport,
): InterceptRule | undefined {
  const before = report.errorCount
  readMap(map, RULE_KEYS, 'a rule', report)
  const action = readText(map, 'action', report) || 'evaluate'
  if (!ACTIONS.includes(action))
    report.error(
      'IMPORT_INVALID',
      keyAt(map, 'action'),
      `the action \`${action}\` is none of \`evaluate\`, \`deny\`, \`require_approval\``,
      'write the rule by hand',
    )
  const conditions: LocatedMap[] = []
  const stateConditions: LocatedMap[] = []
  for (const node of readList(findEntry(map, 'conditions'), '`conditions`', report)) {
    const condition = readMap(node, ['path', 'op', 'value'], 'a condition', report)
    if (condition === undefined) continue
    const onState = (readText(condition, 'path', report) ?? '').startsWith('state.')
    if (onState) stateConditions.push(condition)
    else conditions.push(condition)
  }
  const state = readState(map, report)
  const shorthand = readShorthand(map, report)
  checkTogether(map, action, {
    conditions: conditions.length + stateConditions.length,
    state,
    shorthand: shorthand !== undefined,
    report,
  })
  const name = readName(map, number, report)
  const reason = readReason(map, ['on_deny'], report) ?? name
  const approvalTimeout = readTimeout(map, report)
  if (report.errorCount > before) return undefined
  return {
    name,
    at: map.at,
    action: action as RuleAction,
    reason,
    conditions,
    stateConditions,
    state,
    shorthand,
    approvalTimeout,
  }
}

function readName(map: LocatedMap, number: number, report: ImportReport): string {
  const name = cleanLine(readText(map, 'name', report) ?? '')
  if (name !== '') return name
  report.warn(
    'IMPORT_UNNAMED',
    map.at,
    'a rule without a name, which the original refuses',
    `it is called \`rule ${number}\` here`,
  )
  return `rule ${number}`
}

function readState(map: LocatedMap, report: ImportReport): StateBlock | undefined {
  const node = findEntry(map, 'state')
  const state = readMap(
    node,
    ['counter', 'window', 'increment', 'increment_from'],
    '`state`',
    report,
  )
  if (node === undefined || state === undefined || state.entries.length === 0) return undefined
  const counter = readText(state, 'counter', report) ?? ''
  const window = readText(state, 'window', report) ?? ''
  if (counter === '')
    report.error('IMPORT_INVALID', state.at, 'a counter without a name', 'fix the original')
  if (!WINDOW_NAMES.includes(window))
    report.error(
      'IMPORT_INVALID',
      keyAt(state, 'window'),
      `the window \`${window}\` is none of \`minute\`, \`hour\`, \`day\``,
      'fix the original',
    )
  const written = findEntry(state, 'increment')
  const number = written?.kind === 'scalar' && !isAmbiguous(written, report) ? written.value : 1
  if (written !== undefined && !Number.isSafeInteger(number))
    report.error(
      'IMPORT_INVALID',
      keyAt(state, 'increment'),
      '`increment` is not a whole number',
      'fix the original',
    )
  // The original takes 0 for "left out".
  const increment = Number(number) || 1
  return {
    counter,
    window,
    increment,
    incrementFrom: readText(state, 'increment_from', report) || undefined,
    at: keyAt(map, 'state'),
  }
}

function readShorthand(map: LocatedMap, report: ImportReport): InterceptRule['shorthand'] {
  const text = readText(map, 'rate_limit', report)
  if (text === undefined || text === '') return undefined
  const at = (findEntry(map, 'rate_limit') ?? map).at
  const parsed = parseShorthand(text)
  if (parsed === undefined)
    return report.error(
      'IMPORT_INVALID',
      at,
      `\`${text}\` is not of the form \`<count>/<window>\``,
      'write `5/hour`, with `minute`, `hour` or `day`',
    )
  return { ...parsed, at }
}

interface RuleParts {
  readonly conditions: number
  readonly state: StateBlock | undefined
  readonly shorthand: boolean
  readonly report: ImportReport
}

function checkTogether(
  map: LocatedMap,
  action: string,
  { conditions, state, shorthand, report }: RuleParts,
): void {
  const refused = (key: string, message: string) =>
    report.error(
      'IMPORT_INVALID',
      keyAt(map, key),
      message,
      'the original refuses this document; fix it there',
    )
  if (shorthand && (conditions > 0 || state !== undefined || action !== 'evaluate'))
    refused('rate_limit', '`rate_limit` together with conditions, a counter or an action')
  else if (action === 'deny' && conditions > 0)
    refused('conditions', 'conditions on a rule that always denies')
  else if (
    action === 'evaluate' &&
    conditions === 0 &&
    !shorthand &&
    findEntry(map, 'rate_limit') === undefined
  )
    refused('name', 'a rule without a condition')
}

/** `1h30m` in the original's way of writing, in whole seconds here. */
function readTimeout(map: LocatedMap, report: ImportReport): string | undefined {
  const text = readText(map, 'approval_timeout', report)
  if (text === undefined || text === '') return undefined
  const parts = [...text.matchAll(/(\d+)([hms]?)/g)]
  const seconds = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unit === 'h' ? 3_600 : unit === 'm' ? 60 : 1),
    0,
  )
  if (/^(\d+(h|m|s))+$/.test(text) && seconds > 0 && seconds <= APPROVAL_TIMEOUT_SECONDS_MAX)
    return duration(seconds)
  return report.error(
    'IMPORT_INVALID',
    keyAt(map, 'approval_timeout'),
    `\`${text}\` is not a length of time up to a week`,
    'write `30m`',
  )
}

function duration(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}
