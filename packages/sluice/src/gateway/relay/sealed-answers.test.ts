// Values that the policy seals: they reach the tool that may have them and no other, echoes are sealed
// again, and nothing of them is on record. In both generations of the protocol.

import { afterEach, describe, expect, test } from 'vitest'
import type { ProtocolGeneration } from '../../protocol/protocol-generation.ts'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { type Play, playing } from './relay.test-support.ts'

const ERAS: readonly ProtocolGeneration[] = ['session', 'stateless']
const KEY = `gl${'pat'}-a1B2c3D4e5F6g7H8i9J0`
const REDACT = 'default: allow\nanswers: { "s/*": { redact: [secret] } }'

const { play, endPlays } = playing()
afterEach(endPlays)

const rules = 'default: allow\nanswers: { s/ask: { redact: [secret], seal: [s/other] } }'

const start = (own = rules, generation: ProtocolGeneration = 'stateless'): Play =>
  play({ generation, rules: own })

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

describe('sealed values', () => {
  const SEALED = /\[sealed GitLab token [a-z2-7]{16}\]/

  test.each(ERAS)('reach the tool that is named, and no other: %s', async (generation) => {
    const made = start(rules, generation)
    const shownText = shown(await answer(made, text(`the key is ${KEY}, twice ${KEY}`)))
    expect(shownText).not.toContain(KEY)
    const [placeholder = ''] = SEALED.exec(shownText) ?? []
    expect(shownText).toBe(`the key is ${placeholder}, twice ${placeholder}`)
    const good = await made.ask('tools/call', {
      name: 'other',
      arguments: { auth: `Bearer ${placeholder}`, list: [placeholder], n: 1 },
    })
    expect(made.server.last('tools/call').params.arguments).toEqual({
      auth: `Bearer ${KEY}`,
      list: [KEY],
      n: 1,
    })
    // The record has the placeholder.
    expect(JSON.stringify(made.intents)).not.toContain(KEY)
    // Echoes are sealed again, in any encoding, whatever tool says them.
    const base64 = Buffer.from(`x${KEY}y`).toString('base64')
    made.server.say({
      id: made.server.last('tools/call').id,
      result: text(`sent ${KEY} ${base64} ${Buffer.from(KEY).toString('hex')}`),
    })
    await settled()
    const echo = shown(made.received.find((each) => each.id === good) as never)
    expect(echo).not.toContain(KEY)
    expect(echo.split(placeholder)).toHaveLength(4)
    expect(made.outcomes.map(({ changes }) => changes)).toEqual([
      [{ change: 'sealed', kind: 'GitLab token', count: 2 }],
      [{ change: 'sealed', kind: 'GitLab token', count: 3 }],
    ])
    const calls = made.server.all('tools/call').length
    for (const args of [
      { a: placeholder },
      { a: placeholder.replace(/[a-z2-7]{16}/, 'a'.repeat(16)) },
    ]) {
      const bad = await made.ask('tools/call', { name: 'ask', arguments: args })
      await settled()
      const response = made.received.find((each) => each.id === bad)
      expect(JSON.stringify(response)).toContain(
        'a sealed value in the arguments may not be passed',
      )
    }
    expect(made.server.all('tools/call')).toHaveLength(calls)
  })

  test('an error of the server with the value is sealed too', async () => {
    const made = start()
    const [placeholder = ''] = SEALED.exec(shown(await answer(made, text(KEY)))) ?? []
    const id = await made.ask('tools/call', { name: 'other', arguments: { a: placeholder } })
    made.server.say({
      id: made.server.last('tools/call').id,
      error: { code: -1, message: `bad key ${KEY}` },
    })
    await settled()
    expect(made.received.find((each) => each.id === id)?.error?.message).toBe(
      `bad key ${placeholder}`,
    )
  })

  test('the placeholder of a redacted secret is not written back', async () => {
    const made = start(REDACT)
    const shownText = shown(await answer(made, text(`key ${KEY}`)))
    expect(shownText).toBe('key [secret: GitLab token]')
    const id = await made.ask('tools/call', { name: 'other', arguments: { file: shownText } })
    await settled()
    const response = JSON.stringify(made.received.find((each) => each.id === id))
    expect(response).toContain('writing it would lose the value')
  })

  test('what can be guessed is redacted and not sealed', async () => {
    const made = start()
    const response = await answer(made, text('postgres://app:hunter22@db/x'))
    expect(shown(response)).toContain('[secret: password in an address]')
    expect(made.lease.vault.size).toBe(0)
  })
})
