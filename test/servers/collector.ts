// A collector of OpenTelemetry: takes OTLP over HTTP, and writes for each request one line with the
// spans that came, attributes as an object. The first line is its port.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Value {
  stringValue?: string
  intValue?: number
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  if (request.url !== '/v1/traces') return void response.writeHead(404).end()
  const { resourceSpans } = JSON.parse(body)
  const spans = []
  for (const { scopeSpans, resource } of resourceSpans)
    for (const { spans: each } of scopeSpans)
      for (const span of each)
        spans.push({
          ...span,
          attributes: asObject(span.attributes),
          resource: asObject(resource.attributes),
        })
  console.log(JSON.stringify(spans))
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
})

function asObject(attributes: { key: string; value: Value }[]): object {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  )
}

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
