// `/metrics` over HTTP: only with the token that the configuration names for it. The figures show which
// tools there are and how they are used, so a grant to call is not enough.

import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MetricsWriter } from '../../metrics/write-metrics.ts'

export class MetricsFront {
  readonly #digest: Buffer
  readonly #writer: MetricsWriter

  constructor(token: string, writer: MetricsWriter) {
    this.#digest = hash('sha256', token, 'buffer')
    this.#writer = writer
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (!timingSafeEqual(hash('sha256', token, 'buffer'), this.#digest)) {
      const headers = { 'content-type': 'text/plain', 'www-authenticate': 'Bearer realm="metrics"' }
      return void response.writeHead(401, headers).end('the token of `metrics:` is needed\n')
    }
    const { type, text } = await this.#writer.write()
    response.writeHead(200, { 'content-type': type }).end(text)
  }
}
