// Values that the policy seals: they reach the tool that may have them and no other, echoes are sealed
// again, and nothing of them is on record. In both generations of the protocol.

import { ECHO_CHARS_MAX } from '@sluice/access/identity/limits'
import { SessionVault, type ValueSource } from '@sluice/access/identity/sessions/session-vault'
import { runSteps } from '@sluice/policy/structures/steps'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { afterEach, describe, expect, test } from 'vitest'
import { findSealedObjection, openSealed } from '../call/open-sealed.ts'
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

describe('placeholders in arguments', () => {
  const LONG_KEY = 'a1B2c3D4'.repeat(1_000)
  const vault = new SessionVault()
  const [open = '', closed = '', long = ''] = [KEY, `${KEY}x`, LONG_KEY].map((value, at) =>
    vault.seal(value, 'key', [{ server: 's', method: 'tools/call', name: String(at) }]),
  )
  const call = (args: string) => ({
    message: { method: 'tools/call', params: toParams(args) },
    tool: 't',
    vault,
    redacts: () => true,
    canOpen: (sources: readonly ValueSource[]) => sources[0]?.name !== '1',
  })
  const toParams = (args: string) => ({
    value: {},
    text: new Map([['arguments', args]]),
  })

  test('one that is written with escapes needs the same permission', () => {
    const hidden = closed.replace('[', '\\u005b').replace('sealed', '\\u0073ea\\u006Ced')
    const args = `{"a":"${open}","b":"${hidden}"}`
    expect(JSON.parse(args).b).toBe(closed)
    expect(findSealedObjection(call(args))).toContain('may not be passed to this tool')
    expect(openSealed(call(args))).toBeUndefined()
    const allowed = `{"a":"${open.replace('[', '\\u005B')}"}`
    expect(openSealed(call(allowed))?.text.get('arguments')).toBe(`{"a":"${KEY}"}`)
  })

  test('a short placeholder of a long value does not fill the memory', () => {
    const few = `{"a":"${long.repeat(50)}"}`
    expect(findSealedObjection(call(few))).toBeUndefined()
    const many = `{"a":"${long.repeat(70)}"}`
    expect(findSealedObjection(call(many))).toContain('more than 524288 characters together')
    expect(openSealed(call(many))).toBeUndefined()
    expect(vault.seal('x'.repeat(8_193), 'key', [])).toBeUndefined()
  })

  test('echoes are looked for in one pass, and a text made to be slow is not looked through', () => {
    const newBudget = () => ({ charsLeft: ECHO_CHARS_MAX })
    const shared = Array.from({ length: 200 }, (_, at) => (at * 7_919).toString(36)).join('')
    const values = Array.from({ length: 60 }, (_, at) => `-----BEGIN ${shared}${at}-----END`)
    const full = new SessionVault()
    for (const value of values) full.seal(value, 'key', [])
    const all = `x ${values.join(' ')}`
    expect(runSteps(full.findEchoes(all, newBudget()))?.map(({ start }) => start)).toEqual(
      values.map((value) => all.indexOf(value)),
    )
    const slow = new SessionVault()
    for (const at of values.keys()) slow.seal(`${LONG_KEY}${at}`, 'key', [])
    expect(runSteps(slow.findEchoes(LONG_KEY.repeat(4), newBudget()))).toBeUndefined()
    expect(runSteps(full.findEchoes('an ordinary text '.repeat(30_000), newBudget()))).toEqual([])
  })
})
