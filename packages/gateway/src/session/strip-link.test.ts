import { createGateToken } from '@sluice/access/identity/keys/gate-tokens'
import { expect, test } from 'vitest'
import { ANSWER_AT_ONCE_LENGTH_MAX } from '../shared/limits.ts'
import type { ClientTransport, MessageContext } from '../shared/transport.ts'
import { STRIP_WAITING_LENGTH_MAX } from './limits.ts'
import { stripOwn } from './strip-link.ts'

const LONG = 'x'.repeat(ANSWER_AT_ONCE_LENGTH_MAX)

function makeLink(fails = false) {
  const sent: string[] = []
  const closed: string[] = []
  const link = {
    send: (text: string, related?: MessageContext) => {
      if (fails) throw new Error('broken')
      sent.push(`${related?.request ?? '-'} ${text.length > 100 ? 'long' : text}`)
      return true
    },
    close: (why: string) => void closed.push(why),
  } as unknown as ClientTransport
  return { link: { send: stripOwn(link) }, sent, closed }
}

const turns = async (isOver: () => boolean) => {
  while (!isOver()) await new Promise(setImmediate)
}

test('F9: a long message is looked through in turns of its own; only its own request waits for it', async () => {
  const { link, sent } = makeLink()
  expect(link.send(`["${LONG}"]`, { request: 1 })).toBe(true)
  link.send('"later"', { request: 1 })
  link.send('"other"', { request: 2 })
  expect(sent).toEqual(['2 "other"'])
  await turns(() => sent.length === 3)
  expect(sent).toEqual(['2 "other"', '1 long', '1 "later"'])
  link.send('"last"', { request: 1 })
  expect(sent.at(-1)).toBe('1 "last"')
})

test('F12: a long message that has waited has lost the tokens too', async () => {
  const { link, sent } = makeLink()
  link.send(JSON.stringify([LONG]))
  link.send(JSON.stringify([`see ${createGateToken('in')}`]))
  await turns(() => sent.length === 2)
  expect(sent).toEqual(['- long', '- ["see sluice_removed"]'])
})

test('F9: past the bound of what waits, a message is looked through at once or the link is closed', async () => {
  const { link, sent, closed } = makeLink()
  const half = `"${'x'.repeat(STRIP_WAITING_LENGTH_MAX / 2)}"`
  link.send(half, { request: 1 })
  link.send(half, { request: 2 })
  expect(sent).toEqual(['2 long'])
  expect(link.send(half, { request: 1 })).toBe(false)
  expect(closed[0]).toContain(`more than ${STRIP_WAITING_LENGTH_MAX} characters`)
  await turns(() => sent.length === 2)
})

test('a message that cannot be looked through or sent closes the link', async () => {
  const { link, closed } = makeLink(true)
  link.send(`"${LONG}"`)
  await turns(() => closed.length > 0)
  expect(closed[0]).toContain('could not be looked through: broken')
})
