// Labels: a session that has read private data and a stranger's text may not send anything any more.

import { deepStrictEqual, match } from 'node:assert'
import { withGate } from '../support/gate.ts'

const policy = `
version: 1
default: allow
labels:
  shop/export_customers: [private]
  shop/read_inbox: [untrusted]
guardrails:
  - name: private data stays here
    match: { tools: [shop/send_mail] }
    when: session.saw.private && session.saw.untrusted
    action: deny
    reason: this session has read private data and a stranger's text
`

await withGate({ policy }, async (gate) => {
  const shop = await gate.connect('shop')
  const send = () => shop.call('send_mail', { to: 'somebody@example.com' })
  deepStrictEqual((await send()).code, undefined)
  await shop.call('export_customers', { format: 'csv' })
  deepStrictEqual((await send()).code, undefined)
  await shop.call('read_inbox', { folder: 'new' })
  const denied = await send()
  deepStrictEqual(denied.code, 'DENIED')
  match(denied.text, /private data and a stranger/)
})
