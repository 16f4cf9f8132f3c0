import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import { UndecidableError } from './undecidable-error.ts'
import { isPrivate, parseUrl } from './url.ts'

const READ: readonly [text: string, scheme: string, host: string, port: number | null][] = [
  ['https://example.com', 'https', 'example.com', 443],
  ['HTTPS://Example.COM./a?b#c', 'https', 'example.com', 443],
  ['http://example.com:8080/', 'http', 'example.com', 8080],
  ['http://example.com?q=1', 'http', 'example.com', 80],
  ['https://medium.example/@user?x=a@b', 'https', 'medium.example', 443],
  ['https://example.com/a%20b/日本', 'https', 'example.com', 443],
  ['ftp://a_b.example/', 'ftp', 'a_b.example', 21],
  ['postgres://db.example:5432/x', 'postgres', 'db.example', 5432],
  ['constructor://db.example/x', 'constructor', 'db.example', null],
  ['http://8.8.8.8/', 'http', '8.8.8.8', 80],
  ['ws://1a.example', 'ws', '1a.example', 80],
  ['http://[2606:4700:0:0::1111]:81/', 'http', '[2606:4700::1111]', 81],
  ['http://[1:0:0:2:0:0:0:3]', 'http', '[1:0:0:2::3]', 80],
  ['http://[1:0:2:3:4:5:6:7]', 'http', '[1:0:2:3:4:5:6:7]', 80],
  ['http://[1:2:3:4:5:6:7::]', 'http', '[1:2:3:4:5:6:7:0]', 80],
  ['http://[1::]', 'http', '[1::]', 80],
  ['http://[10:0::100:0:0:0]', 'http', '[10::100:0:0:0]', 80],
  ['http://[::FFFF:127.0.0.1]', 'http', '[::ffff:7f00:1]', 80],
]

const ATTACKS: readonly [name: string, text: string][] = [
  ['userinfo', 'http://good.example@evil.example/'],
  ['userinfo with a password', 'http://good.example:80@evil.example/'],
  ['an `@` behind a fragment', 'http://good.example#@evil.example/'],
  ['an `@` behind a query', 'http://good.example?@evil.example/'],
  ['a backslash before the host', 'http:\\\\good.example'],
  ['a backslash behind the host', 'http://good.example\\@evil.example'],
  ['a space', 'http://good.example /'],
  ['a space in front', ' http://good.example'],
  ['a tab inside the scheme', 'ht\ttp://good.example'],
  ['a line break', 'http://good.example/\r\nHost: evil.example'],
  ['a NUL', 'http://good.example\0.evil.example'],
  ['an invisible character', 'http://good.example/\u200b'],
  ['half a character', 'http://good.example/\ud800'],
  ['no slashes', 'http:good.example'],
  ['one slash', 'http:/good.example'],
  ['three slashes', 'http:///good.example'],
  ['no scheme', '//good.example'],
  ['a bare name', 'good.example'],
  ['nothing', ''],
  ['a scheme without a host', 'mailto:a@example.com'],
  ['a URL within a URL', 'view-source:http://good.example'],
  ['a local file', 'file:///etc/passwd'],
  ['a percent sequence in the host', 'http://good%2eexample'],
  ['an encoded slash in the host', 'http://evil.example%2f.good.example'],
  ['a name in other letters', 'http://gооd.example'],
  ['fullwidth digits', 'http://１２７.0.0.1'],
  ['an ideographic full stop', 'http://127。0。0。1'],
  ['an internationalised name', 'http://xn--mnchen-3ya.example'],
  ['an internationalised name that is plain', 'http://a.XN--example-.com'],
  ['an empty host', 'http://'],
  ['an empty host with a port', 'http://:80'],
  ['a host of one dot', 'http://.'],
  ['an empty label', 'http://good..example'],
  ['two trailing dots', 'http://good.example..'],
  ['a label that is too long', `http://${'a'.repeat(64)}.example`],
  ['a name that is too long', `http://${'abc.'.repeat(70)}example`],
  ['a semicolon in the host', 'http://good.example;evil.example'],
  ['a short quad', 'http://127.1'],
  ['a decimal address', 'http://2130706433'],
  ['a hexadecimal address', 'http://0x7f000001'],
  ['a hexadecimal byte', 'http://127.0.0.0x1'],
  ['an empty hexadecimal byte', 'http://127.0.0.0x'],
  ['an octal byte', 'http://0177.0.0.1'],
  ['leading zeros', 'http://127.000.000.001'],
  ['a byte out of range', 'http://127.0.0.256'],
  ['five bytes', 'http://1.127.0.0.1'],
  ['a number behind a name', 'http://example.1'],
  ['a quad with a trailing dot', 'http://127.0.0.1.'],
  ['an empty port', 'http://good.example:/'],
  ['port 0', 'http://good.example:0'],
  ['a port out of range', 'http://good.example:65536'],
  ['a port with leading zeros', 'http://good.example:080'],
  ['two ports', 'http://good.example:80:81'],
  ['a port that is a name', 'http://good.example:evil'],
  ['a zone', 'http://[fe80::1%eth0]'],
  ['an encoded zone', 'http://[fe80::1%25eth0]'],
  ['a future address', 'http://[v1.x]'],
  ['an open bracket', 'http://[::1'],
  ['text behind a bracket', 'http://[::1].evil.example'],
  ['a quad in brackets', 'http://[127.0.0.1]'],
  ['two gaps', 'http://[1::2::3]'],
  ['a gap for nothing', 'http://[1:2:3:4::5:6:7:8]'],
  ['three colons', 'http://[:::1]'],
  ['too few groups', 'http://[1:2:3]'],
  ['too many groups', 'http://[1:2:3:4:5:6:7:8:9]'],
  ['a group that is too long', 'http://[::12345]'],
  ['a quad in the middle', 'http://[::1.2.3.4:5]'],
  ['an octal quad in IPv6', 'http://[::ffff:0177.0.0.1]'],
]

const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.255',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.1.1.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::8.8.8.8]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[2001:0:1::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[fd00:ec2::254]',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'printer.local',
  'metadata.google.internal',
  'metadata.goog',
  'host.docker.internal',
  'nas.home.arpa',
  'router.lan',
  'wiki.intranet',
  'wiki.corp',
  'wiki',
  'kubernetes.default.svc',
  'localhost.localdomain',
]
const PUBLIC = [
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '169.253.1.1',
  '192.167.1.1',
  '198.17.1.1',
  '198.20.0.1',
  '223.255.255.255',
  '168.63.129.17',
  '[2606:4700::1111]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::8.8.8.8]',
  '[2002:808:808::1]',
  '[2001:4860:4860::8888]',
  'example.com',
  'localhost.example',
  'notlocal.example',
  'a.mylan',
]

describe('parseUrl', () => {
  test.each(READ)('%s', (text, scheme, host, port) => {
    expect(parseUrl(text)).toMatchObject({ scheme, host, port })
  })

  test.each(ATTACKS)('%s is not decided: %j', (_name, text) => {
    expect(() => parseUrl(text)).toThrow(UndecidableError)
  })
})

test('a URL of more than 2,048 characters is not decided', () => {
  const longest = `http://good.example/${'a'.repeat(2_028)}`
  expect(parseUrl(longest).host).toBe('good.example')
  expect(() => parseUrl(`${longest}a`)).toThrow(UndecidableError)
})

describe('isPrivate', () => {
  test.each(PRIVATE)('%s is private', (host) => {
    expect(isPrivate(parseUrl(`http://${host}/`))).toBe(true)
  })

  test.each(PUBLIC)('%s is public, judging by its text', (host) => {
    expect(isPrivate(parseUrl(`http://${host}/`))).toBe(false)
  })
})

const PIECES = [
  'http://',
  'https://',
  'http:',
  '/',
  '//',
  '\\',
  '@',
  ':',
  '?',
  '#',
  '.',
  '..',
  '%',
  '%2e',

  '[',
  ']',
  '::',
  ':',
  '1',
  '0',
  '0x',
  '7f',
  '127',
  '255',
  'a',
  'A',
  'xn--',
  '-',
  '_',
  'é',
  ' ',
  'example.com',
  'localhost',
  '127.0.0.1',
  '[::1]',
  '[::ffff:1.2.3.4]',
  '80',
  '65536',
  '\t',
]
const pieced = fc
  .tuple(fc.constantFrom('http://', 'https://', 'HTTP://'), fc.array(fc.constantFrom(...PIECES)))
  .map(([scheme, pieces]) => scheme + pieces.join(''))
const hexGroup = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16))
const group = fc.oneof(fc.constantFrom('', '0', '0000', '1', 'ffff', 'g', '1.2.3.4'), hexGroup)
const bracketed = fc.array(group, { maxLength: 9 }).map((groups) => `http://[${groups.join(':')}]/`)
const anything = fc.string({ unit: 'binary' }).map((tail) => `http://${tail}`)

describe('for every URL', () => {
  test('WHATWG reads the same parts', () => {
    const same = fc.property(fc.oneof(pieced, bracketed, anything, fc.webUrl()), (text) => {
      let ours: { scheme: string; host: string; port: number | null }
      try {
        ours = parseUrl(text)
      } catch (error) {
        expect(error).toBeInstanceOf(UndecidableError)
        return
      }
      const theirs = new URL(text)
      expect(`${ours.scheme}:`).toBe(theirs.protocol)
      expect(ours.host).toBe(theirs.hostname.replace(/\.$/, ''))
      const port = theirs.port === '' ? { http: 80, https: 443 }[ours.scheme] : Number(theirs.port)
      expect(ours.port).toBe(port)
    })
    fc.assert(same, runs(5_000))
  })

  test('every spelling of an address that WHATWG reads as private is private or undecidable', () => {
    const byte = fc.constantFrom('127', '0177', '0x7f', '10', '012', '0xa', '0', '1', '169', '254')
    const spelled = fc.array(byte, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
    const safe = fc.property(spelled, (host) => {
      const { hostname } = new URL(`http://${host}`)
      if (!/^(?:127|10|0|169\.254)\./.test(hostname)) return
      try {
        expect(isPrivate(parseUrl(`http://${host}`))).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(UndecidableError)
      }
    })
    fc.assert(safe, runs(3_000))
  })
})
