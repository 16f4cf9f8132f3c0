// The built-in guardrail: whatever the document allows, arguments with the exact path of one of the gate's files
// are denied.

import { describe, expect, test } from 'vitest'
import { sampleFacts } from '../cases/sample-facts.ts'
import { compile } from '../compile/compile.ts'
import type { JsonValue } from '../values/json.ts'
import { decide, isVisible } from './decide.ts'
import type { TraceStep } from './trace.ts'

const OWN = ['/etc/sluice', '/srv/josé/.sluice']

const NAMED: readonly [how: string, text: string][] = [
  ['as it is', '/etc/sluice/policy.yaml'],
  ['the folder itself', '/etc/sluice'],
  ['within a command', 'cat /etc/sluice/policy.yaml | sh'],
  ['in a URL', 'file:///etc/sluice/policy.yaml'],
  ['beyond ASCII', 'file:///srv/josé/.sluice/data.db'],
  ['in a long text', `${'x'.repeat(5_000_000)} /etc/sluice`],
]

const OTHERS: readonly string[] = ['', 'x', '/', '/etc', '/etc/slui', 'sluice/etc', 'etc/sluice']

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

  test('nesting beyond any walk is a fault, and a fault is a denial', () => {
    let deep: JsonValue = '/etc/sluice'
    for (let n = 0; n < 100_000; n++) deep = [deep]
    expect(ask({ deep }).decision).toMatchObject({ action: 'deny', code: 'POLICY_FAULT' })
  })
})
