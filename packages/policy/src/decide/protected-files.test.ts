// The built-in guardrail: whatever the document allows, arguments that name the gate's files are
// denied, in every spelling that a server might decode.

import { describe, expect, test } from 'vitest'
import { sampleFacts } from '../cases/sample-facts.ts'
import { compile } from '../compile/compile.ts'
import type { JsonValue } from '../core/json.ts'
import { COMBINING_RUN_MAX, DECODED_CHARS_MAX, NORMALIZED_CHARS_MAX } from '../language/limits.ts'
import { decide, isVisible } from './decide.ts'
import { mentionsProtectedFile } from './protected-files.ts'
import type { TraceStep } from './trace.ts'

const OWN = ['/etc/sluice', '/srv/josé/.sluice']

const NAMED: readonly [how: string, text: string][] = [
  ['as it is', '/etc/sluice/policy.yaml'],
  ['the folder itself', '/etc/sluice'],
  ['within a command', 'cat /etc/sluice/policy.yaml | sh'],
  ['in a URL', 'file:///etc/sluice/policy.yaml'],
  ['percent-encoded', '/etc%2fsluice/policy.yaml'],
  ['encoded twice', '/etc%252Fsluice'],
  ['encoded three times', '/%25252565tc/sluice'],
  ['encoded letters', '/%65%74%63/sluice'],
  ['encoded beyond ASCII', 'file:///srv/jos%C3%A9/.sluice/data.db'],
  ['encoded beside bytes that are no UTF-8', '/%ff/..%2fetc%2f%2e/sluice'],
  ['with backslashes', '\\etc\\sluice\\policy.yaml'],
  ['with doubled slashes', '/etc//sluice'],
  ['with a dot', '/etc/./sluice'],
  ['with a climb', '/etc/x/../sluice'],
  ['with a climb above the root', '/../etc/./sluice/policy.yaml'],
  ['with climbs above the root', '/x/../../../etc//sluice'],
  ['with a climb above the root in a command', 'cat /../etc//sluice'],
  ['with a relative climb', '../../../../../etc/./sluice'],
  ['with a relative dot', './../etc/./sluice'],
]

const OTHERS: readonly string[] = [
  '',
  'x',
  '/',
  '/etc',
  '/etc/slui',
  '/etc/../sluice',
  '/etc/nginx/./nginx.conf',
  '100% of // what %zz is',
  'sluice/etc',
  'etc/sluice',
  '../sluice',
  '/etc/x/sluice',
  '/x/etc/../../a/../sluice',
  '/petc/./sluice',
]

const { policy } = compile({ file: 'p', text: '{ version: 1, default: allow }' })
const tool = {
  definition: { server: 's', name: 't' },
  category: 'Write',
  risk: 'medium',
} as const

function ask(args: JsonValue, text?: string, ownPaths: readonly string[] = OWN) {
  const document = text === undefined ? policy : compile({ file: 'p', text }).policy
  if (document === undefined) throw new Error('the document has errors')
  const call = { server: 's', name: 't', method: 'tools/call', args: args as object }
  const facts = { ...sampleFacts(tool), ownPaths }
  const now = { wallMs: 0, monotonicMs: 0 }
  const usage = { look: (take: { max: { units: bigint; scale: number } }) => room(take.max) }
  const trace: TraceStep[] = []
  const decision = decide(document, call as never, facts, usage, now, trace)
  return { decision, trace, shown: isVisible(document, call, facts, now) }
}

function room(remaining: { units: bigint; scale: number }) {
  return { passes: true, remaining, retryAfterMs: 0 }
}

describe("the gate's own files", () => {
  test.each(NAMED)('self-rewrite: named %s, it is denied: %s', (_how, text) => {
    const { decision } = ask({ path: text })
    expect(decision).toMatchObject({ action: 'deny', code: 'DENIED', rule: 'built-in' })
    expect(decision.guardrails.map(({ name }) => name)).toEqual(["the gate's own files"])
  })

  test.each([
    ['in a list', ['x', ['/etc/sluice']]],
    ['deep in an object', { a: { b: [{ c: '/etc/sluice/x' }] } }],
    ['as the name of an argument', { '/etc/sluice': 1 }],
  ] as const)('%s', (_where, value) => {
    expect(ask({ value: value as JsonValue }).decision.rule).toBe('built-in')
  })

  test.each(OTHERS)('similar names pass: `%s`', (path) => {
    expect(ask({ path, other: [1, true, null] }).decision.action).toBe('allow')
  })

  test('nothing is searched if the gate names no files', () => {
    expect(ask({ path: '/etc/sluice' }, undefined, []).decision.action).toBe('allow')
  })

  test('it applies over a document in shadow', () => {
    const { decision } = ask({ p: '/etc/sluice' }, '{ version: 1, default: allow, mode: shadow }')
    expect(decision).toMatchObject({ action: 'deny', rule: 'built-in' })
    expect(decision.shadow).toMatchObject([{ action: 'allow', rule: '/default' }])
  })

  test('a stronger action stays, and the match is reported', () => {
    const { decision, trace, shown } = ask({ p: '/etc/sluice' }, '{ version: 1, default: hide }')
    expect(decision).toMatchObject({ action: 'hide', rule: '/default' })
    expect(decision.guardrails).toHaveLength(1)
    expect(trace.map(({ step }) => step)).toEqual(['category', 'default', 'guardrail', 'decision'])
    expect(shown).toBe(false)
  })

  test('a tool is listed although some arguments would name them', () => {
    expect(ask({ p: '/etc/sluice' }).shown).toBe(true)
  })

  test('F2: a lone percent escape costs no exception, and text too long to decode is denied', () => {
    const atLimit = '%ff '.repeat(DECODED_CHARS_MAX / 4)
    expect(ask({ atLimit }).decision.action).toBe('allow')
    expect(ask({ atLimit, more: '%ff' }).decision.rule).toBe('built-in')
    expect(ask({ atLimit, more: '%ff' }, undefined, []).decision.action).toBe('allow')
    // Text without escapes is not decoded, so its length does not matter.
    expect(ask({ plain: 'a//b 100% '.repeat(300_000) }).decision.action).toBe('allow')
  })

  test('F9: more text than is searched is denied, unless it is a file in base64', () => {
    const file = 'QUJD'.repeat(2_600_000)
    expect(ask({ file }).decision.action).toBe('allow')
    expect(ask({ file: `${file}/etc/sluice` }).decision.rule).toBe('built-in')
    expect(ask({ text: `${file} ` }).decision.rule).toBe('built-in')
    expect(ask({ text: `${file} ` }, undefined, []).decision.action).toBe('allow')
  })

  test("an exhausted budget for positions of the last name counts as the gate's", () => {
    expect(ask({ text: '/sluice'.repeat(60_000) }).decision.action).toBe('allow')
    expect(ask({ text: '/sluice'.repeat(140_000) }).decision.rule).toBe('built-in')
    const climbs = `${'/a'.repeat(3_000)}${'/..'.repeat(3_000)}`
    expect(ask({ text: `${climbs}/sluice`.repeat(20) }).decision.action).toBe('allow')
    expect(ask({ text: `${climbs}${'/../sluice'.repeat(3_000)}` }).decision.rule).toBe('built-in')
  })

  test('nesting beyond any walk is a fault, and a fault is a denial', () => {
    let deep: JsonValue = '/etc/sluice'
    for (let n = 0; n < 100_000; n++) deep = [deep]
    expect(ask({ deep }).decision).toMatchObject({ action: 'deny', code: 'POLICY_FAULT' })
  })
})

test('F4: names of parameters are not looked up on disk, everything else is', () => {
  const seen: string[] = []
  const realPath = (path: string) => {
    seen.push(path)
    return path.endsWith('/link') ? '/etc/sluice/policy.yaml' : undefined
  }
  const place = { bases: ['/desk'], startLookups: () => realPath }
  const isNamed = (args: JsonValue) => mentionsProtectedFile(args, OWN, place)
  expect(isNamed({ link: 'x' })).toBe(false)
  expect(seen).toEqual(['/desk/x'])
  for (const args of [
    { x: 'link' },
    { x: { link: '' } },
    ['link'],
    'file:///desk/link',
    'FILE:link',
  ])
    expect(isNamed(args)).toBe(true)
})

test.each([
  ['too long', `Straße ${'x'.repeat(NORMALIZED_CHARS_MAX)}`],
  ['combining marks', `a${'\u0301'.repeat(COMBINING_RUN_MAX + 1)}`],
])('finding: a text that cannot be checked is not said to name a file: %s', (why, text) => {
  expect(ask({ text }).decision).toMatchObject({
    action: 'deny',
    reason: expect.stringContaining(why),
  })
  expect(ask({ text: OWN[0] as string }).decision.reason).toContain('names the gate')
})

test('a path that is encoded more often than a server decodes is found as well', () => {
  let text = '/srv/gate/sluice.yaml'
  for (let round = 0; round < 12; round += 1) text = encodeURIComponent(text)
  expect(mentionsProtectedFile({ path: text }, ['/srv/gate/sluice.yaml'])).toBe(true)
  expect(mentionsProtectedFile({ path: text }, ['/srv/other/sluice.yaml'])).toBe(false)
})
