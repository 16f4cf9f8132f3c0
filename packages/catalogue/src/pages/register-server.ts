// What a page says of putting a server behind the gate: the line in sluice.yaml and the address for clients. Pure.

import { createTextBlock, type PageBlock, yaml } from '@sluice/guard/show/page'

/** How a server is put behind the gate, and where its clients find it then. */
export function registerBlocks(server: string): PageBlock[] {
  return [
    createTextBlock(
      'Put its server behind the gate: `sluice init` does it for the clients on this machine, or add a line to `sluice.yaml`:',
    ),
    yaml(
      ['servers:', `  ${JSON.stringify(server)}: { command: [npx, -y, PACKAGE] }`, ''].join('\n'),
    ),
    createTextBlock(
      `Point the client at \`http://127.0.0.1:7433/mcp/${encodeURIComponent(server)}\`. Every call then passes the gate before it reaches the server.`,
    ),
  ]
}
