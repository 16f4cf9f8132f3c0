// Held calls through a real gate, with real clients of both generations: held, decided from elsewhere, carried
// out once or not at all. The test is the person who decides. What kill -9 leaves is in
// approvals-kill.test.ts.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import type { Person } from '../../packages/access/src/identity/person.ts'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { makePerson, PIN, type } from '../support/person.ts'
import { PlainClient, recordsOf, sentTo } from '../support/plain-client.ts'
import { type RealClient, throughGate } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { fixture, mcpUrl, until } from '../support/start-gate.ts'
import { postStateless, statelessClient } from '../support/stateless-client.ts'

const policy = ({ reason = 'money leaves', other = 'x', mails = 2 } = {}) => `
version: 1
default: allow
tools:
  office/create_payment:
    action: require_approval
    reason: ${reason}
    approval: { wait: 20s, timeout: 10m, edit_args: true }
  office/delete_all: { action: require_approval, approval: { wait: 1s, channels: [client] } }
  office/write_note: { action: require_approval, approval: { wait: 1s, channels: [client] } }
  office/send_mail:
    action: require_approval
    approval: { wait: 1s, timeout: 2s }
    rate_limit: { max: ${mails}, window: 1h }
  office/get_secret: { action: require_approval, reason: ${other}, approval: { wait: 1s } }
  shifty/get_item: { action: require_approval, approval: { wait: 20s } }
  desk/echo: { action: require_approval, approval: { wait: 20s } }
guardrails:
  - { name: too much, match: { tools: [office/create_payment] }, when: args.amount > 1000.0, extra_args: allow, action: deny }
`

const define = (description: string) => {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
  writeFileSync(
    join(gate.folder, 'tools.json'),
    JSON.stringify([{ name: 'get_item', description, inputSchema }]),
  )
}

let gate: OwnGate
/** By generation: SDK v1 in a session, SDK v2 in the stateless generation. */
let clients: readonly { call: (name: string, args: object) => Promise<CallReply> }[]
let plain: PlainClient
let desk: HttpFixture
let real: RealClient

interface CallReply {
  readonly isError?: boolean | undefined
  readonly text: string
  readonly decision?: { code: string; approvalId?: string; approvalUrl?: string; usedBy?: string }
}

beforeAll(async () => {
  desk = await serveHttp()
  const servers = {
    office: fixture('office', './office.log'),
    shifty: fixture('shifty', './tools.json'),
    desk: { url: desk.url },
  }
  gate = await ownGate({ servers, policy: policy() })
  define('Get an item')
  real = await throughGate(gate as never, 'office')
  const newer = await statelessClient(gate as never, 'office')
  const toReply = (result: unknown): CallReply => {
    const { isError, content, _meta } = result as {
      isError?: boolean
      content: { text: string }[]
      _meta?: Record<string, never>
    }
    return { isError, text: content[0]?.text ?? '', decision: _meta?.['sluice/decision'] as never }
  }
  clients = [
    {
      call: async (name, args) =>
        toReply(await real.client.callTool({ name, arguments: { ...args } })),
    },
    { call: async (name, args) => toReply(await newer.callTool({ name, arguments: { ...args } })) },
  ]
  plain = await PlainClient.open(gate as never, 'office')
})
afterAll(async () => {
  await endOwnGates()
  await desk.close()
})

const generations = [
  ['a session', 0],
  ['the stateless generation', 1],
] as const
const sent = (name: string, holds: (args: Record<string, unknown>) => boolean = () => true) =>
  sentTo(gate.folder).filter(
    ({ method, params }) =>
      method === 'tools/call' && params.name === name && holds(params.arguments),
  )
const paid = (amount: number) => sent('create_payment', (args) => args.amount === amount).length

async function pending(args: string): Promise<ApprovalRequest> {
  let found: ApprovalRequest | undefined
  await until(async () => {
    const requests = await gate.approvals.list({ states: ['pending'] })
    found = requests.find((request) => request.args === args)
    return found !== undefined
  }, 20_000)
  return found as ApprovalRequest
}

const approve = (id: string, who: Person = ADA) =>
  gate.approvals.decide(id, { verdict: 'approve' }, who, 'terminal')
const stepsOf = (id: string) =>
  recordsOf(gate).flatMap((record) =>
    record.kind === 'event' && JSON.stringify(record.detail).includes(id)
      ? [record.name.replace('approval-', '')]
      : [],
  )
const decisionOf = ({ answer }: { answer: { result: { _meta: Record<string, never> } } }) =>
  answer.result._meta['sluice/decision'] as unknown as NonNullable<CallReply['decision']>

describe.each(generations)('a held call of %s', (_era, at) => {
  test('is approved from elsewhere, and carried out once', async () => {
    const amount = 1 + at
    const answer = clients[at]?.call('create_payment', { amount })
    const { id, before } = await pending(`{"amount":${amount}}`)
    expect([paid(amount), Array.isArray(before)]).toEqual([0, true])
    // People are told aside: whoever is faster than that would be on record before it.
    await until(() => stepsOf(id).includes('notified'))
    await approve(id)
    expect((await answer)?.text).toContain('create_payment')
    expect(paid(amount)).toBe(1)
    await until(() => gate.approvals.find(id)?.state === 'executed')
    const steps = ['proposed', 'notified', 'approved', 'executed', 'returned']
    await until(() => stepsOf(id).length >= steps.length)
    expect(stepsOf(id)).toEqual(steps)
  })

  test('is denied', async () => {
    const amount = 11 + at
    const answer = clients[at]?.call('create_payment', { amount })
    const { id } = await pending(`{"amount":${amount}}`)
    const no = { verdict: 'deny', comment: 'not today' } as const
    await gate.approvals.decide(id, no, ADA, 'console')
    const reply = await answer
    expect([reply?.isError, reply?.decision?.code, paid(amount)]).toEqual([
      true,
      'APPROVAL_DENIED',
      0,
    ])
    expect(reply?.text).toContain('not today')
  })

  test('runs out, and takes nothing of a limit', async () => {
    const to = `nobody ${at}`
    let reply = await clients[at]?.call('send_mail', { to })
    const id = reply?.decision?.approvalId
    while (reply?.decision?.code === 'APPROVAL_PENDING') {
      expect(reply.decision.approvalUrl).toMatch(/^http.*\/approvals\//)
      reply = await clients[at]?.call('send_mail', { to })
    }
    expect(reply?.decision).toMatchObject({
      code: 'APPROVAL_EXPIRED',
      reason: expect.stringMatching(/^the request for approval expired/),
    })
    if (id !== undefined) expect(gate.approvals.find(id)?.state).toBe('expired')
    expect(sent('send_mail', (args) => args.to === to)).toEqual([])
  })

  test('twice at the same instant passes once, and the loser learns who won', async () => {
    const amount = 21 + at
    const both = [0, 1].map(() => clients[at]?.call('create_payment', { amount }))
    const { id } = await pending(`{"amount":${amount}}`)
    await approve(id)
    const replies = await Promise.all(both)
    const lost = replies.find((each) => each?.isError)
    expect(lost?.decision?.code).toBe('APPROVAL_USED')
    expect(lost?.decision?.usedBy).toBe(gate.approvals.find(id)?.usedBy)
    expect(paid(amount)).toBe(1)
  })

  test('with other arguments after the approval is asked for again', async () => {
    const amount = 31 + at
    const answer = clients[at]?.call('create_payment', { amount })
    await approve((await pending(`{"amount":${amount}}`)).id)
    await answer
    const other = clients[at]?.call('create_payment', { amount: amount + 0.5 })
    const { id } = await pending(`{"amount":${amount + 0.5}}`)
    expect(paid(amount + 0.5)).toBe(0)
    await gate.approvals.decide(id, { verdict: 'deny' }, ADA, 'console')
    expect((await other)?.isError).toBe(true)
  })
})

test('approved while nobody waited: the same call passes once, from another session too', async () => {
  const first = decisionOf(await plain.call('get_secret', {}))
  expect(first.code).toBe('APPROVAL_PENDING')
  await approve(first.approvalId as string)
  const second = await PlainClient.open(gate as never, 'office')
  const replies = await Promise.all([second.call('get_secret', {}), plain.call('get_secret', {})])
  const codes = replies.map(({ answer }) => answer.result._meta?.['sluice/decision']?.code ?? 'ok')
  expect(codes.sort()).toEqual(['APPROVAL_USED', 'ok'])
  expect(sent('get_secret')).toHaveLength(1)
  const query = ['ledger', 'query', '--data', gate.data, '--approval', String(first.approvalId)]
  // The record of a refusal is not waited for.
  await expect
    .poll(async () => {
      const { calls } = await sluiceJson(query)
      return calls.map(({ decision }: { decision: { code: string } }) => decision.code).sort()
    })
    .toEqual(['APPROVAL_PENDING', 'APPROVAL_USED', 'APPROVED'])
})

test.each(generations)('through all servers at once, in %s', async (_era, at) => {
  const amount = 41 + at
  const params = { name: 'office__create_payment', arguments: { amount } }
  const answer =
    at === 0
      ? (await throughGate(gate as never, '')).client.callTool(params)
      : (await statelessClient(gate as never, '')).callTool(params)
  await approve((await pending(`{"amount":${amount}}`)).id)
  expect(JSON.stringify(await answer)).toContain('create_payment')
  expect(paid(amount)).toBe(1)
})

test('a newer client that comes again for its verdict, with a real one', async () => {
  const kept = () =>
    recordsOf(gate).filter(
      (record) => record.kind === 'refusal' && record.decision.code === 'APPROVAL_PENDING',
    ).length
  const before = kept()
  const answer = clients[1]?.call('get_secret', { n: 1 })
  const { id } = await pending('{"n":1}')
  // The wait of the rule has passed: it was asked to come again.
  await until(() => kept() > before)
  await approve(id)
  expect((await answer)?.text).toContain('get_secret')
})

describe('while a call waits', () => {
  test('another rule changes: it stands; its own changes: it is asked for again', async () => {
    const answer = plain.call('create_payment', { amount: 50 })
    const { id } = await pending('{"amount":50}')
    gate.write(policy({ mails: 1 }))
    await until(() => gate.log.some((line) => line.includes('only tightens')))
    expect(gate.approvals.find(id)?.state).toBe('pending')
    // Another reason is another rule, and tightens nothing that a person would have to apply.
    gate.write(policy({ mails: 1, reason: 'money goes' }))
    await until(() => gate.approvals.find(id)?.state === 'void')
    const again = await pending('{"amount":50}')
    expect(again.asks[0]?.reason).toBe('money goes')
    await expect(approve(id)).rejects.toThrow('void')
    await approve(again.id)
    expect((await answer).answer.result.isError).toBeUndefined()
    expect(paid(50)).toBe(1)
  })

  test('its client goes away: nothing is carried out, and the approval is not used up', async () => {
    const away = new AbortController()
    const answer = plain.call('create_payment', { amount: 60 }, away.signal).catch(() => 'gone')
    const { id } = await pending('{"amount":60}')
    away.abort()
    expect(await answer).toBe('gone')
    await approve(id)
    expect([paid(60), gate.approvals.find(id)?.usedBy]).toEqual([0, null])
    expect(
      (await plain.call('create_payment', { amount: 60 })).answer.result.isError,
    ).toBeUndefined()
    expect(paid(60)).toBe(1)
  })
})

describe('changed arguments', () => {
  test('are sent in place of those that were asked for, judged anew', async () => {
    const answer = plain.call('create_payment', { amount: 70 })
    const { id } = await pending('{"amount":70}')
    const edit = { verdict: 'approve', args: '{"amount":7.50}' } as const
    await gate.approvals.decide(id, edit, ADA, 'console')
    expect((await answer).answer.result.content[0].text).toContain('7.5')
    expect([paid(70), paid(7.5)]).toEqual([0, 1])
    const digests = recordsOf(gate).flatMap((record) =>
      record.kind === 'intent' && record.decision.reason.includes(id) ? [record.decision.code] : [],
    )
    expect(digests).toEqual(['APPROVED'])
  })

  test('that a guardrail denies do not pass, whoever wrote them', async () => {
    const answer = plain.call('create_payment', { amount: 71 })
    const { id } = await pending('{"amount":71}')
    const edit = { verdict: 'approve', args: '{"amount":5000}' } as const
    await gate.approvals.decide(id, edit, ADA, 'console')
    expect((await answer).answer.result._meta['sluice/decision'].code).toBe('APPROVAL_DENIED')
    expect([paid(71), paid(5000), gate.approvals.find(id)?.state]).toEqual([0, 0, 'void'])
  })
})

describe('a client that accepts every form', () => {
  const opened: Client[] = []
  afterAll(() => Promise.all(opened.map((client) => client.close())))

  async function accepting(
    capability: Record<string, Record<string, never>>,
  ): Promise<{ client: Client; asked: unknown[] }> {
    const client = new Client(
      { name: 'eager', version: '1' },
      { capabilities: { elicitation: capability } },
    )
    const asked: unknown[] = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params)
      return { action: 'accept', content: { approve: true } }
    })
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl(gate, 'office')))
    await client.connect(transport as Parameters<Client['connect']>[0])
    opened.push(client)
    return { client, asked }
  }

  test('decides where the rule says so, on record as unverified', async () => {
    const { client, asked } = await accepting({})
    const result = await client.callTool({ name: 'write_note', arguments: { text: 'hi' } })
    expect([result.isError, asked.length]).toEqual([undefined, 1])
    const requests = await gate.approvals.list()
    const request = requests.find(({ name }) => name === 'write_note')
    expect(request?.votes).toMatchObject([{ proof: 'client', channel: 'client' }])
  })

  test('cannot approve a Destructive call: a client that auto-accepts forms', async () => {
    const { client, asked } = await accepting({ form: {}, url: {} })
    const result = await client.callTool({ name: 'delete_all', arguments: { all: true } })
    expect(result.isError).toBe(true)
    expect(asked).toMatchObject([{ mode: 'url', url: expect.stringContaining('/approvals/') }])
    expect(sent('delete_all')).toEqual([])
  })

  test('decides in the stateless generation too, only what the rule lets it', async () => {
    const ask = async (name: string, args: object, more: object = {}) =>
      (
        await postStateless(gate as never, 'office', 'tools/call', {
          name,
          arguments: args,
          ...more,
        })
      ).answer.result
    const answers = { 'sluice-approval': { action: 'accept', content: { approve: true } } }
    const asked = await ask('write_note', { text: 'newer' })
    expect(Object.keys(asked.inputRequests)).toEqual(['sluice-approval'])
    const state = { requestState: asked.requestState, inputResponses: answers }
    expect((await ask('write_note', { text: 'newer' }, state)).isError).toBeUndefined()
    const held = await ask('delete_all', { all: false })
    expect(held).toMatchObject({ resultType: 'input_required' })
    expect(held.inputRequests).toBeUndefined()
    const forged = { requestState: held.requestState, inputResponses: answers }
    expect(await ask('delete_all', { all: false }, forged)).toMatchObject({
      resultType: 'input_required',
    })
    expect(sent('delete_all')).toEqual([])
  })
})

test('a definition that changes while a call waits makes the request void', async () => {
  const shifty = await PlainClient.open(gate as never, 'shifty')
  const answer = shifty.call('get_item', { n: 1 })
  const { id } = await pending('{"n":1}')
  define('Get one item')
  // Its words changed, which passes: the next list shows it.
  await shifty.ask('tools/list')
  await until(() => gate.approvals.find(id)?.state === 'void')
  await expect(approve(id)).rejects.toThrow('void')
  const again = await pending('{"n":1}')
  expect(again.id).not.toBe(id)
  await approve(again.id)
  expect((await answer).answer.result.content[0].text).toBe('get_item')
  expect(stepsOf(id)).toEqual(['proposed', 'notified', 'void'])
})

describe('a server that fails', () => {
  const echo = async (text: string) => {
    const client = await PlainClient.open(gate as never, 'desk')
    const answer = client.call('echo', { text })
    return { answer, id: (await pending(`{"text":"${text}"}`)).id }
  }
  const calls = (text: string) => desk.seen.filter(({ body }) => body.includes(text)).length

  test('after it got the call: the approval is used up, and the request unknown', async () => {
    const { answer, id } = await echo('lost')
    desk.behaviour.instead = (request, _response, body) => {
      if (body.includes('lost')) request.socket.destroy()
      return body.includes('lost')
    }
    await approve(id)
    expect((await answer).text).toContain('unknown')
    await until(() => gate.approvals.find(id)?.state === 'unknown')
    expect([calls('lost'), gate.approvals.find(id)?.args]).toEqual([1, '{"text":"lost"}'])
  })

  test('before it got the call: the approval is as good as before', async () => {
    const { answer, id } = await echo('never')
    await desk.close()
    await approve(id)
    expect((await answer).answer.error).toBeDefined()
    await until(() => stepsOf(id).includes('returned'))
    expect(gate.approvals.find(id)).toMatchObject({ state: 'approved', usedBy: null })
    expect(calls('never')).toBe(0)
  })
})

describe('at the terminal', () => {
  const at = () => ['--data', gate.data]

  test('what waits is listed, shown and decided with a PIN, and not without', async () => {
    const answer = plain.call('create_payment', { amount: 80, token: 'abc' })
    const { id } = await pending('{"amount":80,"token":"[masked: 3 characters]"}')
    const listed = await sluice(['approvals', 'list', ...at()])
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(id)])
    const shown = await sluice(['approvals', 'show', id.slice(0, 8), ...at()])
    expect(shown.stdout).toMatch(
      /money.*1 of any approver[\s\S]*token: "\[masked: 3 characters\]"[\s\S]*\/arguments\/token/,
    )
    await makePerson(gate.data, 'ann', ['admin'])
    type('a wrong PIN')
    const wrong = await sluice(['approvals', 'approve', id, ...at()])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('PIN')])
    expect(gate.approvals.find(id)?.state).toBe('pending')
    type(PIN)
    const full = await sluice(['approvals', 'show', id, '--reveal', ...at()])
    expect(full.stdout).toContain('token: "abc"')
    const done = await sluice(['approvals', 'approve', id, '--comment', 'fine', ...at()])
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('approved')])
    await answer
    expect(paid(80)).toBe(1)
    expect(gate.approvals.find(id)?.votes).toMatchObject([
      { by: 'ann', proof: 'pin', channel: 'terminal', comment: 'fine' },
    ])
    expect(stepsOf(id)).toContain('revealed')
  })

  test('for a while: calls within the bounds that a person wrote pass, others wait', async () => {
    const answer = plain.call('create_payment', { amount: 90, to: 'x' })
    const { id } = await pending('{"amount":90,"to":"x"}')
    const bounds = ['--for', '1h', '--bound', 'amount<=95', '--bound', 'amount>=90']
    const done = await sluice(['approvals', 'approve', id, ...bounds, ...at()])
    expect([done.code, done.stderr]).toEqual([0, ''])
    await answer
    await plain.call('create_payment', { amount: 95, to: 'x' })
    expect([paid(90), paid(95)]).toEqual([1, 1])
    const beyond = plain.call('create_payment', { amount: 96, to: 'x' })
    await gate.approvals.decide(
      (await pending('{"amount":96,"to":"x"}')).id,
      { verdict: 'deny' },
      ADA,
      'console',
    )
    expect((await beyond).answer.result.isError).toBe(true)
    const { standing } = await sluiceJson(['approvals', 'list', ...at()])
    expect(standing).toMatchObject([{ used: 1, by: ['ann'] }])
    await sluice(['approvals', 'end', standing[0].id, ...at()])
    expect(gate.approvals.standing).toEqual([])
  })

  test('frozen meanwhile: it stays held, may be decided, and passes after the thaw', async () => {
    const answer = plain.call('create_payment', { amount: 97 })
    const { id } = await pending('{"amount":97}')
    await sluice(['freeze', ...at()])
    expect((await answer).answer.error.message).toContain('frozen')
    await approve(id)
    expect((await plain.call('create_payment', { amount: 97 })).text).toContain('FROZEN')
    expect([paid(97), gate.approvals.find(id)?.state]).toEqual([0, 'approved'])
    expect((await sluice(['thaw', ...at()])).code).toBe(0)
    expect(
      (await plain.call('create_payment', { amount: 97 })).answer.result.isError,
    ).toBeUndefined()
    expect(paid(97)).toBe(1)
  })
})
