// A program decides on held calls: it receives the signed webhook, checks it, and answers over /api with
// the credential of an approver that is a system.

import { deepStrictEqual } from 'node:assert'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { withGate } from '../support/gate.ts'

const SECRET = 'a secret that both sides know'
const policy = `
version: 1
default: allow
tools:
  shop/create_refund: { action: require_approval, approval: { wait: 30s, channels: [webhook] } }
`
let gateUrl = ''
let token = ''

const receiver = createServer(async (request, response) => {
  const body = await text(request)
  const isGenuine = isSigned(request, body)
  response.writeHead(isGenuine ? 204 : 401).end()
  if (!isGenuine) return
  const { id, args } = JSON.parse(body) as { id: string; args: string }
  const { amount } = JSON.parse(args) as { amount: number }
  const verdict = amount <= 5000 ? 'approve' : 'deny'
  await fetch(`${gateUrl}/api/approvals/${id}/verdict`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ verdict, comment: 'by the refund rules' }),
  })
})

function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`
  const signature = String(headers['webhook-signature'])
  const isRecent = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 300
  return (
    isRecent &&
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  )
}

/** What `sluice approvers add refund-bot --token` does, which asks a person for a PIN. */
async function addSystem(data: string): Promise<void> {
  const people = People.open(data)
  const system = { name: 'refund-bot', kind: 'system', roles: ['approver'] } as const
  const added = await people.add({ ...system, groups: [], owns: [] }, { token: true }, Date.now())
  token = added.token ?? ''
  people.close()
}

await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const { port } = receiver.address() as AddressInfo
const webhook = { url: `http://127.0.0.1:${port}/held`, form: 'plain', secret: SECRET, args: true }
try {
  await withGate(
    { policy, config: { approvals: { webhook } }, prepare: addSystem },
    async (gate) => {
      gateUrl = gate.url
      const shop = await gate.connect('shop')
      const small = await shop.call('create_refund', { amount: 1200 })
      deepStrictEqual(small, { text: 'create_refund: 1200', code: undefined })
      const large = await shop.call('create_refund', { amount: 9900 })
      deepStrictEqual(large.code, 'APPROVAL_DENIED')
    },
  )
} finally {
  receiver.close()
}
