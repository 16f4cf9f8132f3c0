// Requests to URLs that another server named: which addresses they may go to, in every spelling,
// and that the checked address is the one connected to. A server of the test on loopback counts
// what arrives.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AddressZone, getZone } from '@sluice/policy/readers/ip-address'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { discoverIssuer, endpointIn } from './discover-issuer.ts'
import { OutgoingHttp } from './outgoing.ts'

let server: Server
let port = 0
let arrived: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`)
    if (request.url === '/away') response.writeHead(302, { location: '/admin' })
    response.end('{"is":"here"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())
beforeEach(() => {
  arrived = []
})

/** Test names and what they resolve to; each list is one response, the last one repeats. */
function resolver(names: Record<string, string[][]>) {
  const asked: string[] = []
  const resolve = async (hostname: string) => {
    asked.push(hostname)
    const answers = names[hostname] ?? []
    const found = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { resolve, asked }
}

describe('M10: an address belongs to the zone that it leads to', () => {
  test.each<[AddressZone, string[]]>([
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', '::ffff:7f00:1']],
    ['loopback', ['64:ff9b::7f00:1', '2002:7f00:1::', '0:0:0:0:0:0:0:1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1']],
    ['private', ['fc00::1', 'fd12:3456::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '198.19.0.1']],
    ['special', ['0.0.0.0', '0.1.2.3', '::', '169.254.169.254', 'fe80::1', 'fe80::1%eth0']],
    ['special', ['224.0.0.1', '240.0.0.1', '255.255.255.255', 'ff02::1', '::7f00:1', 'fec0::1']],
    ['special', ['64:ff9b::a9fe:a9fe', '::ffff:0.0.0.0', '2001:db8::1', '2001::1', 'no address']],
    ['special', ['168.63.129.16', '::ffff:168.63.129.16', '127.1', '010.0.0.1']],
    ['public', ['93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1', '64:ff9b::808:808']],
  ])('%s: %j', (zone, addresses) => {
    for (const address of addresses) expect([address, getZone(address)]).toEqual([address, zone])
  })
})

describe('M10: a remote server cannot make the gate request this machine or its network', () => {
  test.each([
    'http://127.0.0.1:P/admin',
    'http://localhost:P/admin',
    'http://2130706433:P/admin',
    'http://0x7f.1:P/admin',
    'http://0177.0.0.1:P/admin',
    'http://[::1]:P/admin',
    'https://0.0.0.0:P/admin',
    'https://[::]:P/admin',
    'https://[::ffff:127.0.0.1]:P/admin',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'https://inner.example:P/admin',
    'https://inner.example.:P/admin',
    'https://mixed.example:P/admin',
  ])('%s', async (url) => {
    const { resolve } = resolver({
      'far.example': [['93.184.216.34']],
      localhost: [['127.0.0.1']],
      'inner.example': [['127.0.0.1']],
      'inner.example.': [['127.0.0.1']],
      'mixed.example': [['93.184.216.34', '127.0.0.1']],
    })
    const outgoing = new OutgoingHttp({ trusted: ['https://far.example/mcp'], resolve })
    for (const method of ['GET', 'POST'] as const)
      await expect(outgoing.fetchJson(url.replace('P', String(port)), { method })).rejects.toThrow(
        /is a (loopback|private|special) address|not https/,
      )
    expect(arrived).toEqual([])
  })

  test('and one in the private network cannot name loopback, but its neighbours', async () => {
    const { resolve } = resolver({ 'corp.example': [['10.1.1.1']], 'next.example': [['10.1.1.2']] })
    const outgoing = new OutgoingHttp({ trusted: ['https://corp.example/mcp'], resolve })
    expect(await outgoing.zone).toBe('private')
    await expect(outgoing.fetchJson(`http://127.0.0.1:${port}/`)).rejects.toThrow('loopback')
    expect(arrived).toEqual([])
  })

  test('one on this machine can, and no redirect is followed', async () => {
    const outgoing = new OutgoingHttp({ trusted: [`http://127.0.0.1:${port}/mcp`] })
    const { value } = await outgoing.fetchJson(`http://localhost:${port}/metadata`)
    expect(value).toEqual({ is: 'here' })
    expect((await outgoing.fetchJson(`http://127.0.0.1:${port}/away`)).status).toBe(302)
    expect(arrived).toEqual(['GET /metadata', 'GET /away'])
  })

  test('a name is resolved once: a rebound address is not requested', async () => {
    const { resolve, asked } = resolver({
      'far.example': [['93.184.216.34'], ['127.0.0.1']],
      'other.example': [['127.0.0.1'], ['93.184.216.34']],
    })
    const outgoing = new OutgoingHttp({ trusted: ['https://far.example/mcp'], resolve })
    const other = `https://other.example:${port}/`
    for (let turn = 0; turn < 2; turn++)
      await expect(outgoing.fetchJson(other)).rejects.toThrow('loopback address')
    expect(await outgoing.zone).toBe('public')
    expect(asked).toEqual(['far.example', 'other.example'])
    expect(arrived).toEqual([])
  })

  test('nor the URL that a browser would open', () => {
    const issuer = 'https://far.example'
    for (const at of ['http://127.0.0.1/', 'https://0.0.0.0/', 'https://169.254.169.254/'])
      expect(() =>
        endpointIn({ issuer, authorization_endpoint: at }, 'authorization_endpoint'),
      ).toThrow()
  })

  test('metadata of an issuer that resolves to an inner zone is not fetched', async () => {
    const { resolve } = resolver({
      'far.example': [['93.184.216.34']],
      'issuer.example': [['192.168.0.9']],
      'none.example': [],
    })
    const outgoing = new OutgoingHttp({ trusted: ['https://far.example/mcp'], resolve })
    await expect(discoverIssuer('https://issuer.example', outgoing)).rejects.toThrow('private')
    await expect(outgoing.fetchJson('https://none.example')).rejects.toThrow('has no address')
  })
})
