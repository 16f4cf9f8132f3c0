// The MCP server behind the gate in the examples: a shop that reads, refunds and deletes, and an inbox.
// It writes down nothing and checks nothing; that is the point of a gate.

import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

const TOOLS: readonly [name: string, description: string, argument: string, type: string][] = [
  ['list_orders', 'List the orders of a customer', 'customer', 'string'],
  ['create_refund', 'Refund an amount to the customer', 'amount', 'integer'],
  ['delete_customer', 'Delete a customer for good', 'customer', 'string'],
  ['export_customers', 'Read all customers with their addresses', 'format', 'string'],
  ['read_inbox', 'Read the mails of customers', 'folder', 'string'],
  ['send_mail', 'Send a mail to an address', 'to', 'string'],
]

const server = new McpServer({ name: 'shop', version: '1.0.0' })
for (const [name, description, argument, type] of TOOLS)
  server.registerTool(
    name,
    {
      description,
      inputSchema: fromJsonSchema<Record<string, unknown>>({
        type: 'object',
        properties: { [argument]: { type } },
      }),
    },
    (args) => ({ content: [{ type: 'text', text: `${name}: ${args[argument]}` }] }),
  )
await server.connect(new StdioServerTransport())
