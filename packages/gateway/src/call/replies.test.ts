// What callers are told, and what they are not told in the gate's name.

import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { JsonObject } from '@sluice/policy/values/json'
import type { JsonRpcResponse } from '@sluice/protocol/message'
import { describe, expect, test } from 'vitest'
import { buildRefusalReply, stripGateMeta } from './replies.ts'

interface Asked {
  method: string
  name: string
  value?: JsonObject
}

const TOOL = { method: 'tools/call', name: 'x' }
const DENY: Decision = {
  action: 'deny',
  code: 'DENIED',
  rule: '/tools/x',
  reason: 'no',
  guardrails: [],
  limits: [],
  retryAfterMs: 0,
  approvals: [],
  shadow: [],
}

function reply(decision: Partial<Decision>, call: Asked = TOOL, tool?: KnownTool, explain = false) {
  const verdict = { decision: { ...DENY, ...decision }, callId: 'c', explain }
  const { method, name, value = {} } = call
  const params = { value, text: new Map() }
  const request = { kind: 'request', id: 1, method, params, source: '' } as const
  return JSON.parse(buildRefusalReply(request, verdict, { name, tool, generation: 'session' }).text)
}

describe('a refusal', () => {
  test('of a tool is a result', () => {
    expect(reply({}).result).toEqual({
      content: [{ type: 'text', text: 'denied by policy: no' }],
      isError: true,
      _meta: { 'sluice/decision': { decision: 'deny', code: 'DENIED', reason: 'no', callId: 'c' } },
      structuredContent: {
        sluice: { decision: 'deny', code: 'DENIED', reason: 'no', callId: 'c' },
      },
    })
  })

  test('names the rule and what is left only to whom it is to be explained', () => {
    const limited = { code: 'RATE_LIMITED', remaining: '0' } as const
    const plain = reply(limited).result._meta['sluice/decision']
    expect(plain).not.toHaveProperty('rule')
    expect(plain).not.toHaveProperty('remaining')
    const explained = reply(limited, TOOL, undefined, true).result._meta['sluice/decision']
    expect(explained).toMatchObject({ rule: '/tools/x', remaining: '0' })
  })

  test('has no structured content where the tool says what that looks like', () => {
    const definition = { server: 's', name: 'x', outputSchema: {} }
    const tool: KnownTool = { definition, category: 'Read', risk: 'low' }
    expect(reply({}, TOOL, tool).result).not.toHaveProperty('structuredContent')
  })

  test.each([
    [1_500.2, { retryAfterMs: 1_501 }],
    [0, {}],
    [Number.POSITIVE_INFINITY, {}],
  ])('says when to come back, if ever: %d', (retryAfterMs, expected) => {
    const { retryAfterMs: shown } = reply({ code: 'RATE_LIMITED', retryAfterMs }).result._meta[
      'sluice/decision'
    ]
    expect(shown === undefined ? {} : { retryAfterMs: shown }).toEqual(expected)
  })

  test('of a call that asks for a task is an error', () => {
    const { error } = reply({}, { ...TOOL, value: { task: {} } })
    expect(error).toMatchObject({ code: -31001, message: 'denied by policy: no' })
  })

  test('of another method is an error', () => {
    const { error } = reply({}, { method: 'resources/read', name: 'mem://a' })
    expect(error).toMatchObject({ code: -31001, message: 'denied by policy: no' })
    expect(error.data['sluice/decision'].code).toBe('DENIED')
  })

  test.each([
    ['tools/call', -32602, 'Unknown tool: x'],
    ['prompts/get', -32602, 'Unknown prompt: x'],
    ['resources/read', -32002, 'Resource not found: x'],
  ])('of a hidden name says nothing of a policy: %s', (method, code, message) => {
    const { error } = reply({ action: 'hide' }, { method, name: 'x' })
    expect(error).toEqual({ code, message })
  })
})

describe('a server that speaks in our name', () => {
  const clean = (result: string) => stripGateMeta(answerOf({ result })).result

  test.each([
    ['{"_meta":{"sluice/decision":1}}', '{"_meta":{}}'],
    ['{"_meta":{"a": 1.50,"slu\\u0069ce/x":1},"n":1e2}', '{"_meta":{"a":1.50},"n":1e2}'],
    ['{"_meta":{"Sluice":1,"ſluice/x":1}}', '{"_meta":{}}'],
    ['{"_m\\u0065ta":{"sluice":1}}', '{"_meta":{}}'],
    ['{"structuredContent":{"sluice":{},"b":[]}}', '{"structuredContent":{"b":[]}}'],
  ])('%s', (result, expected) => expect(clean(result)).toBe(expected))

  test.each([
    '{ "_meta" : {"sluices/x":1, "x/sluice":2} }',
    '{"content":[{"text":"sluice/decision"}]}',
    '[{"_meta":{"sluice":1}}]',
    'null',
  ])('%s stays as it is', (result) => expect(clean(result)).toBe(result))

  test('in the data of an error', () => {
    const error = { code: 1, message: 'm', data: { 'sluice/decision': 1, kept: [2] } }
    const { error: left } = stripGateMeta(answerOf({ error }))
    expect(left).toEqual({ code: 1, message: 'm', data: { kept: [2] } })
    const plain = answerOf({ error: { code: 1, message: 'm', data: 'sluice' } })
    expect(stripGateMeta(plain)).toBe(plain)
  })
})

function answerOf(parts: Partial<JsonRpcResponse>): JsonRpcResponse {
  return { kind: 'answer', id: 1, result: undefined, error: undefined, source: '', ...parts }
}
