import type { LookupAddress } from 'node:dns'
import { expect, test } from 'vitest'
import { PinnedLookup } from './http-pools.ts'

const addresses = (...all: string[]): LookupAddress[] =>
  all.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

/** Looks up once for each list of addresses that the name has then. */
function look(...lists: string[][]): string[] {
  const queue = lists.map((list) => addresses(...list))
  const pinned = new PinnedLookup((_host, _options, done) => done(null, queue.shift() ?? []))
  return lists.map(() => {
    let came = ''
    pinned.lookup('mcp.example', { all: true }, (error, found) => {
      came = error?.message ?? (found as LookupAddress[]).map(({ address }) => address).join(' ')
    })
    return came
  })
}

test('a name stays in the network zone where it was first', () => {
  expect(look(['93.184.216.34'], ['93.184.216.99'])).toEqual(['93.184.216.34', '93.184.216.99'])
  expect(look(['93.184.216.34'], ['127.0.0.1'])[1]).toContain('now resolves to 127.0.0.1')
  expect(look(['93.184.216.34'], ['93.184.216.34', '10.0.0.1'])[1]).toContain('a private address')
  expect(look(['10.0.0.1'], ['::1'])[1]).toContain('a loopback address')
  expect(look(['127.0.0.1'], ['::1', '127.0.0.1'], ['10.0.0.1'])).toEqual([
    '127.0.0.1',
    '::1 127.0.0.1',
    '10.0.0.1',
  ])
})

test('link-local and reserved addresses are never connected to', () => {
  expect(look(['169.254.169.254'])[0]).toContain('link-local or reserved')
  expect(look(['::ffff:169.254.169.254'])[0]).toContain('link-local or reserved')
  expect(look([])[0]).toContain('has no address')
})

test('one address, and an error of the resolver', () => {
  const one = new PinnedLookup((_host, _options, done) => done(null, addresses('93.184.216.34')))
  one.lookup('x', {}, (error, address, family) =>
    expect([error, address, family]).toEqual([null, '93.184.216.34', 4]),
  )
  const none = new PinnedLookup((_host, _options, done) => done(new Error('no such name'), []))
  none.lookup('x', {}, (error) => expect(error?.message).toBe('no such name'))
})
