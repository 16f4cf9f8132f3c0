// The strictest document that allows the recorded calls: a rule for each tool that was called, with
// the bounds of the arguments that were recorded and the busiest minute of a session; all else is
// denied. What the document in force says of the tool (keep-rules.ts), and all its other sections,
// stay, and nothing is looser than it. How often it would stop calls of days it has not seen is measured by leaving days out.

import type { Action } from '@sluice/policy/calls/actions'
import { type DecisionInput, isOmittedInput } from '@sluice/policy/calls/decision-inputs'
import { compile } from '@sluice/policy/compile/compile'
import { UNDECLARED } from '@sluice/policy/decide/collect-inputs'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import {
  compareDecimal,
  formatDecimal,
  parseDecimal,
  toDecimal,
} from '@sluice/policy/values/decimal'
import { ExactNumber, type JsonObject } from '@sluice/policy/values/json'
import { BUILT_IN } from '../call/decide-call.ts'
import {
  joinConditions,
  type KeptDocument,
  type KeptRule,
  writeRule,
  writeUnfitted,
} from './keep-rules.ts'
import { SUGGEST_FOLDS_MAX, SUGGEST_WORDS_MAX } from './limits.ts'
import { evaluateTraffic, type TrafficCall } from './past-traffic.ts'
import { toRecordedAction } from './replay.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

export interface FittedPolicy {
  /** The document. */
  readonly yaml: string
  readonly policy: CompiledPolicy
  /** Arguments that no bound was made of; `tool` is `<server>/<tool>`. */
  readonly unbounded: readonly { readonly tool: string; readonly why: string }[]
  /** Rules of the document in force that are gone, as JSON Pointers. */
  readonly removed: readonly string[]
  /** Why the other rules of the document in force stay: tools for which no single rule is provably as strict, and rules
   * (JSON Pointers) that nothing can take the place of. Empty if they do not. */
  readonly stays: readonly string[]
}

/**
 * Fits a document to calls. `margin`: how far beyond what was seen numbers and rates may go, 0.5 for half as much
 * again. `kept`: the document in force; without it there is nothing to keep.
 */
export function fitPolicy(
  calls: readonly TrafficCall[],
  margin: number,
  kept?: KeptDocument,
): FittedPolicy {
  const passed = calls.filter(isLearned)
  const byTool = groupBy(passed.filter(isToolCall), toolOf)
  const unbounded: { tool: string; why: string }[] = []
  const stays = [...(kept?.needed ?? [])]
  const replaced = new Map<string, readonly KeptRule[]>()
  const lines: string[] = []
  for (const [tool, own] of [...byTool].sort(byKey)) {
    const [first] = own as [TrafficCall]
    const rules = kept?.rulesFor(first) ?? []
    const { rule, why } =
      kept === undefined || rules.length > 0 || kept.fallback === 'allow'
        ? fitRule(own, margin, rules)
        : { rule: kept.fallback, why: [] }
    if (kept?.isAsStrict(first, rule) === false) {
      // Without any rule, the default decides as before, or denies.
      if (rules.length > 0) stays.push(tool)
      continue
    }
    replaced.set(tool, rules)
    const days = new Set(own.map(dayOf)).size
    const category = own[0]?.record.category ?? ''
    lines.push(`  # ${category}, ${own.length} calls on ${days} ${days === 1 ? 'day' : 'days'}`)
    lines.push(`  ${JSON.stringify(tool)}: ${rule}`)
    unbounded.push(...why.map((one) => ({ tool, why: one })))
  }
  const byMethod = groupBy(
    passed.filter((call) => !isToolCall(call)),
    ({ record }) => record.method,
  )
  const methods = [...byMethod]
    .sort(byKey)
    .map(([method, own]): [string, Action] => [
      method,
      own.some(isFree) ? 'allow' : 'require_approval',
    ])
  const parts = kept?.keep({ methods, replaced, keepsAll: stays.length > 0 })
  const text = [
    parts?.head ?? 'version: 1\ndefault: deny',
    ...writeSection('categories', writeEntries(parts?.categories)),
    ...writeSection('tools', [...writeEntries(parts?.tools), ...lines]),
  ]
  if (kept === undefined)
    text.push(...writeSection('methods', writeEntries(Object.fromEntries(methods))))
  const yaml = `${text.join('\n')}\n`
  const removed = parts?.removed ?? []
  return { yaml, policy: compileSuggestion(yaml), unbounded, removed, stays }
}

function writeSection(name: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${name}:`, ...lines]
}

function writeEntries(entries: JsonObject = {}): readonly string[] {
  return Object.entries(entries).map(([key, rule]) => {
    const text = typeof rule === 'string' ? rule : JSON.stringify(rule)
    return `  ${JSON.stringify(key)}: ${text}`
  })
}

/** A policy that only observes lets pass what it would refuse: only what it would allow, or a person has approved, is
 * an example. */
export function isLearned({ passed, record }: TrafficCall): boolean {
  const { rule, shadow } = record.decision
  if (!passed || rule !== OBSERVED) return passed
  return shadow.findLast((one) => one.rule !== BUILT_IN)?.action === 'allow'
}

/** The rule of a decision if the whole document only observes. */
const OBSERVED = '/mode'

/** How a policy that was fitted to the other days decides calls of the days that were left out. */
export interface DayValidation {
  /** How many days there were. */
  readonly days: number
  /** In how many parts they were left out. */
  readonly folds: number
  /** Calls of the days that were left out. */
  readonly calls: number
  /** How many of them the policy would have stopped. */
  readonly stopped: number
  /** How many of them cannot be decided from the record. */
  readonly unknown: number
}

/** Undefined with calls of one day only: there is nothing to leave out. */
export function validateByDay(
  calls: readonly TrafficCall[],
  margin: number,
  kept?: KeptDocument,
): DayValidation | undefined {
  const passed = calls.filter(isLearned)
  const days = [...new Set(passed.map(dayOf))].sort((a, b) => a - b)
  if (days.length < 2) return undefined
  const folds = Math.min(days.length, SUGGEST_FOLDS_MAX)
  const foldOf = new Map(days.map((day, index) => [day, index % folds]))
  let [stopped, unknown] = [0, 0]
  for (let fold = 0; fold < folds; fold++) {
    const isOut = (call: TrafficCall) => foldOf.get(dayOf(call)) === fold
    const { policy } = fitPolicy(
      passed.filter((call) => !isOut(call)),
      margin,
      kept,
    )
    const evaluated = evaluateTraffic(policy, passed.filter(isOut))
    stopped += evaluated.stopped.length
    unknown += evaluated.unknown.length
  }
  return { days: days.length, folds, calls: passed.length, stopped, unknown }
}

export function compileSuggestion(yaml: string): CompiledPolicy {
  const { policy, problems } = compile({ file: 'suggested policy', text: yaml })
  if (policy === undefined)
    throw new Error(`the suggested policy does not compile: ${problems[0]?.message}`)
  return policy
}

function fitRule(
  calls: readonly TrafficCall[],
  margin: number,
  rules: readonly KeptRule[],
): { readonly rule: string; readonly why: readonly string[] } {
  const whole = writeUnfitted(rules)
  if (whole !== undefined) return { rule: whole, why: [] }
  const free = calls.filter(isFree)
  if (free.length === 0) return { rule: 'require_approval', why: [] }
  const max = Math.ceil(busiestMinute(calls) * (1 + margin))
  const rate = { rate_limit: { max, window: 60 } }
  const paths = [...new Set(free.flatMap(({ record }) => Object.keys(record.judged)))]
  const bounds = paths
    .filter((path) => path.startsWith('args'))
    .sort()
    .map((path) => fitBound(path, free, margin))
  const why = bounds.flatMap((bound) => bound.why ?? [])
  const conditions = bounds.flatMap((bound) => bound.condition ?? [])
  const [call] = calls as [TrafficCall]
  const own = joinConditions(rules, conditions)
  const isFitting = own === '' || fits(call, own)
  const when = isFitting ? own : joinConditions(rules, [])
  const mayExtra = rules.every(({ when, extraArgs }) => when === undefined || extraArgs)
  const hasExtra = free.some(({ record }) => record.judged[UNDECLARED] === true)
  const isExtra = isFitting && mayExtra && hasExtra
  const extra = isExtra && conditions.length > 0 ? { extra_args: 'allow' } : {}
  const condition = when === '' ? {} : { when, otherwise: 'require_approval', ...extra }
  return { rule: writeRule({ action: 'allow', ...condition, ...rate }, rules), why }
}

/** Whether the condition can be decided for the tool as it is declared now. */
function fits({ past }: TrafficCall, when: string): boolean {
  const { tool } = past.facts
  if (tool === undefined || !past.schemaKnown) return false
  const id = JSON.stringify(`${tool.definition.server}/${tool.definition.name}`)
  const text = `version: 1\ndefault: deny\ntools:\n  ${id}: { action: allow, when: ${JSON.stringify(when)} }\n`
  const { policy, problems } = compile({ file: 'rule', text }, { tools: [tool] })
  return policy !== undefined && problems.length === 0
}

/** A condition that all of these values meet. */
function fitBound(path: string, calls: readonly TrafficCall[], margin: number) {
  const values = calls.map(({ record }) => record.judged[path])
  const present = values.filter((value) => value !== undefined && !isMissing(value))
  if (values.includes(undefined))
    return { why: `\`${path}\` is recorded only since a rule reads it` }
  if (present.some((value) => isOmittedInput(value as DecisionInput)))
    return { why: `the text of \`${path}\` is not recorded (ledger: { record: judged } does)` }
  if (present.length === 0) return { condition: `!has(${path})` }
  const condition = boundOf(path, present as Exclude<DecisionInput, undefined>[], margin)
  if (condition === undefined) return { why: `\`${path}\` had too many values, or several kinds` }
  return {
    condition: present.length < values.length ? `(!has(${path}) || ${condition})` : condition,
  }
}

function boundOf(
  path: string,
  values: readonly DecisionInput[],
  margin: number,
): string | undefined {
  if (values.every(isNumber)) return numberBound(path, values, margin)
  if (!values.every((value) => typeof value === 'string' || typeof value === 'boolean'))
    return undefined
  const words = [...new Set(values)]
  // Few words that come again are a choice; many, or words seen once, are free text.
  if (words.length > SUGGEST_WORDS_MAX || words.length * 2 > values.length) return undefined
  if (words.length === 1) return `${path} == ${JSON.stringify(words[0])}`
  return `${path} in ${JSON.stringify(words.sort())}`
}

const isNumber = (value: DecisionInput): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber

/** At most the largest, and not below zero if none was. */
function numberBound(
  path: string,
  values: readonly (number | ExactNumber)[],
  margin: number,
): string | undefined {
  const numbers = values.map((value) => toDecimal(value))
  if (numbers.some((number) => number === undefined)) return undefined
  const sorted = (numbers as NonNullable<(typeof numbers)[number]>[]).sort(compareDecimal)
  const [least, most] = [sorted[0], sorted.at(-1)]
  if (least === undefined || most === undefined) return undefined
  const whole = sorted.every(({ scale }) => scale <= 0)
  const beyond = Number(formatDecimal(most)) * (1 + margin)
  const top = margin === 0 ? most : parseDecimal(String(whole ? Math.ceil(beyond) : beyond))
  const bound = `${path} <= ${formatDecimal(top ?? most)}`
  return formatDecimal(least).startsWith('-') ? bound : `${path} >= 0 && ${bound}`
}

const isMissing = (value: DecisionInput) => isOmittedInput(value) && value.is !== 'withheld'

/** The most calls of one session within a minute. */
function busiestMinute(calls: readonly TrafficCall[]): number {
  let busiest = 1
  for (const own of groupBy(calls, ({ record }) => record.session).values()) {
    let first = 0
    for (const [index, { record }] of own.entries()) {
      while (record.atMs - (own[first] as TrafficCall).record.atMs >= MINUTE_MS) first++
      busiest = Math.max(busiest, index - first + 1)
    }
  }
  return busiest
}

export const isToolCall = ({ record }: TrafficCall): boolean => record.method === TOOL_CALL
export const toolOf = ({ record }: TrafficCall): string => `${record.server}/${record.name}`
/** No person was asked. */
const isFree = ({ record }: TrafficCall) => toRecordedAction(record) !== 'require_approval'
const dayOf = ({ record }: TrafficCall) => Math.floor(record.atMs / DAY_MS)
const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
