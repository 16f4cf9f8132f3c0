// `sluice approvals watch` in a terminal of its own: a call comes in, a key and a PIN decide it, and the
// inbox says so.

import { spawn } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient, sentTo } from '../support/plain-client.ts'
import { endGates, fixture, NODE, SLUICE, startGate, until } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools: { office/create_payment: { action: require_approval, reason: money, approval: { wait: 50s } } }
`

afterAll(endGates)

test('a live inbox, with keys to decide', { timeout: 120_000 }, async () => {
  const servers = { office: fixture('office', './office.log') }
  const gate = await startGate({ servers, policy: POLICY })
  await makePerson(gate.data)
  const command = `'${NODE}' '${SLUICE}' approvals watch --data '${gate.data}'`
  const inbox = spawn('script', ['-qefc', command, '/dev/null'], { stdio: 'pipe' })
  let text = ''
  inbox.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const seen = (what: string) => until(() => text.includes(what), 30_000)
  await seen('nothing waits')
  const client = await PlainClient.open(gate, 'office')
  // Finding: what did not fit on the screen was not shown to whoever approved it.
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`n${at + 10}`, at]))
  const answer = client.call('create_payment', { amount: 1, ...many, to: 'mallory' })
  await seen('create_payment')
  inbox.stdin.write('a')
  await seen('PIN of ann: ')
  expect(text).toContain('amount: 1')
  expect(text).toContain('to: "mallory"')
  inbox.stdin.write(`${PIN}\r`)
  expect((await answer).answer.result.content[0].text).toContain('create_payment')
  await until(() => /: (approved|executed)/.test(text), 30_000)
  inbox.stdin.write('q')
  await new Promise((resolve) => inbox.once('close', resolve))
  expect(
    sentTo(gate.folder).filter(({ params }) => params?.name === 'create_payment'),
  ).toHaveLength(1)
})
