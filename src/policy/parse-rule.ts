// One rule or guardrail: from the located tree, whose shape is known to fit, to what the engine
// holds. Here fields are held against each other: whatever would silently do nothing is an error.

import type { Action } from '../core/actions.ts'
import { CHANNELS, type Channel } from '../core/decision.ts'
import type { Category } from '../core/tools.ts'
import { asMap, checkName } from '../document/check-shape.ts'
import type { Problems } from '../document/problem.ts'
import {
  entry,
  type Located,
  type LocatedMap,
  type LocatedScalar,
  placeOf,
} from '../document/read-document.ts'
import { parseDuration } from '../document/shape.ts'
import { type Budget, parseExpression } from './expression.ts'
import { ExpressionError } from './expression-names.ts'
import { isGlob, parseGlob } from './glob.ts'
import { CONTENT_METHODS, TOOL_CALL } from './methods.ts'
import { parseLimits } from './parse-limit.ts'
import type { Approval, Guardrail, Rule } from './rule.ts'
import { weakTests } from './weak-tests.ts'

export interface RuleContext {
  readonly problems: Problems
  readonly labels: ReadonlySet<string>
  readonly budget: Budget
  /** The document's name, part of every counter's key. */
  readonly document: string
}

const APPROVAL_DEFAULT: Approval = {
  timeoutMs: 600_000,
  waitMs: 25_000,
  approvers: [],
  quorum: 1,
  channels: CHANNELS.filter((channel) => channel !== 'client'),
  separateDuties: false,
  editArgs: false,
}

export type Section = 'categories' | 'tools' | 'methods' | 'resources' | 'prompts'

export function parseRule(
  section: Section,
  key: LocatedScalar,
  node: Located,
  context: RuleContext,
): Rule {
  const name = String(key.value)
  const pointer = `/${section}/${escapePointer(name)}`
  const named = section === 'tools' || section === 'resources' || section === 'prompts'
  const glob = named && isGlob(name) ? { glob: parseGlob(name) } : {}
  if (node.kind === 'scalar') {
    const action = node.value as Action
    return {
      ...plainRule(key.at, pointer),
      key: name,
      ...glob,
      action,
      otherwise: 'deny',
      over: new Set(),
    }
  }
  const map = asMap(node)
  const action = scalar(map, 'action') as Action
  const otherwise = (scalar(map, 'otherwise') as Action | undefined) ?? 'deny'
  const words = entry(map, 'when') === undefined ? [action] : [action, otherwise]
  const common = parseCommon(map, key.at, pointer, words, `${context.document}${pointer}`, context)
  const rule = { ...common, key: name, ...glob, action, otherwise, over: parseOver(map) }
  checkBranches(map, rule, context.problems)
  if (entry(map, 'over') !== undefined && !('glob' in glob)) {
    const help = named
      ? 'take it away: an exact name stands over the category anyway'
      : 'take it away: only a glob under `tools` lifts the rule of a category'
    noEffect(map, 'over', '`over` stands on what is no glob', help, context.problems)
  }
  if (section === 'categories' && (name === 'Destructive' || name === 'Financial'))
    checkClientChannel(map, `a ${name} call`, rule.approval, context.problems)
  return rule
}

export function parseGuardrail(node: Located, index: number, context: RuleContext): Guardrail {
  const map = asMap(node)
  const name = scalar(map, 'name') as string
  const action = scalar(map, 'action') as Action | undefined
  const id = `${context.document}/guardrails/${escapePointer(name)}`
  const words: Action[] = action === undefined ? ['allow'] : [action]
  const common = parseCommon(map, map.at, `/guardrails/${index}`, words, id, context)
  const { problems } = context
  if (action === undefined && common.limits.length === 0)
    problems.error(
      'POLICY_NO_EFFECT',
      (entry(map, 'name') ?? map).at,
      `\`${name}\` has neither \`action\` nor a limit`,
      'give it one of them',
    )
  if (action === 'hide' && common.when?.expression.dependsOnCall) hideByArgs(map, problems)
  const match = asMap(entry(map, 'match'))
  checkMatch(match, problems)
  const wordsOf = (field: string) => {
    const list = entry(match, field)
    return list === undefined ? undefined : strings(list)
  }
  return {
    ...common,
    name,
    ...(action === undefined ? {} : { action }),
    match: {
      ...defined('categories', wordsOf('categories')),
      ...defined('tools', wordsOf('tools')?.map(parseGlob)),
      ...defined('servers', wordsOf('servers')),
      ...defined('methods', wordsOf('methods')),
    },
  }
}

/** Names that are none, and parts that cannot hold together. */
function checkMatch(match: LocatedMap, problems: Problems): void {
  for (const tool of items(entry(match, 'tools')))
    checkName(String(tool.value), 'tool', tool.at, problems)
  for (const server of items(entry(match, 'servers')))
    if (String(server.value).includes('/'))
      problems.error(
        'DOCUMENT_BAD_NAME',
        server.at,
        `\`${server.value}\` is no name of a server`,
        'name tools under `tools`, and servers without a `/`',
      )
  const methods = strings(entry(match, 'methods'))
  if (methods.length === 0 || methods.includes(TOOL_CALL)) return
  if (entry(match, 'tools') !== undefined)
    noEffect(
      match,
      'methods',
      '`methods` without `tools/call` never holds together with `tools`',
      'add `tools/call`, or take one of them away',
      problems,
    )
  const categories = strings(entry(match, 'categories'))
  if (
    categories.length > 0 &&
    !methods.some((method) => categories.includes(CONTENT_METHODS.get(method) ?? ''))
  )
    noEffect(
      match,
      'categories',
      '`categories` has none that these `methods` are judged as',
      `they are judged as ${[...new Set(methods.map((method) => `\`${CONTENT_METHODS.get(method)}\``))].join(', ')}`,
      problems,
    )
}

function parseCommon(
  map: LocatedMap,
  at: number,
  pointer: string,
  words: readonly Action[],
  id: string,
  context: RuleContext,
) {
  const { problems } = context
  const when = parseWhen(map, context)
  const limits = parseLimits(map, id, problems)
  const passes = words.some((word) => word === 'allow' || word === 'require_approval')
  if (limits.length > 0 && !passes) {
    const field = entry(map, 'rate_limit') ? 'rate_limit' : 'spend_limit'
    noEffect(
      map,
      field,
      `\`${field}\` stands on what is never let through (${words.map((word) => `\`${word}\``).join(', ')})`,
      'take the limit away, or let the call pass',
      problems,
    )
  }
  if (entry(map, 'approval') !== undefined && !words.includes('require_approval'))
    noEffect(
      map,
      'approval',
      '`approval` stands where nothing asks for one',
      'say `require_approval`, or take it away',
      problems,
    )
  const readsArgs = when?.expression.readsArgs === true
  if (entry(map, 'extra_args') !== undefined && !readsArgs)
    noEffect(
      map,
      'extra_args',
      '`extra_args` stands without a `when` that reads `args`',
      'take it away',
      problems,
    )
  return {
    pointer,
    at,
    reason: (scalar(map, 'reason') as string | undefined) ?? '',
    ...(when === undefined ? {} : { when }),
    limits,
    approval: parseApproval(map, problems),
    extraArgs: scalar(map, 'extra_args') === 'allow',
    shadow: scalar(map, 'mode') === 'shadow',
  }
}

function parseWhen(map: LocatedMap, context: RuleContext): Rule['when'] {
  const node = entry(map, 'when')
  if (node === undefined || node.kind !== 'scalar') return undefined
  const { problems } = context
  const place = (offset: number) => placeOf(node, offset)
  try {
    const expression = parseExpression(node.value as string, context.labels, context.budget)
    for (const weak of weakTests(expression))
      problems.warn(weak.code, place(weak.at), weak.message, weak.help)
    return { expression, placeOf: place }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.error(error.code, place(error.at), `in \`when\`: ${error.message}`, error.help)
    return undefined
  }
}

function checkBranches(map: LocatedMap, rule: Rule, problems: Problems): void {
  const { when, action, otherwise } = rule
  if (entry(map, 'otherwise') !== undefined && entry(map, 'when') === undefined)
    noEffect(
      map,
      'otherwise',
      '`otherwise` stands without `when`',
      'add `when`, or take it away',
      problems,
    )
  if (when !== undefined && action === otherwise)
    noEffect(
      map,
      'when',
      `\`when\` decides nothing: both branches say \`${action}\``,
      entry(map, 'otherwise') === undefined
        ? `add an \`otherwise\`: it is \`deny\` where left out`
        : 'say something else in `otherwise`',
      problems,
    )
  if (when?.expression.dependsOnCall && (action === 'hide' || otherwise === 'hide'))
    hideByArgs(map, problems)
  const told = when !== undefined || action !== 'allow' || rule.limits.length > 0
  if (rule.reason !== '' && !told)
    noEffect(
      map,
      'reason',
      '`reason` is never told',
      'take it away: it is told on a denial or a hold',
      problems,
    )
}

function hideByArgs(map: LocatedMap, problems: Problems): void {
  const word = [entry(map, 'action'), entry(map, 'otherwise')].find(
    (node) => node?.kind === 'scalar' && node.value === 'hide',
  )
  problems.error(
    'POLICY_HIDE_BY_ARGS',
    (word ?? map).at,
    '`hide` depends on the call, which is not known when tools are listed',
    'say `deny`, or let `when` ask for something else than `args` and `call`',
  )
}

function parseApproval(map: LocatedMap, problems: Problems): Approval {
  const node = entry(map, 'approval')
  if (node === undefined) return APPROVAL_DEFAULT
  const fields = asMap(node)
  const seconds = (name: string, fallbackMs: number) => {
    const value = parseDuration(scalar(fields, name))
    return value === undefined ? fallbackMs : value * 1_000
  }
  const listed = (name: string) => strings(entry(fields, name))
  const channels = listed('channels') as Channel[]
  const approval: Approval = {
    timeoutMs: seconds('timeout', APPROVAL_DEFAULT.timeoutMs),
    waitMs: seconds('wait', APPROVAL_DEFAULT.waitMs),
    approvers: listed('approvers'),
    quorum: (scalar(fields, 'quorum') as number | undefined) ?? APPROVAL_DEFAULT.quorum,
    channels: channels.length > 0 ? channels : APPROVAL_DEFAULT.channels,
    separateDuties: scalar(fields, 'separate_duties') === true,
    editArgs: scalar(fields, 'edit_args') === true,
  }
  if (approval.approvers.length > 0 || entry(fields, 'quorum') !== undefined)
    checkClientChannel(map, 'where `approvers` or a `quorum` are asked for', approval, problems)
  return approval
}

function checkClientChannel(
  map: LocatedMap,
  what: string,
  approval: Approval,
  problems: Problems,
): void {
  if (!approval.channels.includes('client')) return
  const written = items(entry(asMap(entry(map, 'approval')), 'channels')).find(
    ({ value }) => value === 'client',
  )
  problems.error(
    'POLICY_CLIENT_CHANNEL',
    (written ?? map).at,
    `\`client\` may not approve ${what}`,
    'take it from `channels`: it is the word of the caller, not of a person',
  )
}

function parseOver(map: LocatedMap): Set<Category> {
  return new Set(strings(entry(map, 'over')) as Category[])
}

function plainRule(at: number, pointer: string) {
  return {
    pointer,
    at,
    reason: '',
    limits: [],
    approval: APPROVAL_DEFAULT,
    extraArgs: false,
    shadow: false,
  }
}

function noEffect(
  map: LocatedMap,
  field: string,
  message: string,
  help: string,
  problems: Problems,
): void {
  const key = map.entries.find((candidate) => candidate.key.value === field)?.key
  problems.error('POLICY_NO_EFFECT', key?.at ?? map.at, message, help)
}

export function scalar(map: LocatedMap, name: string): LocatedScalar['value'] | undefined {
  const node = entry(map, name)
  return node?.kind === 'scalar' ? node.value : undefined
}

export function strings(node: Located | undefined): string[] {
  return items(node).map(({ value }) => String(value))
}

function items(node: Located | undefined): readonly LocatedScalar[] {
  return node?.kind === 'list' ? (node.items as readonly LocatedScalar[]) : []
}

export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function defined<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]: V })
}
