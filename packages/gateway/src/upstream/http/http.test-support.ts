// What the tests of HTTP links share: servers and links that are closed after each test.

import { afterEach } from 'vitest'
import { type Behaviour, type HttpFixture, serveHttp } from '../../../../../test/servers/http.ts'
import { Asker, keepLog } from '../ask.test-support.ts'
import { type HttpServerOptions, HttpUpstream } from './http.ts'
import { HttpPools } from './http-pools.ts'

const pools = new HttpPools()
const links: HttpUpstream[] = []
/** To be closed after the test. */
export const servers: { close(): unknown }[] = []

afterEach(async () => {
  for (const link of links) link.close('the test is over')
  await Promise.all(links.splice(0).map((link) => link.ended))
  await Promise.all(servers.splice(0).map((server) => server.close()))
  await pools.close()
})

export function connect(url: string, more: Partial<HttpServerOptions> = {}) {
  const kept = keepLog()
  const options = {
    name: 'fixture',
    generation: 'session',
    url,
    pools,
    log: kept.log,
    ...more,
  } as const
  const asker = new Asker((events) => new HttpUpstream(options, events))
  const { link } = asker
  links.push(link)
  return { asker, link, ...kept }
}

export async function serve(behaviour: Partial<Behaviour> = {}): Promise<HttpFixture> {
  const server = await serveHttp(behaviour)
  servers.push(server)
  return server
}

export async function up(
  behaviour: Partial<Behaviour> = {},
  more: Partial<HttpServerOptions> = {},
) {
  const server = await serve(behaviour)
  const connected = connect(server.url, more)
  await connected.asker.initialize()
  return { server, ...connected }
}

export const EVENTS = { 'content-type': 'text/event-stream' }
export const isCall = (body: string): boolean => body.includes('"tools/call"')
