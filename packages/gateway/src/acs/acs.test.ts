// The pure parts of the Agent Control Standard: signatures and chains against the standard's own test vectors, forms
// that published adapters send, and what is refused.

import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toRequestText, writeChainEntry } from './chain.ts'
import { type AcsRequest, readEnvelope, toSignedText } from './envelope.ts'
import { readStep } from './read-step.ts'
import { decideCall, decideResult } from './write-decision.ts'

const SESSION = '5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b30'
const REQUEST = '8d0b6b0e-4d6b-4f7a-9d1c-1f1c7f0e2a10'

function envelope(
  payload: object,
  { method = 'steps/toolCallRequest', ...more }: object & { method?: string } = {},
) {
  return {
    jsonrpc: '2.0',
    method,
    id: REQUEST,
    params: {
      acs_version: '0.1.0',
      request_id: REQUEST,
      timestamp: '2026-09-19T10:00:00Z',
      metadata: { agent_id: 'agent', session_id: SESSION },
      payload,
      ...more,
    },
  }
}
// biome-ignore lint/suspicious/noExplicitAny: what arrives
const read = (value: any) => readEnvelope(value) as AcsRequest
const step = (payload: object, method: string) => readStep(read(envelope(payload, { method })))

const BASH = {
  tool: { name: 'Bash' },
  arguments: { command: { value: 'echo rm -rf /' } },
  raw_command: 'echo rm -rf /',
}

describe('the test vectors of the standard', () => {
  const key = Buffer.from(
    hkdfSync('sha256', Buffer.from(Array.from({ length: 32 }, (_, at) => at)), '', SESSION, 32),
  )
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64')

  test('the key of a session, the signature of a request, that of a response', () => {
    expect(key.toString('hex')).toBe(
      '4e86230ba407bc623132e84189722dc2b4ab73f217ff67e0492c82fdf0d66309',
    )
    const signature = { algorithm: 'HMAC-SHA256', value: 'any', key_id: 'k1' }
    const request = read(envelope(BASH, { signature } as object))
    expect(sign(request.signed)).toBe('yJ3BXf/Hfc3jSnSMgOoNVGQ+5LKBKakvctDwE52lrM0=')
    const response = {
      jsonrpc: '2.0',
      id: REQUEST,
      result: {
        type: 'final',
        acs_version: '0.1.0',
        request_id: REQUEST,
        decision: 'deny',
        reasoning: 'blocked',
        reason_codes: ['destructive_shell_command_blocked'],
        chain_hash: '14e6d50a913e8295606bc0d86ee9cde870040e0e0a319b13ae15836128d0d111',
      },
    }
    expect(sign(toSignedText(response))).toBe('Shh4i+RWlfCNfAoFlE7gp5QUoyCI8jz3HMKHzH/2gG0=')
  })

  test('what the chain commits a request by, and its entry', () => {
    const request = read(envelope(BASH))
    const requestHash = createHash('sha256').update(toRequestText(request)).digest('hex')
    expect(requestHash).toBe('1f73e15e340da6bc294e18e38557aef0241921fd3985c94266e1b7416c743058')
    expect(JSON.parse(writeChainEntry(request, requestHash))).toEqual({
      entry_id: REQUEST,
      step_id: REQUEST,
      step_type: 'steps/toolCallRequest',
      request_hash: requestHash,
      timestamp: '2026-09-19T10:00:00Z',
    })
  })

  test('canonical JSON as RFC 8785 shows it', () => {
    const numbers = [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0]
    const value = { numbers, string: '€$\u000f\nA\'B"\\\\"/', literals: [null, true, false] }
    expect(toSignedText(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
    const names = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 }
    expect(Object.values(JSON.parse(toSignedText(names)))).toHaveLength(7)
    expect([...toSignedText(names).matchAll(/:(\d)/g)].map(([, at]) => at).join('')).toBe('2467153')
  })
})

describe('steps', () => {
  test('a call, with arguments unwrapped; its id is its own, or that of the request', () => {
    expect(step(BASH, 'steps/toolCallRequest')).toEqual({
      kind: 'call',
      id: REQUEST,
      call: { tool: 'Bash', args: { command: 'echo rm -rf /' } },
    })
    expect(step({ ...BASH, execution_id: 'call_1' }, 'steps/toolCallRequest')).toMatchObject({
      id: 'call_1',
    })
  })

  test('a result as the adapters send it', () => {
    const payload = {
      tool: { name: 'Bash' },
      exit_status: 'failure',
      outputs: [{ value: { stdout: 'x' } }],
      request_id_ref: REQUEST,
    }
    expect(step(payload, 'steps/toolCallResult')).toEqual({
      kind: 'result',
      ids: [REQUEST],
      tool: 'Bash',
      output: { stdout: 'x' },
      isError: true,
    })
  })

  test('what a user said, and what came from elsewhere', () => {
    const content = [{ type: 'text', value: 'refund 40' }]
    expect(step({ content }, 'steps/userMessage')).toEqual({
      kind: 'event',
      event: { kind: 'prompt', session: SESSION, text: 'refund 40', isTyped: true },
    })
    const trigger = { trigger_type: 'external_event', trigger_source: { mail: 'hi' } }
    expect(step(trigger, 'steps/agentTrigger')).toMatchObject({
      event: { text: '{"mail":"hi"}', isTyped: false },
    })
  })

  test('memory, subagents, skills and retrievals are calls without a result step', () => {
    const retrieval = { query: 'q', results: [{ content: 'c' }] }
    expect(step(retrieval, 'steps/knowledgeRetrieval')).toEqual({
      kind: 'whole',
      id: REQUEST,
      call: { tool: 'retrieve', args: { query: 'q' } },
      output: { results: [{ content: 'c' }] },
    })
    for (const [method, tool] of [
      ['memoryStore', 'remember'],
      ['subagentStart', 'Agent'],
      ['skillLoad', 'Skill'],
    ] as const)
      expect(step({ a: 1 }, `steps/${method}`)).toMatchObject({ call: { tool, args: { a: 1 } } })
    expect(step({}, 'agbom/snapshot')).toEqual({ kind: 'note' })
  })

  test('an unknown method, and a wrapped one', () => {
    expect(step({}, 'steps/newStep')).toMatchObject({ code: -32601 })
    expect(step({}, 'protocols/MCP/tools/call')).toMatchObject({
      code: -32601,
      message: expect.stringContaining('put the MCP server behind the gate'),
    })
    expect(step({}, 'toString')).toMatchObject({ code: -32601 })
  })

  test.each([
    [{}, '`payload.tool.name` is missing'],
    [{ tool: { name: 'a' }, arguments: [] }, '`payload.arguments` is `[]`'],
    [{ tool: { name: 'a' }, arguments: { to: 'x' } }, '`payload.arguments.to` has no `value`'],
    [{ tool: { name: 'a' }, execution_id: 7 }, '`payload.execution_id` is `7`'],
  ])('a call that cannot be read: %j', (payload, why) => {
    expect(step(payload, 'steps/toolCallRequest')).toMatchObject({
      code: -32600,
      message: expect.stringContaining(why),
    })
  })
})

describe('decisions', () => {
  const sources = { args: { amount: 40, to: 'ann' }, remainingMsOf: () => 5_000.4 }

  test('what waits is deferred, with what is left of its approval', () => {
    const decision = { code: 'APPROVAL_PENDING', approvalId: 'a1', approvalUrl: 'https://g/a1' }
    expect(decideCall({ kind: 'deny', reason: 'waits', decision }, sources)).toEqual({
      decision: 'defer',
      reasoning: 'waits',
      reason_codes: ['APPROVAL_PENDING'],
      policy_data: { sluice: { approvalId: 'a1', approvalUrl: 'https://g/a1' } },
      defer_details: {
        reason: 'pending_dependency',
        resolution_method: 'human_approval',
        resolution_timeout_ms: 5_000,
        timeout_decision: 'deny',
      },
    })
    const gone = { ...sources, remainingMsOf: () => undefined }
    expect(decideCall({ kind: 'deny', reason: 'waits', decision }, gone)).toMatchObject({
      decision: 'deny',
    })
  })

  test('changed arguments are overrides; one that was taken away is a denial', () => {
    const changed = decideCall({ kind: 'pass', args: { amount: 20, to: 'ann' } }, sources)
    expect(changed).toMatchObject({
      decision: 'modify',
      modifications: { parameter_overrides: { amount: 20 } },
    })
    expect(decideCall({ kind: 'pass', args: { amount: 40 } }, sources)).toMatchObject({
      decision: 'deny',
      reason_codes: ['modify_unsupported'],
    })
  })

  test('an answer that the policy changes is one text; a withheld one is denied', () => {
    expect(decideResult({ kind: 'replace', output: { a: '[email]' } })).toMatchObject({
      decision: 'modify',
      modifications: { modified_content: '{"a":"[email]"}' },
    })
    expect(decideResult({ kind: 'replace', output: 'x', reason: 'withheld' })).toEqual({
      decision: 'deny',
      reasoning: 'withheld',
    })
  })
})
