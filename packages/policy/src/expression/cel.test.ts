// The CEL semantics the language relies on, checked through the engine: parsed, bound, evaluated.
// If the library is more lenient than this table, packages/policy/src/expression/cel.ts replaces
// it.

import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { sampleFacts } from '../cases/sample-facts.ts'
import { ExactNumber, type JsonObject, type JsonValue } from '../values/json.ts'
import { bindExpression } from './evaluate/bind-expression.ts'
import { readDeclaredArguments } from './evaluate/declared-types.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { parseExpression } from './expression.ts'

type Answer = 'true' | 'false' | 'undecidable' | 'refused'

/** The type of each argument precedes its name: `int n`, `number n`, `string s`, … */
function ask(text: string, args: JsonObject = {}, types: Record<string, JsonValue> = {}): Answer {
  const properties = Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, types[name] ?? schemaOf(value)]),
  )
  const declared = readDeclaredArguments({
    type: 'object',
    properties: { ...types, ...properties },
  })
  let program: ReturnType<typeof bindExpression>['program']
  try {
    program = bindExpression(parseExpression(text, new Set()), declared, {
      extraArgs: false,
    }).program
  } catch {
    return 'refused'
  }
  if (program === undefined) return 'refused'
  const call = { server: 's', method: 'tools/call', name: 't', args }
  const now = { wallMs: Date.parse('2026-11-15T10:00:00Z'), monotonicMs: 0 }
  const facts = sampleFacts(undefined, { principal: { groups: ['finance', 'ops'] } })
  const came = evaluate(program, { call, facts, now, category: 'Read', args, assumed: undefined })
  return came.is as Answer
}

function schemaOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return { type: 'array' }
  if (value instanceof ExactNumber || typeof value === 'number') return { type: 'number' }
  return value !== null && typeof value === 'object'
    ? { type: 'object', additionalProperties: true }
    : { type: value === null ? 'null' : typeof value }
}

const INT = { type: 'integer' }
const STRING = { type: 'string' }
const TEXTS = { type: 'array', items: STRING }
const big = (text: string) => new ExactNumber(text)

describe('logic accepts a failure on either side', () => {
  test.each([
    ['false && 1 / args.n == 1', 'false'],
    ['1 / args.n == 1 && false', 'false'],
    ['true || 1 / args.n == 1', 'true'],
    ['1 / args.n == 1 || true', 'true'],
    ['true && 1 / args.n == 1', 'undecidable'],
    ['1 / args.n == 1 || false', 'undecidable'],
    ['args.n == 0 ? true : 1 / args.n == 1', 'true'],
    ['args.n != 0 ? true : 1 / args.n == 1', 'undecidable'],
    ['1 / args.n == 1 ? true : true', 'undecidable'],
    ['!(1 / args.n == 1)', 'undecidable'],
    ['args.missing == 1 || args.n == 0', 'true'],
    ['args.n', 'refused'],
  ] as const)('%s is %s', (text, answer) => {
    expect(ask(text, { n: 0 }, { n: INT, missing: INT })).toBe(answer)
  })
})

describe('integers have 64 bits', () => {
  test.each([
    ['args.n + 1 > 0', big('9223372036854775807'), 'undecidable'],
    ['args.n - 1 < 0', big('-9223372036854775808'), 'undecidable'],
    ['args.n * 2 > 0', big('9223372036854775807'), 'undecidable'],
    ['args.n / 0 == 1', 1, 'undecidable'],
    ['args.n % 0 == 1', 1, 'undecidable'],
    ['args.n / 2 == 3', 7, 'true'],
    ['args.n / 2 == -3', -7, 'true'],
    ['args.n % 2 == -1', -7, 'true'],
    ['args.n == 9223372036854775807', big('9223372036854775807'), 'true'],
    ['args.n == -9223372036854775808', big('-9223372036854775808'), 'true'],
    ['args.n < 9223372036854775809', 1, 'refused'],
    ['args.n < 1u', 1, 'refused'],
    ['args.n == b"a"', 1, 'refused'],
    ['args.n > 0', big('9223372036854775808'), 'undecidable'],
    ['args.n > 0', 1.5, 'undecidable'],
  ] as const)('%s with %o is %s', (text, n, answer) => {
    expect(ask(text, { n }, { n: INT })).toBe(answer)
  })
})

describe('an int and a double compare by value', () => {
  test.each([
    ['args.n == args.d', big('9007199254740993'), 9007199254740992, 'false'],
    ['args.n > args.d', big('9007199254740993'), 9007199254740992, 'true'],
    ['args.n < args.d', big('9223372036854775807'), 2 ** 63, 'true'],
    ['args.n == args.d', big('9223372036854775807'), 2 ** 63, 'false'],
    ['args.n == args.d', 2, 2, 'true'],
    ['args.n != args.d', 2, 2, 'false'],
    ['args.d == 9007199254740993', 0, 9007199254740992, 'false'],
    ['args.d < 9007199254740993', 0, 9007199254740992, 'true'],
    ['args.d <= 100', 0, 99.5, 'true'],
    ['args.d in [1, 2]', 0, 2, 'true'],
    ['args.d * 2 == 3', 0, 1.5, 'true'],
    ['args.d / 0 > 1', 0, 1, 'true'],
    ['-args.d < -1', 0, 2, 'true'],
    ['args.d == "2"', 0, 2, 'refused'],
    ['args.d > 0', 0, big('0.1000000000000000055'), 'undecidable'],
  ] as const)('%s with %o and %o is %s', (text, n, d, answer) => {
    expect(ask(text, { n, d }, { n: INT })).toBe(answer)
  })
})

describe('texts, lists and maps', () => {
  test.each([
    ['args.s < "b"', { s: 'a' }, 'true'],
    ['args.s < "a"', { s: 'A' }, 'true'],
    ['args.s.size() == 1', { s: '😀' }, 'true'],
    ['size(args.s) == 2', { s: 'e\u0301' }, 'true'],
    ['args.s.size() == 1', { s: '\ud83d' }, 'true'],
    ['args.s.lowerAscii() == "k"', { s: 'K' }, 'true'],
    ['args.s.lowerAscii() == "k"', { s: '\u212a' }, 'false'],
    ['args.s.lowerAscii() == "aÉ"', { s: 'AÉ' }, 'true'],
    ['args.s.upperAscii() == "Aé"', { s: 'aé' }, 'true'],
    ['args.s.upperAscii() == "ABC"', { s: 'abc' }, 'true'],
    ['args.s.trim() == "a b"', { s: '\u0085\t a b\u3000 ' }, 'true'],
    ['args.s.trim() == "a"', { s: '\ufeffa' }, 'false'],
    ['args.s.trim() == ""', { s: ' \n' }, 'true'],
    ['"a" in args.l', { l: ['b', 'a'] }, 'true'],
    ['1 in args.l', { l: ['1'] }, 'false'],
    ['"a" in args.m', { m: { a: null } }, 'true'],
    ['"__proto__" in args.m', { m: { a: 1 } }, 'false'],
    ['"constructor" in args.m', { m: { a: 1 } }, 'false'],
    ['has(args.m.constructor)', { m: {} }, 'false'],
    ['args.m.constructor == 1', { m: {} }, 'undecidable'],
    ['args.l[1] == "a"', { l: ['b', 'a'] }, 'true'],
    ['args.l[2] == "a"', { l: ['b', 'a'] }, 'undecidable'],
    ['args.l.size() == 2 && args.m.size() == 1', { l: [1, 2], m: { a: 1 } }, 'true'],
    ['args.l == [1.0, 2.0]', { l: [1, 2] }, 'true'],
    ['args.l.exists(x, x == "a")', { l: [1, 'a'] }, 'true'],
    ['args.l.all(x, x > 1)', { l: ['a', 1] }, 'false'],
    ['args.l.all(x, x > 1)', { l: ['a', 2] }, 'undecidable'],
    ['args.l.exists(x, x > 1)', { l: ['a', 2] }, 'true'],
    ['args.l.exists(x, x > 1)', { l: ['a', 1] }, 'undecidable'],
    ['args.l.exists_one(x, x > 1)', { l: [1, 2] }, 'true'],
    ['args.l.exists_one(x, x > 1)', { l: ['a', 2] }, 'undecidable'],
    ['args.l.map(x, x * 2) == [2.0, 4.0]', { l: [1, 2] }, 'true'],
    ['args.l.filter(x, x > 1).size() == 1', { l: [1, 2] }, 'true'],
    ['args.l.all(x, false)', { l: [] }, 'true'],
    ['args.l.all(x, args.l.all(y, x == y))', { l: [] }, 'refused'],
    ['(args.l + args.l).exists(x, x == 2)', { l: [1, 2] }, 'true'],
    ['["a", "b"].exists(p, args.s.startsWith(p))', { s: 'bc' }, 'true'],
    ['principal.groups.exists(g, g == "ops")', {}, 'true'],
    ['has(args.s) && args.s == ""', { s: '' }, 'true'],
  ] as const)('%s with %o is %s', (text, args, answer) => {
    expect(ask(text, args as JsonObject)).toBe(answer)
  })
})

describe('matches finds, as RE2 does', () => {
  test.each([
    ['b', 'abc', 'true'],
    ['^b$', 'abc', 'false'],
    ['a.c', 'a\\nc', 'false'],
    ['(?s)a.c', 'a\\nc', 'true'],
    ['^b', 'a\\nb', 'false'],
    ['(?m)^b', 'a\\nb', 'true'],
    ['\\\\bé', 'é', 'false'],
    ['\\\\d', '٣', 'false'],
    ['(?i)k', '\u212a', 'true'],
    ['(?=a)', 'a', 'refused'],
    ['(a)\\\\1', 'aa', 'refused'],
    ['[', 'a', 'refused'],
  ] as const)('%s in %o is %s', (pattern, written, answer) => {
    const s = written.replace('\\n', '\n')
    expect(ask(`args.s.matches("${pattern}")`, { s })).toBe(answer)
  })

  test('a pattern is a literal', () => {
    expect(ask('args.s.matches(args.s)', { s: 'a' })).toBe('refused')
  })
})

describe('conversions accept plain spellings', () => {
  test.each([
    ['int(args.s) == 42', '42', 'true'],
    ['int(args.s) == -1', '-1', 'true'],
    ...['', ' 1', '1.0', '0x10', '+1', '1e3', '9'.repeat(19)].map(
      (s) => ['int(args.s) != 99', s, 'undecidable'] as const,
    ),
    ['double(args.s) == 1.5', '1.5', 'true'],
    ...['', 'NaN', 'Infinity', '1e9', ' 1', '.5'].map(
      (s) => ['double(args.s) != 99.0', s, 'undecidable'] as const,
    ),
    ['timestamp(args.s) < now', '2026-11-15T09:59:59.999Z', 'true'],
    ['timestamp(args.s) == now', '2026-11-15T11:00:00+01:00', 'true'],
    ['timestamp(args.s) == timestamp("2024-02-29T00:00:00Z")', '2024-02-29T00:00:00Z', 'true'],
    ...['2026-11-15', '2026-11-15T10:00:00', '2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z'].map(
      (s) => ['timestamp(args.s) < now', s, 'undecidable'] as const,
    ),
    ...['2026-06-31T00:00:00Z', '2026-01-01T24:00:00Z', '0000-01-01T00:00:00Z', 'Nov 15 2026'].map(
      (s) => ['timestamp(args.s) < now', s, 'undecidable'] as const,
    ),
    ['duration(args.s) == duration("90m")', '1.5h', 'true'],
    ['duration(args.s) < duration("-1s")', '-1.5s', 'true'],
    ['now - duration(args.s) == timestamp("2026-11-15T09:00:00Z")', '1h', 'true'],
    ['now - timestamp(args.s) > duration("1h")', '2026-11-15T08:00:00Z', 'true'],
    ...['', '1', 'x1s', '1 s', '1d', '1'.repeat(65_536)].map(
      (s) => ['duration(args.s) < duration("1s")', s, 'undecidable'] as const,
    ),
  ] as const)('%s with %j is %s', (text, s, answer) => {
    expect(ask(text, { s })).toBe(answer)
  })

  test.each([
    ['int(args.d) == 1', 1.9, 'true'],
    ['int(args.d) == -1', -1.9, 'true'],
    ['int(args.d) > 0', 2 ** 63, 'undecidable'],
    ['int(args.d) > 0', 1e300, 'undecidable'],
  ] as const)('%s with %d is %s', (text, d, answer) => {
    expect(ask(text, { d })).toBe(answer)
  })

  test("hours are UTC, regardless of the system's time zone", () => {
    const script = `const { parseCel } = await import('./packages/policy/src/expression/cel.ts')
      const { Environment } = await import('@marcbachmann/cel-js')
      parseCel('true')
      const hours = new Environment().evaluate('timestamp("2026-11-15T10:00:00Z").getHours()')
      process.stdout.write(String(hours))`
    const options = { env: { ...process.env, TZ: 'Pacific/Auckland' }, encoding: 'utf8' } as const
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)).toBe(
      '10',
    )
    expect(ask('now.getHours() == 10 && now.getDayOfWeek() == 0')).toBe('true')
  })
})

describe('every argument may be compared with null', () => {
  test.each([
    ['args.x == null', 'a', STRING, 'false'],
    ['null != args.x', 'a', STRING, 'true'],
    ['args.x == null', null, STRING, 'undecidable'],
    ['args.x == null', null, { type: ['string', 'null'] }, 'true'],
    ['args.x == null || args.x > 5', 6, INT, 'true'],
    ['args.x != null && args.x <= 5', 4.5, { type: 'number' }, 'true'],
    ['args.x.exists(y, y == null)', ['a'], TEXTS, 'false'],
  ] as const)('%s with %o is %s', (text, x, type, answer) => {
    expect(ask(text, { x } as JsonObject, { x: type as JsonValue })).toBe(answer)
  })
})

describe('the cost of an expression is bounded', () => {
  const texts = (count: number, text = 'a') => Array.from({ length: count }, () => text)
  const ones = Array.from({ length: 60 }, () => '1').join(' + ')
  test.each([
    [
      'a macro over a sum',
      '(args.a + args.b).all(x, args.s.contains(x))',
      { a: texts(300), b: texts(300), s: 'a'.repeat(300) },
    ],
    [
      'a macro over a sum that matches',
      '(args.a + args.b).all(x, x.matches("a"))',
      { a: texts(90, 'a'.repeat(90)), b: ['a'] },
    ],
    [
      'a macro over what is written',
      '["a", "a", "a"].all(x, args.s.contains(x))',
      { s: 'a'.repeat(30_000) },
    ],
    [
      'a macro below a list',
      'args.a[0].all(x, args.s.contains(x))',
      { a: [texts(300)], s: 'a'.repeat(300) },
    ],
    ['a long body', `args.a.all(x, ${ones} > 0)`, { a: texts(400) }],
    ['many lists', 'args.a == args.b', { a: texts(501), b: texts(501) }],
    ['a chain', 'args.s.lowerAscii().upperAscii().lowerAscii() == "a"', { s: 'a'.repeat(20_000) }],
    ['many paths', 'args.a.all(x, path(x).within("/srv"))', { a: texts(200, '/srv/ab') }],
    ['many URLs', 'args.a.all(x, !url(x).isPrivate())', { a: texts(200, 'https://a.example/') }],
    ['long SQL', 'sql(args.s).reads()', { s: `select '${'a'.repeat(4_000)}'` }],
    ['a long command line', 'shell(args.s).certain', { s: `echo ${'a'.repeat(16_400)}` }],
    ['a pattern without a table', 'args.s.matches("[ab]*a[ab]{14}c")', { s: 'ab'.repeat(300) }],
  ] as const)('%s', (_, text, args) => {
    const types = Object.fromEntries(['a', 'b'].map((name) => [name, { type: 'array' }]))
    expect(ask(text, args as unknown as JsonObject, types)).toBe('undecidable')
  })

  test('a literal list times a long body is refused when loaded', () => {
    const list = Array.from({ length: 90 }, (_, index) => index).join()
    expect(ask(`[${list}].all(x, ${ones} > x)`)).toBe('refused')
  })
})
