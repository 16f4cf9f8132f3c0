// A shop of one file (argument 1): the text of the result of `get_order` for each order, as it goes over the
// wire. What it refunds and mails, it says.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const file = process.argv[2] as string
const TEXT = { type: 'string' }
const schemaOf = (required: string[], properties: object) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const TOOLS = [
  {
    name: 'get_order',
    description: 'Get an order.',
    inputSchema: schemaOf(['order_id'], { order_id: TEXT, currency: TEXT }),
  },
  {
    name: 'create_refund',
    description: 'Refund an amount of an order.',
    inputSchema: schemaOf(['order', 'amount'], { order: TEXT, amount: { type: 'number' } }),
  },
  {
    name: 'send_mail',
    description: 'Send a mail about an order.',
    inputSchema: schemaOf(['order', 'to'], { order: TEXT, to: TEXT }),
  },
]

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  process.stdout.write(
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer(method, params)}}\n`,
  )
})

function answer(
  method: string,
  params: { name?: string; arguments?: Record<string, unknown> },
): string {
  if (method === 'initialize')
    return JSON.stringify({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'orders', version: '1' },
    })
  if (method === 'tools/list') return JSON.stringify({ tools: TOOLS })
  if (params.name !== 'get_order') return '{"content":[{"type":"text","text":"done"}]}'
  const orders = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  return orders[String(params.arguments?.order_id).toUpperCase()] ?? '{"content":[],"isError":true}'
}
