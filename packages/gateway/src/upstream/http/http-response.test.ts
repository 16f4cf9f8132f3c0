// Responses as a server may write them, and as no honest one does: read the same however the bytes
// are cut, or refused.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import { HTTP_HEADER_BYTES_MAX } from '../limits.ts'
import { ResponseReader } from './http-response.ts'

interface Read {
  status?: number
  headers?: Record<string, unknown>
  body: string
  /** Undefined where the response is not whole. */
  staysOpen?: boolean
  fault?: string
}

function readerInto(seen: Read): ResponseReader {
  return new ResponseReader({
    onHead: (status, headers) => Object.assign(seen, { status, headers: { ...headers } }),
    onData: (chunk) => {
      seen.body += chunk.toString('latin1')
    },
    onEnd: (staysOpen) => {
      seen.staysOpen = staysOpen
    },
    onWhole: (status, headers, body) => {
      const text = typeof body === 'string' ? body : body.toString('latin1')
      Object.assign(seen, { status, headers: { ...headers }, body: text, staysOpen: true })
    },
  })
}

/** `cuts` are where the bytes are cut in pieces; `ends`: and then the connection ends. */
function read(text: string, cuts: readonly number[] = [], ends = false): Read {
  const bytes = Buffer.from(text, 'latin1')
  const seen: Read = { body: '' }
  const reader = readerInto(seen)
  try {
    const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
    places.slice(1).forEach((to, index) => {
      reader.push(bytes.subarray(places[index], to))
    })
    if (ends) reader.finish()
  } catch (error) {
    seen.fault = (error as Error).message
  }
  return seen
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

test.each([
  ['a counted body', `${HEAD}Content-Length: 2\r\n\r\n{}`, { body: '{}', staysOpen: true }],
  ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', { body: '', staysOpen: true, status: 204 }],
  ['an empty body', `${HEAD}content-length: 0\r\n\r\n`, { body: '', staysOpen: true }],
  [
    'chunks, with an extension and a trailer',
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;a=b\r\n{\r\nA\r\n"a":"bcde"\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n`,
    { body: '{"a":"bcde"}', staysOpen: true },
  ],
  [
    'one that closes',
    `${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`,
    { staysOpen: false },
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}', { body: '{}', staysOpen: false }],
  [
    'interim responses before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${HEAD}Content-Length: 2\r\n\r\n{}`,
    { status: 200, body: '{}', staysOpen: true },
  ],
  [
    'a header that is there twice',
    'HTTP/1.1 200 \r\nMcp-Session-Id: a\r\nmcp-session-id: b\r\ncontent-length: 0\r\n\r\n',
    { headers: { 'mcp-session-id': 'a, b', 'content-length': '0' } },
  ],
])('%s is read', (_, text, expected) => {
  expect(read(text)).toMatchObject(expected)
})

test('a body without a length goes to the end of the connection, which carries nothing more', () => {
  expect(read(`${HEAD}\r\n{}`)).not.toHaveProperty('staysOpen')
  expect(read(`${HEAD}\r\n{}`, [], true)).toMatchObject({ body: '{}', staysOpen: false })
})

test('what breaks off is not whole', () => {
  for (const text of [HEAD, `${HEAD}Content-Length: 3\r\n\r\n{}`])
    expect(read(text, [], true)).not.toHaveProperty('staysOpen')
})

test('an answer that nobody asked for, behind the one that was: nothing of it is read', () => {
  const one = `${HEAD}Content-Length: 2\r\n\r\n{}`
  expect(read(one + one)).toMatchObject({ body: '{}', staysOpen: false })
})

test.each([
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  ['one length twice', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}'],
  ['both kinds of length', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
  ['a signed length', 'Content-Length: +2\r\n\r\n{}'],
  ['another coding', 'Transfer-Encoding: gzip, chunked\r\n\r\n'],
  ['a folded line', 'X: a\r\n b: c\r\nContent-Length: 2\r\n\r\n{}'],
  ['a bare line feed', 'X: a\nContent-Length: 9\r\nContent-Length: 2\r\n\r\n{}'],
  ['a space before the colon', 'Content-Length : 2\r\n\r\n{}'],
  ['a line without a colon', 'nothing\r\n\r\n'],
  ['a chunk longer than it says', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n'],
  ['a chunk without a size', 'Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n'],
  ['a size in other digits', 'Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n'],
  ['a size that no chunk has', 'Transfer-Encoding: chunked\r\n\r\n1ffffffff\r\n'],
  ['a size line that ends without CR', 'Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n'],
  ['headers without end', `X: ${'a'.repeat(HTTP_HEADER_BYTES_MAX)}\r\n`],
  ['a size line without end', `Transfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(9_000)}`],
])('%s is a fault', (_, rest) => {
  expect(read(`HTTP/1.1 200 OK\r\n${rest}`).fault).toBeTypeOf('string')
})

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ['interim responses without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20)],
])('%s is a fault', (_, text) => {
  expect(read(text).fault).toBeTypeOf('string')
})

test('however the bytes are cut, the same is read', () => {
  const texts = [
    `${HEAD}Content-Length: 12\r\n\r\n{"a":"\\r\\n"}`,
    `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloo\r\n`,
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(fc.nat(160), { maxLength: 12 }),
      (text, cuts) => {
        const inside = cuts.filter((cut) => cut <= text.length)
        expect(read(text, inside)).toEqual(read(text))
      },
    ),
  )
})

test('taken whole after a head like it, it reads as if it were the first, or is not taken', () => {
  const known = `${HEAD}Date: today\r\nContent-Length: 12\r\nKeep-Alive: timeout=5\r\n\r\n`
  const bodies = ['', '{}', '{"a":"bcde"}', '{"a":"\\xe9"}', 'x'.repeat(120), '\r\n\r\n']
  const put = fc.constantFrom(
    '',
    '0',
    '9',
    '\r',
    '\n',
    '\r\n',
    ' ',
    ',',
    '-',
    'x',
    '\0',
    '\r\n\r\n',
  )
  const change = fc.record({ at: fc.nat(known.length + 4), taken: fc.nat(3), put })
  let taken = 0
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.array(change, { maxLength: 2 }), (body, changes) => {
      let text = known.replace('12', String(body.length)) + body
      for (const { at, taken: cut, put: more } of changes)
        text = text.slice(0, at) + more + text.slice(at + cut)
      const seen: Read = { body: '' }
      const reader = readerInto(seen)
      reader.push(Buffer.from(`${known}{"a":"bcde"}`))
      reader.begin()
      const bytes = Buffer.from(text, 'latin1')
      if (!reader.takeWhole(bytes, bytes.length)) return
      taken += 1
      const { headers, ...rest } = read(text)
      // The length is the one that was known: nobody asks it.
      expect({ ...seen.headers, 'content-length': headers?.['content-length'] }).toEqual(headers)
      expect(seen).toMatchObject(rest)
      expect(reader.takeWhole(bytes, bytes.length)).toBe(false)
    }),
    runs(2_000),
  )
  expect(taken).toBeGreaterThan(100)
})
