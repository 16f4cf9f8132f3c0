// Candidate calls for violating a property: for every input that the rules read, the boundary
// values (literals of the expressions and their neighbours, missing, another kind), in all
// combinations and in a fixed order.

import { CATEGORIES, type KnownTool } from '../calls/tools.ts'
import { type CelNode, listChildren } from '../expression/cel.ts'
import {
  BOOLEAN,
  type DeclaredType,
  findDeclared,
  INTEGER,
  LIST,
  MAP,
  NUMBER,
  readDeclaredArguments,
  STRING,
} from '../expression/evaluate/declared-types.ts'
import type { Expression } from '../expression/expression.ts'
import type { ExpressionVariable } from '../expression/expression-variables.ts'
import { type ApplicableRules, listPreparedRules } from '../model/applicable-rules.ts'
import type { Limit } from '../model/rule.ts'
import type { JsonObject, JsonValue } from '../values/json.ts'
import type { SampleFacts } from './sample-facts.ts'

export interface SampleCall {
  readonly args: JsonObject
  readonly facts: SampleFacts
  readonly nowMs: number
}

/** An input that can be set; `undefined` among the options leaves it out. */
interface SampleDimension {
  readonly options: readonly unknown[]
  set(draft: SampleDraft, value: unknown): void
}

interface SampleDraft {
  args: Record<string, JsonValue>
  facts: { -readonly [K in keyof SampleFacts]: SampleFacts[K] }
  nowMs: number
}

/** What a sample is not to vary: the caller and the labels of a session, in a sequence of calls. */
export interface FixedFacts extends Pick<SampleFacts, 'principal' | 'agent'> {
  readonly saw: readonly string[]
}

/**
 * Every combination of one option per dimension: the first dimension varies fastest. `also` is a
 * condition besides those of the rules.
 */
export function* samples(
  tool: KnownTool,
  scope: ApplicableRules,
  { also, fixed }: { readonly also?: Expression; readonly fixed?: FixedFacts },
): Generator<SampleCall> {
  const inputs = listInputs([scope], also)
  const { variables } = inputs
  const varied =
    fixed === undefined ? variables : variables.filter((variable) => !isFixed(variable))
  const places = listDimensions(tool, { ...inputs, variables: varied })
  for (const draft of combine(places)) {
    if (fixed !== undefined) {
      const { saw, ...caller } = fixed
      Object.assign(draft.facts, caller)
      merge(draft, 'session', { saw })
    }
    yield draft
  }
}

/** Every caller that the rules can tell from another. */
export function* sampleCallers(
  scopes: readonly ApplicableRules[],
): Generator<Pick<SampleFacts, 'principal' | 'agent'>> {
  const { variables, literals } = listInputs(scopes)
  const places = distinct(variables.filter(isOfCaller)).map((variable) =>
    factPlace(variable, literals),
  )
  for (const { facts } of combine(places.filter(({ options }) => options.length > 0))) yield facts
}

type VariablePath = Pick<ExpressionVariable, 'root' | 'path'>

const isOfCaller = ({ root }: VariablePath) => root === 'principal' || root === 'agent'
const isFixed = (variable: VariablePath) =>
  isOfCaller(variable) || (variable.root === 'session' && variable.path[0] === 'saw')

function* combine(places: readonly SampleDimension[]): Generator<SampleDraft> {
  const total = places.reduce((product, { options }) => product * options.length, 1)
  for (let index = 0; index < total; index++) {
    const draft: SampleDraft = { args: {}, facts: {}, nowMs: 0 }
    let rest = index
    for (const { options, set } of places) {
      const option = options[rest % options.length]
      rest = Math.floor(rest / options.length)
      if (option !== undefined) set(draft, option)
    }
    yield draft
  }
}

/** What rules compare, read and count: the samples are drawn from it. */
interface SampleInputs {
  /** The literals of all conditions. */
  readonly literals: readonly (string | number)[]
  /** What the conditions read. */
  readonly variables: readonly Pick<ExpressionVariable, 'root' | 'path'>[]
  /** The paths of the arguments that limits read. */
  readonly counted: readonly (readonly string[])[]
}

function listInputs(scopes: readonly ApplicableRules[], also?: Expression): SampleInputs {
  const rules = scopes.flatMap((scope) => listPreparedRules(scope).map(({ rule }) => rule))
  const expressions = rules.flatMap(({ when }) => (when ? [when.expression] : []))
  if (also !== undefined) expressions.push(also)
  return {
    literals: [...new Set(expressions.flatMap(({ ast }) => listLiterals(ast)))],
    variables: expressions.flatMap(({ variables }) =>
      variables.map(({ root, path }) => ({ root, path })),
    ),
    counted: rules.flatMap(({ limits }) => limits.flatMap(listPaths)),
  }
}

function listDimensions(
  tool: KnownTool,
  { literals, variables, counted }: SampleInputs,
): SampleDimension[] {
  const declared = readDeclaredArguments(tool.definition.inputSchema)
  const read = variables.filter(({ root }) => root === 'args').map(({ path }) => path)
  const places = [
    ...distinct([...read, ...counted]).map((path) =>
      argumentPlace(path, findDeclared(declared, path), literals),
    ),
    ...distinct(variables).map((variable) => factPlace(variable, literals)),
  ]
  return places.filter(({ options }) => options.length > 0)
}

function listPaths({ per, amount }: Limit): (readonly string[])[] {
  const keys = per.flatMap((part) => (part.by === 'args' ? [part.path] : []))
  const factors = amount?.factors.filter((factor) => Array.isArray(factor)) ?? []
  return [...keys, ...(factors as (readonly string[])[])]
}

function argumentPlace(
  path: readonly string[],
  declared: DeclaredType | undefined,
  literals: readonly (string | number)[],
): SampleDimension {
  const kinds = declared?.kinds ?? STRING
  const { numbers, texts } = split(literals)
  const options: unknown[] = []
  if ((kinds & (INTEGER | NUMBER)) !== 0) options.push(...numbers, 1, 0, 1e6)
  if ((kinds & STRING) !== 0) options.push(...texts, ...texts.map((text) => `${text}x`), 'x', '')
  if ((kinds & BOOLEAN) !== 0) options.push(true, false)
  if ((kinds & LIST) !== 0) options.push([], ...[...texts, ...numbers, 'x'].map((item) => [item]))
  if ((kinds & MAP) !== 0) options.push({})
  return {
    options: [...distinct(options), undefined],
    set: ({ args }, value) => put(args, path, value as JsonValue),
  }
}

function put(args: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  let at = args
  for (const name of path.slice(0, -1)) {
    const inner = { ...(at[name] as Record<string, JsonValue> | undefined) }
    at[name] = inner
    at = inner
  }
  at[path.at(-1) as string] = value
}

/** What a condition may read of a call besides its arguments. */
const CALL_FACTS: Readonly<
  Record<string, readonly [fact: keyof SampleFacts, options: readonly unknown[]]>
> = {
  category: ['callCategory', CATEGORIES],
  secret: ['holdsSecret', [true]],
  card: ['holdsCard', [true]],
  iban: ['holdsIban', [true]],
}

/** The values to try for a fact; there are none if it cannot be set. */
function factPlace(
  { root, path }: VariablePath,
  literals: readonly (string | number)[],
): SampleDimension {
  const [name = '', below = ''] = path
  const { texts, numbers } = split(literals)
  const vary = (options: readonly unknown[], set: SampleDimension['set']): SampleDimension => ({
    options: [undefined, ...options],
    set,
  })
  if (root === 'now') {
    const hours = Array.from({ length: 24 }, (_, hour) => hour * HOUR_MS + WEDNESDAY_MS)
    return { options: hours, set: (draft, nowMs) => Object.assign(draft, { nowMs }) }
  }
  const [fact, options = []] = (root === 'call' && CALL_FACTS[name]) || []
  if (fact !== undefined)
    return vary(options, (draft, value) => Object.assign(draft.facts, { [fact]: value }))
  const isOfSession = root === 'session' && name !== 'startedAt'
  if (!isOfSession && root !== 'principal' && root !== 'agent')
    return { options: [], set: () => {} }
  if (name === 'saw')
    return vary([below], (draft, label) =>
      merge(draft, root, { saw: [...(draft.facts.session?.saw ?? []), label] }),
    )
  if (name === 'claims')
    return vary([...texts, ...numbers, true, false], (draft, value) =>
      merge(draft, root, { claims: { ...draft.facts.principal?.claims, [below]: value } }),
    )
  if (name === '') return vary([{}], (draft) => merge(draft, root, {}))
  const isCount = ['calls', 'repeats', 'tokens', 'depth', 'turn'].includes(name)
  const counts = numbers.filter((number) => number >= 0)
  const values = name === 'groups' ? texts.map((text) => [text]) : isCount ? counts : texts
  return vary(values, (draft, value) => merge(draft, root, { [name]: value }))
}

const HOUR_MS = 3_600_000
const WEDNESDAY_MS = 1_767_744_000_000

function merge(draft: SampleDraft, part: 'session' | 'principal' | 'agent', fields: object): void {
  draft.facts[part] = { ...draft.facts[part], ...fields }
}

/** Literals by kind; numbers with their neighbours, where comparisons change. */
function split(literals: readonly (string | number)[]): { texts: string[]; numbers: number[] } {
  const numbers = literals.filter((literal) => typeof literal === 'number')
  return {
    texts: literals.filter((literal) => typeof literal === 'string'),
    numbers: numbers.flatMap((number) => [number, number + 1, number - 1]),
  }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

function listLiterals(node: CelNode): (string | number)[] {
  if (node.op !== 'value') return listChildren(node).flatMap(listLiterals)
  if (typeof node.args === 'bigint') return [Number(node.args)]
  return typeof node.args === 'number' || typeof node.args === 'string' ? [node.args] : []
}
