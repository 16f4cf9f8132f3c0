// Expressions: what is accepted, their results on a call, and every way in which one cannot be
// decided, with its reason.

import { describe, expect, test } from 'vitest'
import { WALK_ENTRIES_MAX, WALK_LENGTH_MAX } from '../language/limits.ts'
import { ExactNumber, type JsonObject, type JsonValue } from '../values/json.ts'
import { bindExpression } from './evaluate/bind-expression.ts'
import { readDeclaredArguments } from './evaluate/declared-types.ts'
import { type EvaluationContext, evaluate } from './evaluate/evaluate.ts'
import { parseExpression } from './expression.ts'
import { patternSteps } from './pattern-steps.ts'

const SCHEMA: JsonValue = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    price: { type: 'number' },
    text: { type: 'string' },
    path: { type: 'string' },
    flag: { type: 'boolean' },
    counts: { type: 'array', items: { type: 'integer' } },
    prices: { type: 'array', items: { type: 'number' } },
    words: { type: 'array', items: { type: 'string' } },
    rows: {
      type: 'array',
      items: { type: 'object', properties: { quantity: { type: 'integer' } } },
    },
    nested: { type: 'object', properties: { deep: { type: 'string' } } },
    'x-y': { type: 'string' },
    any: {},
  },
}
const LABELS = new Set(['private', 'untrusted'])

function comesTo(text: string, args: JsonObject = {}, facts: object = {}): string {
  const { program, problem } = bindExpression(
    parseExpression(text, LABELS),
    readDeclaredArguments(SCHEMA),
    {
      extraArgs: false,
    },
  )
  if (program === undefined) return `does not fit: ${problem?.message}`
  const truth = evaluate(program, situation(args, facts))
  return truth.is === 'undecidable' ? truth.why : truth.is
}

function situation(args: JsonObject, facts: object): EvaluationContext {
  return {
    args,
    assumed: undefined,
    call: { server: 'server', method: 'tools/call', name: 'tool', args },
    now: { wallMs: Date.UTC(2026, 0, 5, 12), monotonicMs: 0 },
    category: 'Write',
    facts: {
      transport: 'stdio',
      tool: { definition: { server: 'server', name: 'tool' }, category: 'Write', risk: 'medium' },
      principal: {
        id: 'ada',
        kind: 'user',
        groups: ['finance'],
        claims: { level: 3, team: { name: 'a' } },
      },
      agent: null,
      holdsSecret: () => false,
      session: { id: 's1', startedAtMs: Date.UTC(2026, 0, 5, 11), calls: 7, saw: ['private'] },
      ...facts,
    },
  }
}

const agent = { id: 'a1', owner: 'ada', template: 'coder', depth: 2, turn: 4 }

describe('what an expression reads', () => {
  test.each([
    'call.category == "Write"',
    'call.secret == false',
    'tool.name == "tool" && tool.category == "Write" && tool.risk == "medium"',
    'server.name == "server" && server.transport == "stdio"',
    'principal.id == "ada" && principal.kind == "user" && "finance" in principal.groups',
    'principal.claims.level == 3 && has(principal.claims.team.name) && !has(principal.claims.other)',
    'agent == null',
    'session.id == "s1" && session.calls == 7 && session.saw.private && !session.saw.untrusted',
    'now - session.startedAt == duration("1h") && now.getFullYear() == 2026 && now.getDayOfWeek() == 1',
  ])('%s', (text) => expect(comesTo(text)).toBe('true'))

  test('a key in the arguments; if unknown, it cannot be decided', () => {
    expect(comesTo('call.secret', {}, { holdsSecret: () => true })).toBe('true')
    expect(comesTo('call.card', {}, { holds: (kind: string) => kind === 'card' })).toBe('true')
    expect(comesTo('call.iban', {}, { holds: (kind: string) => kind === 'card' })).toBe('false')
    expect(comesTo('call.iban', {}, {})).not.toBe('false')
    expect(comesTo('call.secret', {}, { holdsSecret: undefined as never })).not.toBe('false')
  })

  test('the agent, if one makes the call', () => {
    expect(
      comesTo(
        'agent != null && agent.depth < 3 && agent.turn == 4 && agent.owner == "ada"',
        {},
        { agent },
      ),
    ).toBe('true')
  })

  test('arguments while there are none yet: either result', () => {
    const { program } = bindExpression(
      parseExpression('args.count > 1', LABELS),
      readDeclaredArguments(SCHEMA),
      { extraArgs: false },
    )
    expect(evaluate(program!, { ...situation({}, {}), args: undefined }).is).toBe('either')
  })
})

describe('numbers', () => {
  test.each([
    ['args.count == 5', { count: 5 }],
    ['args.count + 1 > 5 && args.count % 2 == 1', { count: 5 }],
    ['args.price == 5', { price: 5 }],
    ['args.price > -5 && 10 >= args.price', { price: 5 }],
    ['args.price * 2 + 1 == 12', { price: 5.5 }],
    ['args.price in [1, 5]', { price: 5 }],
    ['5 in args.prices', { prices: [1, 5] }],
    ['5 in args.counts', { counts: [1, 5] }],
    ['args.prices.all(x, x >= 1)', { prices: [1, 5] }],
    ['args.counts[0] == 1 && args.prices[1] == 5', { counts: [1], prices: [1, 5] }],
    ['args.rows.all(row, row.quantity == 5)', { rows: [{ quantity: 5 }] }],
    ['args.rows[0].quantity == 5', { rows: [{ quantity: 5 }] }],
    ['args.any == 5', { any: 5 }],
    ['(args.price > 3 ? 1 : args.price) == 1', { price: 5 }],
    [
      'int(args.price) == 5 && double(args.count) == 5 && int("12") == 12 && double("1.5") == 1.5',
      { price: 5.9, count: 5 },
    ],
    ['args.count == 9007199254740993', { count: new ExactNumber('9007199254740993') }],
  ] as [string, JsonObject][])('a literal is read as what stands beside it: %s', (text, args) => {
    expect(comesTo(text, args)).toBe('true')
  })
})

describe('functions', () => {
  test.each([
    ['path(args.path).within("/srv/data")', { path: '/srv/data/a' }, 'true'],
    ['path(args.path).within("/srv/data")', { path: '/srv/database' }, 'false'],
    [
      'url(args.text).host == "example.com" && url(args.text).scheme == "https"',
      { text: 'https://example.com/x' },
      'true',
    ],
    ['url(args.text).isPrivate()', { text: 'http://127.0.0.1/' }, 'true'],
    ['email(args.text).domain == "example.com"', { text: 'a@example.com' }, 'true'],
    ['sql(args.text).reads()', { text: 'select 1' }, 'true'],
    ['sql(args.text).reads()', { text: 'drop table x' }, 'false'],
    ['shell(args.text).reads()', { text: 'rg TODO src | head' }, 'true'],
    ['shell(args.text).reads()', { text: 'eval "$x"' }, 'false'],
    ['shell(args.text).local()', { text: 'grep TODO a | head' }, 'true'],
    ['shell(args.text).local()', { text: 'gh pr list' }, 'false'],
    ['shell(args.text).certain', { text: 'rm -rf build' }, 'true'],
    ['shell(args.text).certain', { text: 'eval "$x"' }, 'false'],
    ['"rm" in shell(args.text).commands', { text: 'ls; sudo rm x' }, 'true'],
    ...['"rm" in shell(args.text).commands', '!("rm" in shell(args.text).commands)'].map((text) => [
      text,
      { text: 'ls; $rm x' },
      'what a command line does, because of a command name that is computed: `ls; $rm x`',
    ]),
    [
      'shell(args.text).lines.exists(line, line.matches("^git push( |$)"))',
      { text: 'git -C /x push -f' },
      'true',
    ],
    [
      'shell(args.text).writes.all(file, path(file).within("/tmp"))',
      { text: 'date > /tmp/../etc/x' },
      'false',
    ],
    [
      'shell(args.text).writes.all(file, path(file).within("/tmp"))',
      { text: 'date > "$x"' },
      'a path that starts at a home directory or a variable: `$x`',
    ],
    ['shell(args.text).paths == ["b", "~/.ssh/id"]', { text: 'cat "$HOME"/.ssh/id <b' }, 'true'],
    ['args.text.isSecretFile()', { text: '/srv/.env' }, 'true'],
    ['shell(args.text).paths.exists(f, f.isSecretFile())', { text: 'cat src/a' }, 'false'],
    ['shell(args.text).variables == ["A=1"]', { text: 'A=1 make' }, 'true'],
    ['shell(args.text).hosts == ["a.example"]', { text: 'curl https://A.example:1/x' }, 'true'],
    [
      'shell(args.text).hosts == []',
      { text: 'curl "$url"' },
      'what a command line does, because of a host that is computed: `curl "$url"`',
    ],
    ['args.text.matches("^[a-z]+$")', { text: 'abc' }, 'true'],
    [
      'args.text.startsWith("a") && args.text.endsWith("c") && args.text.contains("b")',
      { text: 'abc' },
      'true',
    ],
    ['args.text.lowerAscii() == "aÉ" && args.text.upperAscii() == "AÉ"', { text: 'AÉ' }, 'true'],
    [
      'args.text.trim() == "a" && size(args.text) == 3 && args.text.size() == 3',
      { text: ' a ' },
      'true',
    ],
    ['string(args.count) == "5"', { count: 5 }, 'true'],
    ['timestamp(args.text) < now', { text: '2025-12-31T23:59:59Z' }, 'true'],
    [
      'args.words.exists(x, x == "a") && args.words.exists_one(x, x == "a")',
      { words: ['a', 'b'] },
      'true',
    ],
    ['args.words.filter(x, x != "a").size() == 1', { words: ['a', 'b'] }, 'true'],
    ['args.counts.map(x, x + 1) == [2, 3]', { counts: [1, 2] }, 'true'],
  ] as [string, JsonObject, string][])('%s of %j is %s', (text, args, truth) => {
    expect(comesTo(text, args)).toBe(truth)
  })

  test.each([
    ['has(args.text)', { text: '' }, 'true'],
    ['has(args.text)', {}, 'false'],
    ['has(args["x-y"])', { 'x-y': 'a' }, 'true'],
    ['has(args.nested.deep)', { nested: {} }, 'false'],
    ['has(args.text) && args.text == "a"', {}, 'false'],
    ['args.rows.all(row, has(row.quantity))', { rows: [{ quantity: 1 }, {}] }, 'false'],
  ] as [string, JsonObject, string][])('%s of %j is %s', (text, args, truth) => {
    expect(comesTo(text, args)).toBe(truth)
  })

  test.each([
    'has(args)',
    'has(args.rows[0].quantity)',
    'has(args.words[0])',
    'has(principal.id)',
    'has(principal.claims)',
    'has(agent.id)',
    'has(size(args.text))',
  ])('%s is refused: it would ask for something else', (text) =>
    expect(() => parseExpression(text, LABELS)).toThrow(/has/),
  )
})

describe('what cannot be decided has a reason', () => {
  test.each([
    ['args.count > 1', {}, '`args.count` is not there'],
    ['args.nested.deep == "a"', {}, '`args.nested.deep` is not there'],
    ['has(args.nested.deep)', {}, '`args.nested.deep` is not there'],
    ['args.count > 1', { count: '5' }, '`args.count` is a string, which the tool does not declare'],
    ['args.text == "a"', { text: 5 }, '`args.text` is a number, which the tool does not declare'],
    ['args.text == "a"', { text: null }, '`args.text` is null, which the tool does not declare'],
    ['args.text == "a"', { text: ['a'] }, '`args.text` is a list, which the tool does not declare'],
    [
      'args.text == "a"',
      { text: { a: 1 } },
      '`args.text` is an object, which the tool does not declare',
    ],
    [
      'args.text == "a"',
      { text: true },
      '`args.text` is a boolean, which the tool does not declare',
    ],
    ['args.nested.deep == "a"', { nested: 'a' }, '`args.nested` is not an object'],
    [
      'args.words.all(x, x != "")',
      { words: ['a', 5] },
      expect.stringMatching(/^`args.words(\[\])?` is a number, which the tool does not declare$/),
    ],
    ['args.count > 1', { count: 1.5 }, '`args.count` is not a 64-bit integer'],
    [
      'args.count > 1',
      { count: new ExactNumber('9223372036854775808') },
      '`args.count` is not a 64-bit integer',
    ],
    [
      'args.price > 1',
      { price: new ExactNumber('0.1000000000000000055') },
      '`args.price` is a number that no double represents exactly',
    ],
    ['args.count > 1', { count: 5, other: 1 }, 'the tool declares no argument `other`'],
    [
      'args.words.all(x, x != "")',
      { words: Array(WALK_ENTRIES_MAX + 1).fill('a') },
      'it would walk 1001 entries, the limit is 1000',
    ],
    [
      'args.text != "a"',
      { text: 'a'.repeat(WALK_LENGTH_MAX + 1) },
      'it would walk 65537 characters, the limit is 65536',
    ],
    [
      'args.text.matches("a")',
      { text: 'a'.repeat(8_193) },
      'it would walk 65544 characters, the limit is 65536',
    ],
    [
      'args.text != "a" && args.text != "b"',
      { text: 'a'.repeat(40_000) },
      'it would walk 80000 characters, the limit is 65536',
    ],
    [
      'args.words.all(x, args.text != x)',
      { words: Array(10).fill('a'), text: 'a'.repeat(7_000) },
      'it would walk 70020 characters, the limit is 65536',
    ],
    ['principal.claims.other == "a"', {}, '`principal.claims.other` is not there'],
    ['agent.depth < 3', {}, expect.stringMatching(/^`agent(\.depth)?` is/)],
    ['args.count / 0 > 1', { count: 5 }, expect.stringMatching(/division by zero/i)],
    ['args.any', { any: 5 }, expect.stringMatching(/./)],
  ] as [string, JsonObject, string][])('%s', (text, args, why) => {
    expect(comesTo(text, args)).toEqual(why)
  })

  test('a failure on one side yields to what the other side decides', () => {
    expect(comesTo('args.count / 0 > 1 || true', { count: 5 })).toBe('true')
    expect(comesTo('false && args.count / 0 > 1', { count: 5 })).toBe('false')
  })

  test('but exceeding a bound does not', () => {
    expect(comesTo('true || args.text == "a"', { text: 'a'.repeat(WALK_LENGTH_MAX + 1) })).toMatch(
      /65537/,
    )
  })
})

describe('patterns are walked in bounded time', () => {
  const evil = [
    '(a+)+$',
    '(a|aa)+$',
    '(a*)*b',
    '(.*)(.*)(.*)(.*)(.*)x',
    '([a-z]+){1,30}!',
    '(a?){90}a{90}',
  ]
  test.each(evil)('%s', (pattern) => {
    // A matcher that backtracks would not come back.
    const value = comesTo(`args.text.matches("${pattern}")`, { text: 'a'.repeat(8_000) })
    expect(value).toMatch(/^(?:true$|false$|it would walk \d+ characters)/)
  })

  test.each([
    ['abc', 3],
    ['^\\d{4}-\\d{2}$', 9],
    ['[a-z{9}]{3}', 3],
    ['(ab){10}', 30],
    ['((a{10}){10}){10}', 1_110],
    ['a{1000}', 1_000],
    ['a{2,}', 2],
    ['\\(a\\)', 3],
  ])('%s has %i steps', (pattern, steps) => expect(patternSteps(pattern)).toBe(steps))

  test('a pattern whose repetitions multiply is refused', () => {
    expect(() => parseExpression('args.text.matches("((a{0,30}){0,30}){0,9}")', LABELS)).toThrow(
      /steps/,
    )
  })
})
