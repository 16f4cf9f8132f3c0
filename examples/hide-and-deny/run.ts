// Hide and deny: a hidden tool does not exist for the client, a denied one is listed and says why.

import { deepStrictEqual, match, rejects } from 'node:assert'
import { withGate } from '../support/gate.ts'

const policy = `
version: 1
default: allow
tools:
  shop/export_customers: hide
  shop/delete_customer: { action: deny, reason: customers are deleted by the privacy team }
`

await withGate({ policy }, async (gate) => {
  const shop = await gate.connect('shop')
  const listed = await shop.list()
  deepStrictEqual(listed.includes('export_customers'), false)
  deepStrictEqual(listed.includes('delete_customer'), true)

  const denied = await shop.call('delete_customer', { customer: 'A-1' })
  deepStrictEqual(denied.code, 'DENIED')
  match(denied.text, /deleted by the privacy team/)

  // The same answer as for a tool that does not exist.
  const messageOf = async (name: string): Promise<string> => {
    let message = ''
    await rejects(shop.call(name), (error: Error) => {
      message = error.message.replaceAll(name, 'NAME')
      return true
    })
    return message
  }
  deepStrictEqual(await messageOf('export_customers'), await messageOf('no_such_tool'))
})
