// The lower bound: `node:http` in, `undici` out, nothing parsed, decided or recorded. What any
// gateway on this Node pays before it does its work. Arguments: the upstream's URL.

import { createServer } from 'node:http'
import { Pool } from 'undici'

const upstream = new URL(process.argv[2] as string)
const pool = new Pool(upstream.origin, {
  connections: 128,
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: 600_000,
})
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date'])

const server = createServer((request, response) => {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const [only = null] = chunks
    const body = chunks.length > 1 ? Buffer.concat(chunks) : only
    const path = request.url as string
    const method = request.method as 'POST'
    pool.dispatch(
      { path, method, headers, body },
      {
        onRequestStart() {},
        onResponseStart(controller, status) {
          const raw = controller.rawHeaders as Buffer[]
          const lines: string[] = []
          for (let at = 0; at < raw.length; at += 2) {
            const name = raw[at]!.toString('latin1').toLowerCase()
            if (!HOP_BY_HOP.has(name)) lines.push(name, raw[at + 1]!.toString('latin1'))
          }
          response.writeHead(status, lines)
        },
        onResponseData: (_controller, chunk) => void response.write(chunk),
        onResponseEnd: () => void response.end(),
        onResponseError: (_controller, error) => void response.destroy(error),
      },
    )
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`ready http://127.0.0.1:${port}${upstream.pathname}`)
})
