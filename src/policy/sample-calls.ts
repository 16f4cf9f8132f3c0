// Calls to try when looking for one that breaks a property: for every place an expression reads,
// the values that tip it (literals of the expressions and their neighbours, enum members, missing),
// combined, plainest first, in the same order every time.

import type { JsonObject, JsonValue } from '../core/json.ts'
import { CATEGORIES, type KnownTool } from '../core/tools.ts'
import { childrenOf, type Node } from './cel.ts'
import { BOOLEAN, type Declared, declaredArguments, declaredAt, isInteger, LIST, MAP, NUMBER, STRING } from './declared-types.ts'
import type { Slot } from './expression.ts'
import type { Scope } from './resolve.ts'
import type { SampleFacts } from './sample-facts.ts'

export interface Sample {
  readonly args: JsonObject
  readonly facts: SampleFacts
  readonly nowMs: number
}

type Change = (sample: Draft) => void
interface Draft {
  args: Record<string, JsonValue>
  facts: { -readonly [K in keyof SampleFacts]: SampleFacts[K] }
  nowMs: number
}

/** Every combination of one choice a place, in the order of how many places differ from plain. */
export function* samples(tool: KnownTool, scope: Scope): Generator<Sample> {
  const places = choices(tool, scope)
  const picked = places.map(() => 0)
  const total = places.reduce((product, options) => Math.min(product * options.length, 1e9), 1)
  for (let index = 0; index < total; index++) {
    let rest = index
    for (let place = 0; place < places.length; place++) {
      const options = places[place] as Change[]
      picked[place] = rest % options.length
      rest = Math.floor(rest / options.length)
    }
    const draft: Draft = { args: {}, facts: {}, nowMs: 0 }
    for (let place = 0; place < places.length; place++) (places[place]?.[picked[place] as number] as Change)(draft)
    yield draft as Sample
  }
}

function choices(tool: KnownTool, scope: Scope): Change[][] {
  const declared = declaredArguments(tool.definition.inputSchema)
  const ready = [...scope.rules, ...scope.guardrails, ...scope.house]
  const expressions = ready.flatMap(({ rule }) => (rule.when ? [rule.when.expression] : []))
  const literals = [...new Set(expressions.flatMap(({ ast }) => literalsOf(ast)))]
  const slots = new Map<string, Slot>()
  for (const { slots: read } of expressions) for (const slot of read) slots.set(JSON.stringify([slot.root, ...slot.path]), slot)
  const paths = [...slots.values()].filter((slot) => slot.root === 'args').map((slot) => slot.path)
  for (const { rule } of ready)
    for (const limit of rule.limits) {
      paths.push(...limit.per.flatMap((part) => (part.by === 'args' ? [part.path] : [])))
      paths.push(...(limit.amount?.factors ?? []).filter((factor): factor is readonly string[] => !('units' in factor)))
    }
  const distinct = [...new Map(paths.map((path) => [path.join('\u0000'), path])).values()]
  const forArgs = distinct.map((path) => argumentChoices(path, declaredAt(declared, path), literals))
  const forFacts = [...slots.values()].map((slot) => factChoices(slot, literals))
  return [...forArgs, ...forFacts].filter((options) => options.length > 0)
}

function argumentChoices(path: readonly string[], declared: Declared | undefined, literals: readonly (string | number)[]): Change[] {
  const kinds = declared?.kinds ?? 127
  const values: JsonValue[] = []
  const numbers = literals.filter((literal) => typeof literal === 'number')
  const texts = literals.filter((literal) => typeof literal === 'string')
  if (declared && (isInteger(declared) || (kinds & NUMBER) !== 0)) values.push(...numbers.flatMap((n) => [n, n + 1, n - 1]), 1, 0, 1e6)
  if ((kinds & STRING) !== 0) values.push(...texts, ...texts.map((text) => `${text}x`), 'x', '')
  if ((kinds & BOOLEAN) !== 0) values.push(true, false)
  if ((kinds & LIST) !== 0) values.push([], ...texts.map((text) => [text]), ...numbers.map((n) => [n]), ['x'])
  if ((kinds & MAP) !== 0) values.push({})
  const distinct = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
  return [...distinct.map((value): Change => (draft) => place(draft.args, path, value)), () => {}]
}

function place(args: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  let at = args
  for (const name of path.slice(0, -1)) {
    const next = { ...(at[name] as Record<string, JsonValue> | undefined) }
    at[name] = next
    at = next
  }
  at[path.at(-1) as string] = value
}

function factChoices(slot: Slot, literals: readonly (string | number)[]): Change[] {
  const [name, below] = slot.path
  const texts = literals.filter((literal) => typeof literal === 'string')
  const numbers = literals.filter((literal) => typeof literal === 'number').flatMap((n) => [n, n + 1, n - 1].filter((m) => m >= 0))
  switch (slot.root) {
    case 'session':
      if (name === 'saw') return [() => {}, (draft) => merge(draft, 'session', { saw: [...(draft.facts.session?.saw ?? []), below as string] })]
      if (name === 'calls') return [0, ...numbers].map((calls): Change => (draft) => merge(draft, 'session', { calls }))
      return name === 'id' ? texts.map((id): Change => (draft) => merge(draft, 'session', { id })) : [() => {}]
    case 'principal':
      if (name === 'groups') return [() => {}, ...texts.map((group): Change => (draft) => merge(draft, 'principal', { groups: [...(draft.facts.principal?.groups ?? []), group] }))]
      if (name === 'claims') return [() => {}, ...[...texts, ...numbers, true, false].map((value): Change => (draft) => merge(draft, 'principal', { claims: { ...draft.facts.principal?.claims, [below ?? '']: value } }))]
      return [() => {}, ...texts.map((text): Change => (draft) => merge(draft, 'principal', { [name as string]: text }))]
    case 'agent':
      if (name === undefined) return [() => {}, (draft) => merge(draft, 'agent', {})]
      return [() => {}, ...(name === 'depth' || name === 'turn' ? numbers : texts).map((value): Change => (draft) => merge(draft, 'agent', { [name]: value }))]
    case 'call':
      return [() => {}, ...CATEGORIES.map((category): Change => (draft) => void (draft.facts.callCategory = category))]
    case 'now':
      return [0, ...Array.from({ length: 24 }, (_, hour) => hour * 3_600_000), 1_800_000_000_000].map((nowMs): Change => (draft) => void (draft.nowMs = nowMs))
    default:
      return []
  }
}

function merge(draft: Draft, part: 'session' | 'principal' | 'agent', fields: object): void {
  draft.facts[part] = { ...draft.facts[part], ...fields }
}

function literalsOf(node: Node): (string | number)[] {
  if (node.op !== 'value') return childrenOf(node).flatMap(literalsOf)
  if (typeof node.args === 'bigint') return [Number(node.args)]
  return typeof node.args === 'number' || typeof node.args === 'string' ? [node.args] : []
}
