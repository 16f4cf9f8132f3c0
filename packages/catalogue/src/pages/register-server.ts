// What a page says of putting a server behind the gate: the line in sluice.yaml and the address for clients. Pure.

import { createTextBlock, type PageBlock, yaml } from '@sluice/guard/show/page'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isOwnTool } from '../classify/own-tools.ts'

/** How the server of a tool is put behind the gate, and where its clients find it then. */
export function registerBlocks(definition: ToolDefinition): PageBlock[] {
  const { server } = definition
  const isOwn = isOwnTool(definition)
  const entry = isOwn ? '{ builtin: agents }' : '{ command: [npx, -y, PACKAGE] }'
  return [
    createTextBlock(
      isOwn
        ? 'Its server is part of the gate. Add a line to `sluice.yaml`:'
        : 'Put its server behind the gate: `sluice init` does it for the clients on this machine, or add a line to `sluice.yaml`:',
    ),
    yaml(['servers:', `  ${JSON.stringify(server)}: ${entry}`, ''].join('\n')),
    createTextBlock(
      `Point the client at \`http://127.0.0.1:7433/mcp/${encodeURIComponent(server)}\`. Every call then passes the gate before it reaches the server.`,
    ),
  ]
}
