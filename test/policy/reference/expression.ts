// A small part of CEL as trees: `render` writes the text the real engine compiles, `judge` says
// what the language page says about it. First what is looked at before the evaluation (types,
// exactness, undeclared arguments, bounds), then the evaluation itself, where FAILED travels as
// a value so that `&&` and `||` can absorb it on either side. Pure.

import type { Facts } from '@sluice/policy/calls/call'
import type { Category } from '@sluice/policy/calls/tools'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { ExactNumber, isObject } from '@sluice/policy/values/json'
import { matchesKey } from './globs.ts'
import { originIn, RAW_MEMORIES, type RefOrigin } from './protect.ts'

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='
export type Arithmetic = '+' | '-' | '*'
export type FactName =
  | 'agent.depth'
  | 'call.category'
  | 'principal.groups'
  | 'session.calls'
  | 'tool.category'

export type Ast =
  /** A bigint is a whole-number literal, a number a literal with a point. */
  | { op: 'literal'; value: bigint | number | string | boolean }
  | { op: 'list'; items: Ast[] }
  | { op: 'args' | 'has'; path: string[] }
  | { op: 'not' | 'size'; of: Ast }
  | { op: '&&' | '||' | Comparison | Arithmetic | 'in'; left: Ast; right: Ast }
  | { op: 'startsWith'; of: Ast; prefix: string }
  | { op: 'saw'; label: string }
  | { op: 'noAgent' }
  | { op: 'fact'; name: FactName }
  | { op: 'called'; tool: string }
  | { op: 'calledWithin'; tool: string; seconds: number }
  | { op: 'callsAfter'; tool: string; after: string }
  | { op: 'origin'; name: string }

export interface Env {
  args: JsonObject
  /** The tool's `inputSchema`; undefined where nothing is declared. */
  schema: JsonValue | undefined
  /** The rule says `extra_args: allow`. */
  extraArgs: boolean
  toolCategory: Category | undefined
  callCategory: Category | undefined
  facts: Facts
  nowMs: number
}

const ENTRIES_MAX = 1000
const TEXT_BYTES_MAX = 64 * 1024
const INT_MAX = 2n ** 63n - 1n
const INT_MIN = -(2n ** 63n)

export function render(ast: Ast): string {
  switch (ast.op) {
    case 'literal':
      if (typeof ast.value === 'string') return JSON.stringify(ast.value)
      return Number.isInteger(ast.value) ? `${ast.value}.0` : String(ast.value)
    case 'list':
      return `[${ast.items.map(render).join(', ')}]`
    case 'args':
      return `args.${ast.path.join('.')}`
    case 'has':
      return `has(args.${ast.path.join('.')})`
    case 'not':
      return `!(${render(ast.of)})`
    case 'size':
      return `size(${render(ast.of)})`
    case 'startsWith':
      return `${render(ast.of)}.startsWith(${JSON.stringify(ast.prefix)})`
    case 'saw':
      return `session.saw.${ast.label}`
    case 'noAgent':
      return '(agent == null)'
    case 'fact':
      return ast.name
    case 'called':
      return `called("${ast.tool}")`
    case 'calledWithin':
      return `calledWithin("${ast.tool}", "${ast.seconds}s")`
    case 'callsAfter':
      return `callsAfter("${ast.tool}", "${ast.after}")`
    case 'origin':
      return `origin.${ast.name}`
    default:
      return `(${render(ast.left)} ${ast.op} ${render(ast.right)})`
  }
}

export function judge(ast: Ast, env: Env): true | false | 'undecidable' {
  if (readsArgs(ast) && !env.extraArgs && hasUndeclared(env)) return 'undecidable'
  if (!isSound(mentions(ast), env)) return 'undecidable'
  const value = evaluate(ast, env)
  return typeof value === 'boolean' ? value : 'undecidable'
}

export function readsArgs(ast: Ast): boolean {
  return JSON.stringify(ast, (_, value) => (typeof value === 'bigint' ? 0 : value)).includes(
    '"path"',
  )
}

/** Every place where the expression reads an argument, in order; `has` only asks for one. */
function mentions(ast: Ast): string[][] {
  switch (ast.op) {
    case 'args':
      return [ast.path]
    case 'has':
      return ast.path.length > 1 ? [ast.path.slice(0, -1)] : []
    case 'list':
      return ast.items.flatMap(mentions)
    case 'not':
    case 'size':
    case 'startsWith':
      return mentions(ast.of)
    case 'literal':
    case 'saw':
    case 'noAgent':
    case 'fact':
    case 'called':
    case 'calledWithin':
    case 'callsAfter':
    case 'origin':
      return []
    default:
      return [...mentions(ast.left), ...mentions(ast.right)]
  }
}

// Before the evaluation.

function isSound(paths: string[][], env: Env): boolean {
  let entries = 0
  let textBytes = 0
  for (const path of paths) {
    let value: JsonValue | undefined = env.args
    let schema = env.schema
    for (const key of path) {
      value = member(value, key)
      schema = declared(schema, key)
      if (value === undefined) break
      if (!hasDeclaredType(value, schema) || !isExact(value, schema)) return false
    }
    entries += countEntries(value)
    textBytes += countTextBytes(value)
  }
  return entries <= ENTRIES_MAX && textBytes <= TEXT_BYTES_MAX
}

function hasUndeclared({ args, schema }: Env): boolean {
  const additional = isObject(schema) ? schema.additionalProperties : undefined
  if (additional === true || isObject(additional)) return false
  return Object.keys(args).some((name) => declared(schema, name) === undefined)
}

export function declared(schema: JsonValue | undefined, name: string): JsonValue | undefined {
  return member(member(schema, 'properties'), name)
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

export function hasDeclaredType(value: JsonValue, schema: JsonValue | undefined): boolean {
  switch (member(schema, 'type')) {
    case undefined:
      return true
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return value instanceof ExactNumber ? /^-?\d+$/.test(value.text) : Number.isInteger(value)
    case 'number':
      return value instanceof ExactNumber || typeof value === 'number'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    default:
      throw new Error('a type the reference does not know')
  }
}

function isExact(value: JsonValue, schema: JsonValue | undefined): boolean {
  if (member(schema, 'type') !== 'integer') return !(value instanceof ExactNumber)
  const whole = BigInt(value instanceof ExactNumber ? value.text : (value as number))
  return whole >= INT_MIN && whole <= INT_MAX
}

function countEntries(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + countEntries(item), 0)
}

function countTextBytes(value: JsonValue | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + countTextBytes(item), 0)
}

// The evaluation. A bigint is an int, a number a double.

const FAILED = Symbol('failed')
type Value = bigint | number | string | boolean | null | Value[] | { [key: string]: Value }
type Outcome = Value | typeof FAILED

function evaluate(ast: Ast, env: Env): Outcome {
  switch (ast.op) {
    case 'literal':
      return ast.value
    case 'list':
      return ast.items.map((item) => evaluate(item, env) as Value)
    case 'args':
      return readArgument(ast.path, env)
    case 'has': {
      const holder = argumentAt(ast.path.slice(0, -1), env)
      return isObject(holder) ? Object.hasOwn(holder, ast.path.at(-1) as string) : FAILED
    }
    case 'not': {
      const value = evaluate(ast.of, env)
      return typeof value === 'boolean' ? !value : FAILED
    }
    case 'size':
      return sizeOf(evaluate(ast.of, env))
    case 'startsWith': {
      const value = evaluate(ast.of, env)
      return typeof value === 'string' ? value.startsWith(ast.prefix) : FAILED
    }
    case 'saw':
      return env.facts.session.saw.includes(ast.label)
    case 'noAgent':
      return env.facts.agent === null
    case 'fact':
      return readFact(ast.name, env)
    case 'called':
    case 'calledWithin':
    case 'callsAfter':
      return recall(ast, env)
    case 'origin':
      return originOf(ast.name, env)
    case '&&':
    case '||': {
      const settles = ast.op === '||'
      const left = evaluate(ast.left, env)
      const right = evaluate(ast.right, env)
      if (left === settles || right === settles) return settles
      return left === !settles && right === !settles ? !settles : FAILED
    }
    case 'in':
      return isIn(evaluate(ast.left, env), evaluate(ast.right, env))
    default: {
      const left = evaluate(ast.left, env)
      const right = evaluate(ast.right, env)
      if (left === FAILED || right === FAILED) return FAILED
      const a = typeof right === 'number' ? literalAsDouble(ast.left, left) : left
      const b = typeof left === 'number' ? literalAsDouble(ast.right, right) : right
      return ast.op === '+' || ast.op === '-' || ast.op === '*'
        ? calculate(ast.op, a, b)
        : compare(ast.op, a, b)
    }
  }
}

function literalAsDouble(ast: Ast, value: Value): Value {
  return ast.op === 'literal' && typeof value === 'bigint' ? Number(value) : value
}

function readArgument(path: string[], env: Env): Outcome {
  const value = argumentAt(path, env)
  return value === undefined ? FAILED : toCel(value, path.reduce(declared, env.schema))
}

function argumentAt(path: string[], env: Env): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(member, env.args)
}

function toCel(value: JsonValue, schema: JsonValue | undefined): Value {
  const isInt = member(schema, 'type') === 'integer'
  if (value instanceof ExactNumber) return isInt ? BigInt(value.text) : Number(value.text)
  if (typeof value === 'number') return isInt ? BigInt(value) : value
  if (Array.isArray(value)) {
    const items = member(schema, 'items')
    return value.map((item) => toCel(item as JsonValue, items))
  }
  if (!isObject(value)) return value as null | boolean | string
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([key, item]) => [key, toCel(item, declared(schema, key))]))
}

/** What the session called before, newest last; a past that is cut off may hide what is asked for. */
function recall(
  ast: Ast & { op: 'called' | 'calledWithin' | 'callsAfter' },
  { facts, nowMs }: Env,
): Outcome {
  const { past } = facts.session
  if (past === undefined) return FAILED
  const { calls, hasMore } = past
  const newestFirst = [...calls].reverse()
  const fits = (key: string) => (call: { server: string; name: string }) =>
    matchesKey(key, call.server, call.name)
  if (ast.op === 'callsAfter') {
    const before = newestFirst.findIndex(fits(ast.after))
    if (before === -1) return hasMore ? FAILED : 0n
    return BigInt(newestFirst.slice(0, before).filter(fits(ast.tool)).length)
  }
  const found = newestFirst.find(fits(ast.tool))
  if (ast.op === 'called') return found === undefined && hasMore ? FAILED : found !== undefined
  const edgeMs = nowMs - ast.seconds * 1000
  if (found !== undefined) return found.atMs > edgeMs
  const isCovered = calls[0] !== undefined && calls[0].atMs <= edgeMs
  return hasMore && !isCovered ? FAILED : false
}

const FROM_BEST: readonly RefOrigin[] = [
  'user',
  'field',
  'shared field',
  'written field',
  'prose',
  'nowhere',
]

/** The worst origin among the texts of an argument. */
function originOf(name: string, { args, facts }: Env): Outcome {
  const memory = RAW_MEMORIES.get(facts.provenance ?? {})
  const value = member(args, name)
  if (memory === undefined || value === undefined) return FAILED
  const texts = (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string')
  const origins = texts.map((text) => originIn(memory, text))
  return FROM_BEST.findLast((origin) => origins.includes(origin)) ?? 'user'
}

function readFact(name: FactName, { facts, toolCategory, callCategory }: Env): Outcome {
  switch (name) {
    case 'agent.depth':
      return facts.agent === null ? FAILED : BigInt(facts.agent.depth)
    case 'call.category':
      return callCategory ?? FAILED
    case 'principal.groups':
      return [...facts.principal.groups]
    case 'session.calls':
      return BigInt(facts.session.calls)
    case 'tool.category':
      return facts.tool === undefined ? FAILED : (toolCategory ?? FAILED)
  }
}

function calculate(op: Arithmetic, a: Value, b: Value): Outcome {
  if (typeof a === 'number' && typeof b === 'number') {
    return op === '+' ? a + b : op === '-' ? a - b : a * b
  }
  if (typeof a !== 'bigint' || typeof b !== 'bigint') return FAILED
  const result = op === '+' ? a + b : op === '-' ? a - b : a * b
  return result >= INT_MIN && result <= INT_MAX ? result : FAILED
}

function compare(op: Comparison, a: Value, b: Value): Outcome {
  if (typeof a === 'boolean' && typeof b === 'boolean') return op === '==' ? a === b : a !== b
  const isNumbers = isNumeric(a) && isNumeric(b)
  if (!isNumbers && !(typeof a === 'string' && typeof b === 'string'))
    return op === '==' ? false : op === '!=' ? true : FAILED
  switch (op) {
    case '==':
      // biome-ignore lint/suspicious/noDoubleEquals: an int equals a double of the same value
      return a == b
    case '!=':
      // biome-ignore lint/suspicious/noDoubleEquals: as above
      return a != b
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '>':
      return a > b
    case '>=':
      return a >= b
  }
}

function isIn(item: Outcome, list: Outcome): Outcome {
  if (item === FAILED) return FAILED
  if (isMap(list)) return typeof item === 'string' ? Object.hasOwn(list, item) : FAILED
  if (!Array.isArray(list)) return FAILED
  const equals = list.map((other) => compare('==', item, other))
  if (equals.includes(true)) return true
  return equals.includes(FAILED) ? FAILED : false
}

function sizeOf(value: Outcome): Outcome {
  if (typeof value === 'string') return BigInt([...value].length)
  if (Array.isArray(value)) return BigInt(value.length)
  return isMap(value) ? BigInt(Object.keys(value).length) : FAILED
}

function isNumeric(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

function isMap(value: Outcome): value is { [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
