// The policy's `answers` on every way to a client: results, errors, notifications, lists, prompts,
// resources and task results; links; and long texts. In both generations of the protocol.

import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { afterEach, describe, expect, test } from 'vitest'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { type Play, playing, TOOLS } from './relay.test-support.ts'

const ERAS: readonly ProtocolGeneration[] = ['session', 'stateless']
const CARD = '4111 1111 1111 1111'
const KEY = `gl${'pat'}-a1B2c3D4e5F6g7H8i9J0`
const REDACT = 'default: allow\nanswers: { "s/*": { redact: [card, secret, email] } }'

const { play, endPlays } = playing()
afterEach(endPlays)

interface Asked {
  readonly rules?: string
  readonly generation?: ProtocolGeneration
  readonly outputSchema?: object
}

function start({ rules = REDACT, generation = 'stateless', outputSchema }: Asked = {}): Play {
  const made = play({ generation, rules })
  const tools = TOOLS.map((tool) => ({ ...tool, ...(outputSchema && { outputSchema }) }))
  made.server.answers = ({ method }) => (method === 'tools/list' ? { tools } : undefined)
  return made
}

/** What the client is told of a result. */
async function answer(made: Play, result: object, name = 'ask') {
  const id = await made.ask('tools/call', { name, arguments: {} })
  made.server.say({ id: made.server.last('tools/call').id, result })
  await settled()
  return made.received.find((response) => response.id === id)
}

const text = (written: string) => ({ content: [{ type: 'text', text: written }] })
const shown = (response: Awaited<ReturnType<typeof answer>>): string =>
  response?.result?.content?.[0]?.text

describe('redact', () => {
  test.each(ERAS)('texts of a result, in place and typed: %s', async (generation) => {
    const made = start({ generation })
    const response = await answer(made, text(`pay ${CARD} with ${KEY}, ask ann@example.org.`))
    expect(shown(response)).toBe('pay [card ****1111] with [secret: GitLab token], ask [email].')
    const changes = [
      { change: 'redacted', kind: 'card number', count: 1 },
      { change: 'redacted', kind: 'GitLab token', count: 1 },
      { change: 'redacted', kind: 'e-mail address', count: 1 },
    ]
    expect(made.outcomes).toMatchObject([{ status: 'answered', changes }])
  })

  test('everything else keeps its bytes, numbers too', async () => {
    const made = start({ generation: 'session' })
    const id = await made.ask('tools/call', { name: 'ask', arguments: {} })
    const sent: string[] = []
    made.client.send = (written) => sent.push(written) > 0
    made.server.say(
      `{"jsonrpc":"2.0","id":${JSON.stringify(made.server.last('tools/call').id)},"result":{"content":[],"n":9007199254740993,"f":1.0,"card":"${CARD}"}}`,
    )
    await settled()
    expect(sent[0]).toContain('"n":9007199254740993,"f":1.0,"card":"[card ****1111]"')
    expect(sent[0]).toContain(`"id":${JSON.stringify(id)}`)
  })

  test.each([
    ['an error', { error: { code: -32000, message: `no card ${CARD}`, data: { x: CARD } } }],
    ['structured content', { result: { content: [], structuredContent: { a: { b: CARD } } } }],
    [
      'an embedded resource',
      { result: { content: [{ type: 'resource', resource: { uri: 'r://x', text: CARD } }] } },
    ],
    ['the metadata of a result', { result: { content: [], _meta: { note: CARD } } }],
    [
      'base64',
      {
        result: {
          content: [{ type: 'text', text: Buffer.from(`card ${CARD} end`).toString('base64') }],
        },
      },
    ],
  ])('%s', async (_what, message) => {
    const made = start()
    const id = await made.ask('tools/call', { name: 'ask', arguments: {} })
    made.server.say({ id: made.server.last('tools/call').id, ...message })
    await settled()
    const response = JSON.stringify(made.received.find((each) => each.id === id))
    expect(response).toMatch(/\[card( \*{4}1111)?\]/)
    expect(response).not.toContain(CARD)
    expect(response).not.toContain(Buffer.from(CARD).toString('base64').slice(0, 12))
  })

  test.each([
    [
      'prompts/get',
      { name: 'p' },
      { messages: [{ role: 'user', content: { type: 'text', text: CARD } }] },
    ],
    ['resources/read', { uri: 'r://x' }, { contents: [{ uri: 'r://x', text: CARD }] }],
    ['prompts/list', {}, { prompts: [{ name: 'p', description: CARD }] }],
    ['resources/list', {}, { resources: [{ uri: 'r://x', name: CARD }] }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
      { completion: { values: [CARD] } },
    ],
  ])('%s', async (method, params, result) => {
    const made = start()
    made.server.answers = (sent) =>
      sent.method === 'prompts/list' && method !== 'prompts/list'
        ? { prompts: [{ name: 'p' }] }
        : sent.method === 'resources/list' && method !== 'resources/list'
          ? { resources: [{ uri: 'r://x', name: 'x' }] }
          : sent.method === method
            ? result
            : { resourceTemplates: [] }
    const id = await made.ask(method, params)
    await settled()
    const response = JSON.stringify(made.received.find((each) => each.id === id))
    expect(response).toContain('[card ****1111]')
    expect(response).not.toContain(CARD)
    // Of a list and of a completion there is no outcome on record.
    made.relay.close('end')
    const recorded = [...made.recordedChanges, ...made.outcomes.flatMap((one) => one.changes ?? [])]
    expect(recorded).toEqual([{ change: 'redacted', kind: 'card number', count: 1 }])
  })

  test.each(ERAS)('notifications, before and after: %s', async (generation) => {
    const made = start({ generation })
    const meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'info' }
    await made.ask('tools/call', { name: 'ask', arguments: {} }, { meta })
    const token = made.server.last('tools/call').params._meta?.progressToken
    made.server.say({
      method: 'notifications/progress',
      params: { progressToken: token, progress: 1, message: `card ${CARD}` },
    })
    await settled()
    const response = made.received.find(({ method }) => method === 'notifications/progress')
    expect(response?.params.message).toBe('card [card ****1111]')
    made.relay.close('end')
    expect(made.recordedChanges).toEqual([{ change: 'redacted', kind: 'card number', count: 1 }])
  })

  test('a name that holds data, and a picture with data in its bytes, are withheld', async () => {
    const made = start()
    const named = await answer(made, { content: [], structuredContent: { [CARD]: 1 } })
    expect(shown(named)).toContain('nothing can stand for it')
    const bytes = Buffer.concat([Buffer.alloc(4_000, 0), Buffer.from(`my ${KEY} here`)])
    const data = bytes.toString('base64')
    const picture = await answer(made, {
      content: [{ type: 'image', mimeType: 'image/png', data }],
    })
    expect(shown(picture)).toContain('withholds the answer')
    expect(picture?.result.isError).toBe(true)
    expect(made.outcomes.map(({ changes }) => changes)).toMatchObject([
      [{ change: 'withheld', kind: 'card number', count: 1 }],
      [{ change: 'withheld', kind: 'GitLab token', count: 1 }],
    ])
  })
})

describe('outputSchema stays valid', () => {
  const schema = (card: object) => ({ type: 'object', properties: { card }, required: ['card'] })
  test.each([
    [{ type: 'string' }, '[card ****1111]'],
    [{ $ref: '#/$defs/number' }, '[card ****1111]'],
    [{ allOf: [{ type: 'string' }, { title: 'Card' }] }, '[card ****1111]'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '[card ****1111]'],
    [{ type: ['string', 'null'], format: 'uri' }, null],
    [{ type: ['string', 'null'], pattern: '^4' }, null],
    [{ anyOf: [{ type: 'string', maxLength: 19 }, { type: 'null' }] }, null],
  ])('%j gives %s', async (card, expected) => {
    const outputSchema = { ...schema(card), $defs: { number: { type: 'string' } } }
    const made = start({ outputSchema })
    const response = await answer(made, { content: [], structuredContent: { card: CARD } })
    expect(response?.result.structuredContent.card).toBe(expected)
  })

  test.each([
    { enum: [CARD, 'other'] },
    { const: CARD },
    { type: 'string', pattern: '^4[0-9 ]+$' },
    { type: 'string', maxLength: 19 },
    { type: 'string', format: 'uri' },
    { anyOf: [{ anyOf: [{ type: 'string' }] }] },
    { type: ['string', 'null'], not: { const: 'x' } },
    { $ref: 'https://elsewhere.example/schema' },
    { type: 'string', pattern: '(?=x)y' },
    false,
  ])('%j has no valid placeholder: withheld', async (card) => {
    const made = start({ outputSchema: schema(card as object) })
    const response = await answer(made, { content: [], structuredContent: { card: CARD } })
    expect(shown(response)).toContain('outputSchema')
    expect(response?.result.isError).toBe(true)
  })

  test('numbers', async () => {
    const number = { content: [], structuredContent: { card: 4111111111111111 } }
    const empty = await answer(
      start({ outputSchema: schema({ type: ['integer', 'null'], minimum: 0 }) }),
      number,
    )
    expect(empty?.result.structuredContent.card).toBe(null)
    const none = await answer(start({ outputSchema: schema({ type: 'integer' }) }), number)
    expect(shown(none)).toContain('as a number')
    const free = await answer(start(), number)
    expect(free?.result.structuredContent.card).toBe('[card ****1111]')
    const denied = await answer(
      start({ rules: 'default: allow\nanswers: { "s/*": { deny: [card] } }' }),
      number,
    )
    expect(shown(denied)).toContain('it holds a card number')
    const marked = start({ rules: 'default: allow\nanswers: { "s/*": { mark: [card] } }' })
    await answer(marked, number)
    expect(marked.saw).toEqual(['card'])
  })

  test('lists, and members that no property declares', async () => {
    const outputSchema = {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          prefixItems: [{ type: 'string' }],
          items: { type: ['string', 'null'], maxLength: 6 },
        },
      },
      additionalProperties: { type: 'string' },
    }
    const response = await answer(start({ outputSchema }), {
      content: [],
      structuredContent: { list: [CARD, CARD], more: CARD },
    })
    expect(response?.result.structuredContent).toEqual({
      list: ['[card ****1111]', null],
      more: '[card ****1111]',
    })
  })
})

test('deny withholds, mark labels, other tools are left alone', async () => {
  const rules = 'default: allow\nanswers: { s/ask: { deny: [card], mark: [email] } }'
  const made = start({ rules })
  expect(shown(await answer(made, text(`card ${CARD}`)))).toContain('it holds a card number')
  expect(shown(await answer(made, text('ann@example.org')))).toBe('ann@example.org')
  expect(made.saw).toEqual(['email'])
  expect(shown(await answer(made, text(CARD), 'other'))).toBe(CARD)
})

test('protect: strict redacts secrets and cards, and removes links', async () => {
  const made = start({ rules: 'default: allow\nprotect: strict' })
  const shownText = shown(
    await answer(made, text(`${KEY} ![x](https://evil.example/${'a'}) a@b.example`)),
  )
  expect(shownText).toBe('[secret: GitLab token] [image removed: evil.example] a@b.example')
  const balanced = start({ rules: 'default: allow\nprotect: balanced' })
  expect(shown(await answer(balanced, text(KEY)))).toBe(KEY)
})

test('no rules: a message is sent as it came', async () => {
  const made = start({ rules: 'default: allow' })
  expect(shown(await answer(made, text(CARD)))).toBe(CARD)
  const shadow = start({ rules: `mode: shadow\n${REDACT}` })
  expect(shown(await answer(shadow, text(CARD)))).toBe(CARD)
})

test('links and images of other hosts are removed', async () => {
  const rules = 'default: allow\nanswers: { "s/*": { links: [ok.example, "*.ok.example"] } }'
  const made = start({ rules })
  const response = await answer(
    made,
    text(
      [
        '![x](https://evil.example/p?d=1) [here](https://ok.example/a) [there](//evil.example "t")',
        '[ref]: https://evil.example/x',
        '<https://a.ok.example> <https://evil.example/y> <img src="https://evil.example/i.png">',
        '[odd](https://ok.example@evil.example/) https://evil.example/bare [rel](/x)',
      ].join('\n'),
    ),
  )
  expect(shown(response)?.split('\n')).toEqual([
    '[image removed: evil.example] [here](https://ok.example/a) [there] [link removed: evil.example]',
    '[ref]: [link removed: evil.example]',
    '<https://a.ok.example> [link removed: evil.example] [link removed: evil.example]',
    '[odd] [link removed: an address that cannot be read] https://evil.example/bare [rel](/x)',
  ])
})

describe('bounds', () => {
  const rules = 'default: allow\nanswers: { "s/*": { max_bytes: 1024, redact: [card] } }'
  test.each(ERAS)('a long text is cut and read on, whole and redacted: %s', async (generation) => {
    const made = start({ rules, generation })
    const whole = `${'ä'.repeat(500)} ${CARD} ${'x'.repeat(1_800)} end`
    let shownText = shown(await answer(made, text(whole)))
    let all = ''
    for (let reads = 0; reads < 5; reads++) {
      const [, part = shownText, uri] =
        /^([\s\S]*)\n\[cut by the gate at .* (sluice-rest:\S+)\]$/.exec(shownText) ?? []
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(1_024)
      all += part
      if (uri === undefined) break
      const id = await made.ask('resources/read', { uri })
      await settled()
      shownText = made.received.find((each) => each.id === id)?.result.contents[0].text
    }
    expect(all).toBe(whole.replace(CARD, '[card ****1111]'))
    expect(made.outcomes).toMatchObject([
      { changes: [{ kind: 'card number' }, { change: 'cut', kind: 'text' }] },
    ])
  })

  test('tokens, and structured content that cannot be cut', async () => {
    const made = start({ rules: 'default: allow\nanswers: { "s/*": { max_tokens: 256 } }' })
    expect(shown(await answer(made, text('x'.repeat(5_000))))).toMatch(
      /^x{1024}\n\[cut by the gate at 1024 of 5000/,
    )
    const response = await answer(made, {
      content: [],
      structuredContent: { a: 'x'.repeat(2_000) },
    })
    expect(shown(response)).toContain('cannot be cut')
    const data = 'AAAA'.repeat(2_000)
    const picture = await answer(made, {
      content: [{ type: 'image', mimeType: 'image/png', data }],
    })
    expect(shown(picture)).toContain('more data than the policy allows')
  })

  test('what is not kept cannot be read, nor by another name', async () => {
    const made = start({ rules })
    for (const uri of [
      'sluice-rest://s/aaaaaaaaaaaaaaaa',
      'sluice-rest:x',
      'sluice-rest://%/aaaaaaaaaaaaaaaa',
    ]) {
      const id = await made.ask('resources/read', { uri })
      await settled()
      expect(made.received.find((each) => each.id === id)?.error?.message).toContain(
        'no longer kept',
      )
    }
  })
})
