// An approval is good for the call that was shown and for nothing else: attacked by an agent that sends
// another call in its place, in every spelling that two readers take for two things, and by verdicts that
// come twice, too late or from the caller itself.

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import type { Person } from '../../packages/access/src/identity/person.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { PlainClient, sentTo } from '../support/plain-client.ts'
import { fixture, until } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools:
  office/send_mail: { action: require_approval, approval: { wait: 1s } }
  office/write_note: { action: require_approval, approval: { wait: 1s, timeout: 2s } }
  office/delete_all: { action: require_approval, approval: { wait: 1s, quorum: 2 } }
`
const SHOWN = '{"to":"ren\\u00e9@example.com","cents":1000}'

/** The gate asks again or denies, or the message is none. */
const REFUSED = /"code":"(?:APPROVAL_PENDING|APPROVAL_LIMITED|DENIED)"|"error":/

let gate: OwnGate
let client: PlainClient

beforeEach(async () => {
  gate = await ownGate({ servers: { office: fixture('office', './office.log') }, policy: POLICY })
  client = await PlainClient.open(gate as never, 'office')
})
afterEach(() => endOwnGates())

let lastId = 100
const send = async (params: string) => {
  const id = ++lastId
  const text = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`
  return (await client.post(text)).text
}
const sendMail = (args: string) => send(`{"name":"send_mail","arguments":${args}}`)
const mails = () => sentTo(gate.folder).filter(({ params }) => params?.name === 'send_mail')
const find = async (is: (request: ApprovalRequest) => boolean) =>
  (await gate.approvals.list({})).find(is) as ApprovalRequest
const approve = (id: string, who: Person = ADA) =>
  gate.approvals.decide(id, { verdict: 'approve' }, who, 'console')

test('another call in place of the approved one is never carried out', async () => {
  expect(await sendMail(SHOWN)).toContain('APPROVAL_PENDING')
  const { id } = await find(({ name }) => name === 'send_mail')
  await approve(id)
  const others = [
    '{"to":"eve@example.com","cents":1000}',
    '{"to":"ren\\u00e9@example.com","cents":1000,"to":"eve@example.com"}',
    '{"to":"ren\\u00e9@example.com","cents":1000,"\\u0074o":"eve@example.com"}',
    '{"to":"ren\\u00e9@example.com","cents":1000,"To":"eve@example.com"}',
    '{"to":"ren\\u00e9@example.com","cents":1000,"bcc":"eve@example.com"}',
    '{"to":"ren\\u00e9@example.com","cents":1000,"__proto__":{"bcc":"eve"}}',
    // Decomposed, full width, a Cyrillic letter, an invisible one, a trailing blank.
    '{"to":"rene\\u0301@example.com","cents":1000}',
    '{"to":"ren\\u00e9\\uff20example.com","cents":1000}',
    '{"to":"ren\\u00e9@ex\\u0430mple.com","cents":1000}',
    '{"to":"ren\\u00e9@example.com\\u200b","cents":1000}',
    '{"to":"ren\\u00e9@example.com ","cents":1000}',
    '{"to":["ren\\u00e9@example.com"],"cents":1000}',
    // One number to many readers, and not to all.
    '{"to":"ren\\u00e9@example.com","cents":1000.0}',
    '{"to":"ren\\u00e9@example.com","cents":1e3}',
    '{"to":"ren\\u00e9@example.com","cents":"1000"}',
    '{"to":"ren\\u00e9@example.com","cents":1000.0000000000000001}',
    '{"to":"ren\\u00e9@example.com"}',
  ]
  const replies = await Promise.all([
    ...others.map(sendMail),
    send(`{"name":"send_mail","arguments":${SHOWN},"task":{"ttl":60000}}`),
    send(`{"name":"send_mail","arguments":${SHOWN},"arguments":{"to":"eve"}}`),
    send(`{"name":"send_mail","name":"get_secret","arguments":${SHOWN}}`),
    send(`{"name":"send_mail","arguments":${SHOWN},"extra":1}`),
  ])
  for (const reply of replies) expect(reply).toMatch(REFUSED)
  expect(mails()).toEqual([])
  // The very call passes, once: another order of members and other escapes are the same values.
  const same = '{"cents":1000,"\\u0074o":"ren\u00e9@example.com"}'
  const both = await Promise.all([sendMail(same), sendMail(SHOWN)])
  expect(both.filter((reply) => reply.includes('APPROVAL_USED'))).toHaveLength(1)
  expect(mails().map(({ params }) => params.arguments)).toEqual([
    { cents: 1000, to: 'ren\u00e9@example.com' },
  ])
})

test('a verdict counts once, in time, and from nobody who calls', async () => {
  const system: Person = { ...ADA, name: 'local', kind: 'system', proof: 'token' }
  expect(await send('{"name":"delete_all","arguments":{"all":true}}')).toContain('APPROVAL_PENDING')
  const { id } = await find(({ name }) => name === 'delete_all')
  await expect(approve(id, system)).rejects.toThrow('is the caller')
  await expect(approve(id, { ...ADA, roles: ['viewer'] })).rejects.toThrow('not an approver')
  const twice = await Promise.allSettled([approve(id), approve(id), approve(id, { ...ADA })])
  expect(twice.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(gate.approvals.find(id)?.state).toBe('pending')

  const note = '{"name":"write_note","arguments":{"text":"late"}}'
  expect(await send(note)).toContain('APPROVAL_PENDING')
  const late = await find(({ name }) => name === 'write_note')
  await until(() => Date.now() >= late.expiresAtMs)
  await expect(approve(late.id)).rejects.toThrow('is expired already')
  expect(await send(note)).toContain('APPROVAL_EXPIRED')
  expect(sentTo(gate.folder).filter(({ params }) => params?.name === 'write_note')).toEqual([])
})
