// `localhost` is two addresses: both are the gate's, or the gate does not start.

import { once } from 'node:events'
import { createServer as createHttpServer, get } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { LocalhostListener } from './localhost-listener.ts'

const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The port; rejects if it is taken. */
function take(host: string, port = 0): Promise<number> {
  const server = createServer()
  ends.push(() => server.close())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** A port that is taken at [::1] only: other programs may have the same number at 127.0.0.1. */
async function takeFreeElsewhere(): Promise<number> {
  for (;;) {
    const port = await take('::1')
    const isFree = await take('127.0.0.1', port).then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    // The last one that was taken: given back.
    await once(ends.pop()?.() as Server, 'close')
    return port
  }
}

function listenerOf(server: Server, isAlone = false): LocalhostListener {
  const listener = new LocalhostListener(server, { isAlone })
  ends.push(() => listener.close())
  return listener
}

const ask = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ host, port, agent: false }, (response) => {
      response.setEncoding('utf8').once('data', resolve)
    }).once('error', reject)
  })

describe.runIf(hasIPv6)('finding: another process at [::1] is the console to a browser', () => {
  test.each(['127.0.0.1', '0.0.0.0', '::1'])('%s brings the other address along', async (host) => {
    const server = createHttpServer((request, response) =>
      response.end(`gate at ${request.socket.localFamily}`),
    )
    const listener = listenerOf(server)
    const port = await listener.listen(host, 0)
    await expect(take('::1', port)).rejects.toThrow('EADDRINUSE')
    await expect(take('127.0.0.1', port)).rejects.toThrow('EADDRINUSE')
    expect(await ask('::1', port)).toBe('gate at IPv6')
    expect(await ask('127.0.0.1', port)).toBe('gate at IPv4')
    await listener.close()
    expect([await take('::1', port), await take('127.0.0.1', port)]).toEqual([port, port])
  })

  test('a port that is taken there is refused, and given up here', async () => {
    const port = await takeFreeElsewhere()
    await expect(listenerOf(createServer()).listen('127.0.0.1', port)).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `port ${port} is in use at [::1], where programs look for \`localhost\``,
    })
    expect(await take('127.0.0.1', port)).toBe(port)
  })

  test('if any port will do, one that is free at both is found', async () => {
    // The first port that the system offers is taken at the other address in the same moment.
    const server = createServer()
    const squatted: number[] = []
    server.once('listening', () => {
      const { port } = server.address() as AddressInfo
      squatted.push(port)
      const other = createServer().listen(port, '::1')
      ends.push(() => other.close())
    })
    const port = await listenerOf(server).listen('127.0.0.1', 0)
    expect(squatted).toHaveLength(1)
    expect(squatted).not.toContain(port)
  })

  test('with a certificate of its own it needs one address only', async () => {
    const port = await listenerOf(createServer(), true).listen('127.0.0.1', 0)
    expect(await take('::1', port)).toBe(port)
  })
})
