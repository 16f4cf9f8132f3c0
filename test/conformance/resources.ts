// Resources of the fixture: text, bytes, a template, and one that can be watched.

import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { PNG } from './content.ts'

export function addResources(server: McpServer): void {
  const add = (
    name: string,
    uri: string,
    mimeType: string,
    body: { text: string } | { blob: string },
  ) =>
    server.registerResource(name, uri, { description: `the ${name}`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...body }],
    }))
  add('static text', 'test://static-text', 'text/plain', { text: 'The static text resource.' })
  add('static bytes', 'test://static-binary', 'image/png', { blob: PNG })
  add('watched', 'test://watched-resource', 'text/plain', { text: 'Watch me.' })
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'data by id', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, data: `of ${id}` }),
        },
      ],
    }),
  )
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.server.setRequestHandler(method, () => ({}))
}
