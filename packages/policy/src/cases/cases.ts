// Policy cases as data: a YAML file of calls and the expected decisions. Read and validated here,
// run in run-cases.ts. Invalid files get the same kind of problems as invalid policies.

import { ACTIONS } from '../calls/actions.ts'
import { CATEGORIES } from '../calls/tools.ts'
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
import { toJson } from '../document/fields.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { type Problem, Problems } from '../document/problem.ts'
import {
  findEntry,
  type LocatedList,
  type LocatedMap,
  type LocatedScalar,
  readDocument,
} from '../document/read-document.ts'
import { type FieldValues, parseDuration, parseTime, type Shape } from '../document/shape.ts'
import { CONTENT_METHODS, TOOL_CALL } from '../language/methods.ts'
import { compareDecimal, toDecimal } from '../values/decimal.ts'
import { ExactNumber, isObject, type JsonObject, type JsonValue } from '../values/json.ts'
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

export type Expectation = FieldValues<typeof EXPECTED>

export interface CaseFile {
  /** Paths as written, relative to the file. */
  readonly policy?: string
  readonly tools?: string
  readonly cases: readonly PolicyCase[]
}

const TEXT = text(KEY_LENGTH_MAX)
const field = <const Of extends Shape>(shape: Of, doc: string) => ({ shape, doc })

const EXPECTED = {
  action: field(word(ACTIONS), 'the verdict'),
  code: field(TEXT, '`ALLOWED`, `DENIED`, `RATE_LIMITED`, …'),
  rule: field(TEXT, 'JSON Pointer of the rule that decides'),
  reason: field(TEXT, 'what the agent receives'),
  guardrails: field(list(TEXT, 10_000), 'names of the guardrails that apply'),
  visible: field(BOOLEAN, 'whether a list shows it'),
}
const EXPECT: Shape = { kind: 'either', of: [word(ACTIONS), object('an expectation', EXPECTED)] }

const CASE = {
  name: field(TEXT, 'what it shows'),
  call: required(TEXT, '`<server>/<tool>`'),
  method: field(word([TOOL_CALL, ...CONTENT_METHODS.keys()]), '`tools/call` by default'),
  args: field({ kind: 'any' }, 'the arguments'),
  category: field(word(CATEGORIES), 'the class of this very call'),
  secret: field(BOOLEAN, 'the arguments hold a key or password'),
  card: field(BOOLEAN, 'the arguments hold the number of a card'),
  iban: field(BOOLEAN, 'the arguments hold an IBAN'),
  at: field(TEXT, 'when, as `2026-01-01T12:00:00Z`'),
  repeat: field(integer(1, 100_000), 'repeat the call this often; the last one is decided'),
  every: field(duration(31_536_000), 'time between repeated calls'),
  expect: required(EXPECT, 'an action, or what else must hold'),
}
const FACTS = factFields({ count: 1_000_000, list: 10_000 })

const FILE = object('a file of cases', {
  policy: field(text(4_096), 'the policy, relative to this file'),
  tools: field(text(4_096), 'known tools, relative to this file'),
  cases: required(
    someOf(object('a case', { ...CASE, ...FACTS }), 10_000),
    'calls and what is expected of them',
  ),
})

/** A case as it is written. */
type WrittenCase = FieldValues<typeof CASE> &
  Pick<SampleFacts, 'principal' | 'session' | 'agent' | 'prompt' | 'answers' | 'called'>

interface WrittenFile extends Omit<CaseFile, 'cases'> {
  readonly cases: readonly WrittenCase[]
}

export function readCases(source: { file: string; text: string }): {
  cases?: CaseFile
  problems: Problem[]
} {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree === undefined || !checkShape(tree, FILE, 'the file', problems))
    return { problems: problems.sorted() }
  // `checkShape` has found it to be one; a case has members whose types are not those of a shape.
  const { cases: written, ...file } = toJson(tree, toExactValue) as unknown as WrittenFile
  const { items } = findEntry(asMap(tree), 'cases') as LocatedList
  const cases = written.map((one, index) => readCase(one, index, asMap(items[index]), problems))
  if (problems.hasErrors) return { problems: problems.sorted() }
  return { cases: { ...file, cases }, problems: [] }
}

function readCase(
  { name, call, method = TOOL_CALL, args, at, repeat = 1, every, expect, ...rest }: WrittenCase,
  index: number,
  map: LocatedMap,
  problems: Problems,
): PolicyCase {
  const { category, secret, card, iban, ...facts } = rest
  const wrong = (code: string, key: string, message: string, help: string): void =>
    problems.error(code, findEntry(map, key)?.at ?? map.at, message, help)
  const wrongName = (key: string, written: string): void => {
    const message = `\`${written}\` is not a \`<server>/<tool>\``
    wrong('DOCUMENT_BAD_NAME', key, message, 'name the server before the `/`')
  }
  const parts = splitServerAndName(call)
  if (parts === undefined) wrongName('call', call)
  if (args !== undefined && args !== null && !isObject(args))
    wrong('DOCUMENT_WRONG_TYPE', 'args', '`args` is not a mapping', 'write `args: { name: value }`')
  const unnamed = findUnnamedCall(facts.called)
  if (unnamed !== undefined) wrongName('called', unnamed)
  const atMs = at === undefined ? 0 : parseTime(at)
  if (atMs === undefined)
    wrong('DOCUMENT_WRONG_TYPE', 'at', `\`${at}\` is not a time`, 'write `2026-01-01T12:00:00Z`')
  const expected = (typeof expect === 'string' ? { action: expect } : expect) as Expectation
  const nothing = '`expect` expects nothing: every verdict would pass'
  if (Object.keys(expected).length === 0)
    wrong('CASES_INVALID', 'expect', nothing, 'write an action, or what else must hold')
  return {
    name: name ?? `${call} (case ${index + 1})`,
    line: problems.position(map.at).line,
    server: parts?.server ?? '',
    tool: parts?.name ?? '',
    method,
    args: isObject(args) ? args : {},
    facts: {
      ...facts,
      ...(category && { callCategory: category }),
      ...(secret && { holdsSecret: true }),
      ...(card && { holdsCard: true }),
      ...(iban && { holdsIban: true }),
    },
    atMs: atMs ?? 0,
    repeat,
    everyMs: (parseDuration(every) ?? 0) * 1_000,
    expect: expected,
  }
}

/** The number if the double is exact, otherwise its text (`.inf` too). */
function toExactValue({ value, text }: LocatedScalar): JsonValue {
  if (typeof value !== 'number') return value
  const written = new ExactNumber(text)
  const decimal = toDecimal(written)
  const exact = toDecimal(value)
  if (decimal === undefined || exact === undefined)
    return Number.isSafeInteger(value) ? value : written
  return compareDecimal(decimal, exact) === 0 ? value : written
}
