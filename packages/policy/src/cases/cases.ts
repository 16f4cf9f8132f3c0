// Policy cases as data: a YAML file of calls and the expected decisions. Read and validated here,
// run in run-cases.ts. Invalid files get the same kind of problems as invalid policies.

import { ACTIONS, type Action } from '../core/actions.ts'
import { compareDecimal, toDecimal } from '../core/decimal.ts'
import { ExactNumber, type JsonObject, type JsonValue } from '../core/json.ts'
import { CATEGORIES, type Category } from '../core/tools.ts'
import {
  BOOLEAN,
  duration,
  integer,
  list,
  object,
  required,
  someOf,
  text,
  word,
} from '../document/build-shape.ts'
import { asMap, checkShape } from '../document/check-shape.ts'
import { scalar } from '../document/fields.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { type Problem, Problems } from '../document/problem.ts'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
  readDocument,
} from '../document/read-document.ts'
import { parseDuration, parseTime, type Shape } from '../document/shape.ts'
import { CONTENT_METHODS, TOOL_CALL } from '../language/methods.ts'
import {
  factFields,
  findUnnamedCall,
  type SampleFacts,
  splitServerAndName,
} from './sample-facts.ts'

export interface PolicyCase {
  readonly name: string
  readonly line: number
  readonly server: string
  readonly tool: string
  readonly method: string
  readonly args: JsonObject
  readonly facts: SampleFacts
  readonly atMs: number
  readonly repeat: number
  readonly everyMs: number
  readonly expect: Expectation
}

export interface Expectation {
  readonly action?: Action
  readonly code?: string
  readonly rule?: string
  readonly reason?: string
  readonly guardrails?: readonly string[]
  readonly visible?: boolean
}

export interface CaseFile {
  /** Paths as written, relative to the file. */
  readonly policy?: string
  readonly tools?: string
  readonly cases: readonly PolicyCase[]
}

const TEXT: Shape = text(KEY_LENGTH_MAX)
const any: Shape = { kind: 'any' }
const field = (shape: Shape, doc: string) => ({ shape, doc })

const EXPECT: Shape = {
  kind: 'either',
  of: [
    word(ACTIONS),
    object('an expectation', {
      action: field(word(ACTIONS), 'the verdict'),
      code: field(TEXT, '`ALLOWED`, `DENIED`, `RATE_LIMITED`, …'),
      rule: field(TEXT, 'JSON Pointer of the rule that decides'),
      reason: field(TEXT, 'what the agent receives'),
      guardrails: field(list(TEXT, 10_000), 'names of the guardrails that apply'),
      visible: field(BOOLEAN, 'whether a list shows it'),
    }),
  ],
}

const CASE: Shape = object('a case', {
  name: field(TEXT, 'what it shows'),
  call: required(TEXT, '`<server>/<tool>`'),
  method: field(word([TOOL_CALL, ...CONTENT_METHODS.keys()]), '`tools/call` by default'),
  args: field(any, 'the arguments'),
  ...factFields({ count: 1_000_000, list: 10_000 }),
  category: field(word(CATEGORIES), 'the class of this very call'),
  secret: field(BOOLEAN, 'the arguments hold a key or password'),
  card: field(BOOLEAN, 'the arguments hold the number of a card'),
  iban: field(BOOLEAN, 'the arguments hold an IBAN'),
  at: field(TEXT, 'when, as `2026-01-01T12:00:00Z`'),
  repeat: field(integer(1, 100_000), 'repeat the call this often; the last one is decided'),
  every: field(duration(31_536_000), 'time between repeated calls'),
  expect: required(EXPECT, 'an action, or what else must hold'),
})

const FILE: Shape = object('a file of cases', {
  policy: field(text(4_096), 'the policy, relative to this file'),
  tools: field(text(4_096), 'known tools, relative to this file'),
  cases: required(someOf(CASE, 10_000), 'calls and what is expected of them'),
})

export function readCases(source: { file: string; text: string }): {
  cases?: CaseFile
  problems: Problem[]
} {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree === undefined || !checkShape(tree, FILE, 'the file', problems))
    return { problems: problems.sorted() }
  const map = asMap(tree)
  const policy = scalar(map, 'policy')
  const tools = scalar(map, 'tools')
  const node = findEntry(map, 'cases')
  const items = node?.kind === 'list' ? node.items : []
  const cases = items.map((item, index) => readCase(asMap(item), index, problems, source.text))
  if (problems.hasErrors) return { problems: problems.sorted() }
  return {
    cases: {
      ...(typeof policy === 'string' ? { policy } : {}),
      ...(typeof tools === 'string' ? { tools } : {}),
      cases,
    },
    problems: [],
  }
}

function readCase(map: LocatedMap, index: number, problems: Problems, text: string): PolicyCase {
  const wrong = (code: string, key: string, message: string, help: string): void =>
    problems.error(code, findEntry(map, key)?.at ?? map.at, message, help)
  const wrongName = (key: string, name: string): void =>
    wrong(
      'DOCUMENT_BAD_NAME',
      key,
      `\`${name}\` is not a \`<server>/<tool>\``,
      'name the server before the `/`',
    )
  const call = String(scalar(map, 'call'))
  const parts = splitServerAndName(call)
  if (parts === undefined) wrongName('call', call)
  const args = findEntry(map, 'args')
  if (args !== undefined && args.kind !== 'map' && !(args.kind === 'scalar' && args.value === null))
    wrong('DOCUMENT_WRONG_TYPE', 'args', '`args` is not a mapping', 'write `args: { name: value }`')
  const facts = readFacts(map)
  const unnamed = findUnnamedCall(facts.called)
  if (unnamed !== undefined) wrongName('called', unnamed)
  const at = scalar(map, 'at')
  const atMs = at === undefined ? 0 : parseTime(String(at))
  if (atMs === undefined)
    wrong('DOCUMENT_WRONG_TYPE', 'at', `\`${at}\` is not a time`, 'write `2026-01-01T12:00:00Z`')
  return {
    name: String(scalar(map, 'name') ?? `${call} (case ${index + 1})`),
    line: text.slice(0, map.at).split('\n').length,
    server: parts?.server ?? '',
    tool: parts?.name ?? '',
    method: String(scalar(map, 'method') ?? TOOL_CALL),
    args: args?.kind === 'map' ? (toJson(args) as JsonObject) : {},
    facts,
    atMs: atMs ?? 0,
    repeat: Number(scalar(map, 'repeat') ?? 1),
    everyMs: (parseDuration(scalar(map, 'every')) ?? 0) * 1_000,
    expect: readExpectation(findEntry(map, 'expect') as LocatedNode, problems),
  }
}

function readFacts(map: LocatedMap): SampleFacts {
  const category = scalar(map, 'category')
  const part = (name: string) => {
    const node = findEntry(map, name)
    return node === undefined ? {} : { [name]: toJson(node) }
  }
  return {
    ...part('principal'),
    ...part('session'),
    ...part('agent'),
    ...part('prompt'),
    ...part('answers'),
    ...part('called'),
    ...(typeof category === 'string' ? { callCategory: category as Category } : {}),
    ...(scalar(map, 'secret') === true ? { holdsSecret: true } : {}),
    ...(scalar(map, 'card') === true ? { holdsCard: true } : {}),
    ...(scalar(map, 'iban') === true ? { holdsIban: true } : {}),
  }
}

function readExpectation(node: LocatedNode, problems: Problems): Expectation {
  if (node.kind === 'scalar') return { action: node.value as Action }
  if (asMap(node).entries.length === 0)
    problems.error(
      'CASES_INVALID',
      node.at,
      '`expect` expects nothing: every verdict would pass',
      'write an action, or what else must hold',
    )
  return toJson(node) as Expectation
}

/** A YAML node as JSON, numbers by their source text. */
export function toJson(node: LocatedNode): JsonValue {
  if (node.kind === 'list') return node.items.map(toJson)
  if (node.kind === 'map')
    return Object.fromEntries(
      node.entries.map(({ key, value }) => [String(key.value), toJson(value)]),
    )
  return typeof node.value === 'number' ? toExactNumber(node) : node.value
}

/** The number if the double is exact, otherwise its text (`.inf` too). */
function toExactNumber({ value, text }: LocatedScalar): JsonValue {
  const written = new ExactNumber(text)
  const decimal = toDecimal(written)
  const exact = toDecimal(value)
  if (decimal === undefined || exact === undefined)
    return Number.isSafeInteger(value) ? (value as number) : written
  return compareDecimal(decimal, exact) === 0 ? (value as number) : written
}
