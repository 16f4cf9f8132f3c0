// What the playground begins with: refunds up to an amount, above it a person.

import type { PlaygroundInput } from './explain.ts'

export const EXAMPLE: PlaygroundInput = {
  policy: `version: 1
default: deny
categories: { Read: allow }
tools:
  shop/create_refund:
    action: allow
    when: args.amount <= 50.0
    otherwise: require_approval
    rate_limit: { max: 20, window: 1d }
`,
  tools: `[
  { "server": "shop", "name": "create_refund",
    "description": "Refund a payment to the customer",
    "inputSchema": { "type": "object", "required": ["order", "amount"],
      "properties": { "order": { "type": "string" }, "amount": { "type": "number" } } } },
  { "server": "shop", "name": "list_orders",
    "description": "List the orders of a customer",
    "annotations": { "readOnlyHint": true },
    "inputSchema": { "type": "object", "properties": { "customer": { "type": "string" } } } }
]
`,
  call: '{ "tool": "shop/create_refund", "args": { "order": "A-2001", "amount": 480 } }',
  properties: `properties:
  - name: no refund above 50 without a person
    never: { tool: shop/create_refund, when: "args.amount > 50.0", action: allow }
  - name: nothing is ever denied
    never: { tool: "shop/*", action: deny }
`,
}
