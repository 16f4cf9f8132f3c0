// Rules on resources, tested with other spellings of the URIs they name: what six URI parsers read
// (uri-parsers.test-support.ts) must be what the rules were compared with.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import { sampleFacts } from '../../cases/sample-facts.ts'
import { compile } from '../../compile/compile.ts'
import { decide, isVisible } from '../../decide/decide.ts'
import type { TraceStep } from '../../decide/trace.ts'
import { normaliseUriPattern, readUri } from './resource-uri.ts'
import { listPlaces, type Place } from './uri-parsers.test-support.ts'

const NOW = { wallMs: 0, monotonicMs: 0 }
const USAGE = {
  look: ({ max }: { max: { units: bigint; scale: number } }) => ({
    passes: true,
    remaining: max,
    retryAfterMs: 0,
  }),
}

function policyOf(text: string) {
  const { policy, problems } = compile({ file: 'p', text })
  if (policy === undefined) throw new Error(problems.map(({ message }) => message).join('\n'))
  return policy
}

type Options = { isListed?: boolean; method?: string; trace?: TraceStep[] }

function ask(policy: ReturnType<typeof policyOf>, uri: string, options: Options = {}) {
  const { isListed = false, method = 'resources/read', trace } = options
  const args = method === 'completion/complete' ? { ref: { type: 'ref/resource', uri } } : { uri }
  const call = { server: 's', method, name: method.startsWith('resources/') ? uri : '', args }
  return decide(policy, call, { ...sampleFacts(undefined), isListed }, USAGE, NOW, trace)
}

/** From the review: all of them lead to /secret/key in some server. */
const SPELLINGS = [
  'file:///public/../secret/key',
  'file:///public/%2e%2e/secret/key',
  'file:///public/.%2E/secret/key',
  'file:///public/..%2fsecret/key',
  'file:///public/..%5csecret/key',
  'file:///public/../secret/key#x',
  'FILE:///secret/key',
  'file://localhost/secret/key',
  'file://elsewhere/secret/key',
  'file:///%73ecret/key',
  'file:/secret/key',
  'file:secret/key',
  'file:////secret/key',
  'file:///sec\tret/key',
  ' file:///secret/key',
  'file:\\\\\\secret\\key',
  'file:///public/%c0%ae%c0%ae/secret/key',
  'file:///public/%252e%252e/secret/key',
  'file:///public/..;/secret/key',
  'file:///secret%2Fkey',
  'file:///secret/key%00',
  'file:///./secret/key',
] as const

const DENIES = policyOf('{ version: 1, default: allow, resources: { "s/file:///secret/*": deny } }')
const ALLOWS = policyOf('{ version: 1, default: deny, resources: { "s/file:///public/*": allow } }')
const HIDES = policyOf('{ version: 1, default: allow, resources: { "s/file:///secret/*": hide } }')

describe('F3: another spelling of the URI does not bypass a resource rule', () => {
  test.each(SPELLINGS)('%j', (uri) => {
    expect(ask(DENIES, uri).action).toBe('deny')
    expect(ask(ALLOWS, uri).action).toBe('deny')
    expect(['deny', 'hide']).toContain(ask(HIDES, uri).action)
    for (const method of ['resources/subscribe', 'completion/complete'])
      expect(ask(DENIES, uri, { method }).action).toBe('deny')
  })

  test('a spelling listed by the server lifts the refusal, not the rule', () => {
    for (const uri of SPELLINGS) {
      expect(ask(DENIES, uri, { isListed: true }).action).toBe('deny')
      expect(ask(ALLOWS, uri, { isListed: true }).action).toBe('deny')
      expect(ask(HIDES, uri, { isListed: true }).action).toBe('hide')
      const target = { server: 's', method: 'resources/read', name: uri }
      expect(isVisible(HIDES, target, { ...sampleFacts(undefined), isListed: true }, NOW)).toBe(
        false,
      )
    }
    const odd = 'FILE:///public/My File.txt'
    expect(ask(ALLOWS, odd)).toMatchObject({ action: 'deny', rule: 'built-in' })
    expect(ask(ALLOWS, odd, { isListed: true })).toMatchObject({ action: 'allow' })
  })

  test('what is in normal form passes as before', () => {
    for (const uri of ['file:///public/a%20b', 'file:///public/caf%C3%A9/', 'file:///public/a@b'])
      expect(ask(ALLOWS, uri)).toMatchObject({
        action: 'allow',
        rule: '/resources/s~1file:~1~1~1public~1*',
      })
    expect(ask(DENIES, 'memo:note').action).toBe('allow')
    expect(ask(DENIES, 'db://host/table?limit=10').action).toBe('allow')
  })

  test('without rules on URIs, spellings are up to the server', () => {
    const read = policyOf('{ version: 1, default: deny, categories: { Read: allow } }')
    for (const uri of SPELLINGS) expect(ask(read, uri).action).toBe('allow')
    const shadow = policyOf(
      '{ version: 1, mode: shadow, default: allow, resources: { "s/file:///secret/*": deny } }',
    )
    for (const uri of SPELLINGS) expect(ask(shadow, uri).action).toBe('allow')
  })

  test('a condition on `args.uri` is a rule on URIs', () => {
    const text = `{ version: 1, default: allow, guardrails: [{ name: g, match: { methods: [resources/read] },
      when: 'args.uri.startsWith("file:///secret/")', action: deny }] }`
    for (const uri of SPELLINGS) {
      expect(ask(policyOf(text), uri).action).toBe('deny')
      expect(ask(policyOf(text), uri, { isListed: true }).action).toBe('deny')
    }
    const house = policyOf(text)
    const { policy } = compile(
      { file: 'p', text: '{ version: 1, default: allow }' },
      { base: house },
    )
    for (const uri of SPELLINGS) expect(ask(policy as never, uri).action).toBe('deny')
  })

  test('an exact rule applies to what servers consider the same resource', () => {
    const policy = policyOf(
      '{ version: 1, default: allow, resources: { "s/http://h/secret": deny, "s/http://h/a%2Fb": allow } }',
    )
    for (const more of ['', '/', '?x=1', ';v=1', ';v=1?x', '%3Fx', '/;v'])
      expect(ask(policy, `http://h/secret${more}`).action).toBe('deny')
    expect(ask(policy, 'http://u@h/secret', { isListed: true }).action).toBe('deny')
    expect(ask(policy, 'http://h/secrets?x=1').action).toBe('allow')
    expect(ask(policy, 'http://h/a%2fb', { isListed: true })).toMatchObject({
      rule: '/resources/s~1http:~1~1h~1a%2Fb',
    })
  })

  test('a number in place of a host is an id, and an address to rules that name the address', () => {
    const policy = policyOf(`{ version: 1, default: allow, resources: { "*/*://7": deny,
      "s/redis://127.0.0.1*": deny, "s/sql://2130706433:99": deny } }`)
    for (const uri of ['a://9', 'issue://1234567890', 'a://99999999999/x'])
      expect(ask(policy, uri).action).toBe('allow')
    for (const uri of ['a://7', 'redis://2130706433', 'redis://2130706433/0', 'sql://127.0.0.1:99'])
      expect(ask(policy, uri)).toMatchObject({ action: 'deny', rule: expect.stringMatching('^/') })
    for (const uri of ['redis://127.1', 'redis://0x7f000001', 'a://07', 'http://9/'])
      expect(ask(policy, uri)).toMatchObject({ action: 'deny' })
  })

  test('a URI that is too long to be read is refused, listed or not', () => {
    const long = `file:///public/${'a'.repeat(9_000)}`
    expect(ask(ALLOWS, long, { isListed: true })).toMatchObject({ action: 'deny' })
    expect(ask(DENIES, long, { isListed: true })).toMatchObject({ rule: 'built-in' })
  })

  test('the trace ends with the refusal', () => {
    const trace: TraceStep[] = []
    ask(ALLOWS, 'FILE:///public/x', { trace })
    expect(trace.at(-1)).toMatchObject({ step: 'decision', action: 'deny', rule: 'built-in' })
  })
})

describe('patterns', () => {
  test.each([
    ['FILE:///secret/*', 'file:///secret/*'],
    ['file:/secret/*', 'file:///secret/*'],
    ['file://localhost/s?', 'file:///s?'],
    ['file:/*', 'file:/*'],
    ['*://Secret/*', '*://Secret/*'],
    ['http://*.Example.com:80/*', 'http://*.example.com/*'],
    ['http://Host?Query=*', 'http://host?Query=*'],
    ['http://münchen.example/*', 'http://xn--mnchen-3ya.example/*'],
    ['http://0x7f.1/ü*', 'http://127.0.0.1/%C3%BC*'],
    ['http://[::0:1]/*', 'http://[::1]/*'],
    ['file:///a/../b', 'file:///b'],
    ['db://x/%7euser*', 'db://x/~user*'],
  ])('%s is compared as %s', (pattern, normal) => {
    expect(normaliseUriPattern(pattern)).toBe(normal)
  })

  test('one that matches nothing, or the same as another, is an error', () => {
    const resources = (keys: string) => `{ version: 1, default: allow, resources: { ${keys} } }`
    expect(() => policyOf(resources('"s/file:///a/../*": deny'))).toThrow('matches no URI')
    expect(() => policyOf(resources('"s/file:///a#b": deny'))).toThrow('matches no URI')
    expect(() => policyOf(resources('"s/file:///a": deny, "s/FILE:///a": allow'))).toThrow(
      'names the same URIs',
    )
  })
})

const BASES = ['file:///secret/key', 'http://files.example/secret/key', 'memo://notes/secret/key']
const PUBLIC = BASES.map((base) => base.replace('secret', 'public'))

type Change = (uri: string, at: number) => string
const insert =
  (text: string): Change =>
  (uri, at) =>
    uri.slice(0, at) + text + uri.slice(at)
const replace =
  (from: string | RegExp, to: string): Change =>
  (uri) =>
    uri.replace(from, to)
const CHANGES: readonly Change[] = [
  '%2e',
  '%2E',
  '.',
  '..',
  '/',
  '//',
  '\\',
  '%2f',
  '%5C',
  '%252e',
  '%c0%ae',
  '%00',
  '\0',
  '\t',

  '\n',
  ' ',
  '#',
  '#x',
  '?',
  '?x=1',
  ';',
  ';a=b',
  '@',
  'u@',
  ':',
  ':80',
  ':0080',
  '.',
  '%',
  '*',

  '\u00ad',
  '\u200d',
  '\u3002',
  '\uff0f',
  '\uff0e',
  '\u0301',
  '%CC%81',
  '%EF%BC%8F',
  '/..',
  '/.',
  '/../secret',
  '/../../secret/key',
  '%2f..%2f..%2fsecret%2fkey',
  '..;/',
  '..\\',
  '{x}',
  '%25',
].map(insert)
const MORE: readonly Change[] = [
  // One character in another case, or encoded, once or twice.
  (uri, at) => uri.slice(0, at) + uri.charAt(at).toUpperCase() + uri.slice(at + 1),
  (uri, at) => uri.slice(0, at) + encoded(uri.charAt(at)) + uri.slice(at + 1),
  (uri, at) => uri.slice(0, at) + encoded(uri.charAt(at)).toLowerCase() + uri.slice(at + 1),
  (uri, at) => uri.slice(0, at) + encoded(uri.charAt(at)).replace('%', '%25') + uri.slice(at + 1),
  // In full width: IDNA folds it in hosts.
  (uri, at) => {
    const code = uri.charCodeAt(at)
    const wide = code > 0x20 && code < 0x7f ? String.fromCharCode(code + 0xfee0) : ''
    return uri.slice(0, at) + wide + uri.slice(at + 1)
  },
  replace('file:///', 'file:/'),
  replace('file:///', 'file:'),
  replace('file:///', 'file://localhost/'),
  replace('file:///', 'file://127.0.0.1/'),
  replace('file:///', 'file:////'),
  replace('://', ':/'),
  replace('://', ':'),
  replace('://', ':\\\\'),
  replace('http:', 'HTTP:'),
  replace('files.example', 'files.example.'),
  replace('/secret/', '/public/../secret/'),
  replace('/public/', '/public/../secret/'),
  replace('/public/', '/public/%2e%2e/secret/'),
  replace('/public/', '/public/..%2Fsecret/'),
  replace(/key$/, 'key/'),
  replace(/key$/, 'key.'),
  (uri) => `${uri}/../key`,
  (uri) => uri.normalize('NFD'),
]

function encoded(character: string): string {
  return `%${(character.codePointAt(0) ?? 0x2e).toString(16).toUpperCase().padStart(2, '0').slice(-2)}`
}

const spelling = fc
  .tuple(
    fc.constantFrom(...BASES, ...PUBLIC),
    fc.array(
      fc.tuple(fc.constantFrom(...CHANGES, ...MORE), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        maxLength: 4,
      },
    ),
  )
  .map(([base, changes]) =>
    changes.reduce((uri, [change, where]) => change(uri, Math.round(where * uri.length)), base),
  )

const OWN = BASES.map((base) => listPlaces(base)[0] as Place)

test('F3: no spelling that one of six parsers misreads bypasses a rule', () => {
  const glob = (word: string, rest: string, uris: readonly string[]) =>
    policyOf(
      `{ version: 1, default: ${rest}, resources: { ${uris.map((uri) => `"s/${uri}": ${word}`)} } }`,
    )
  const denies = glob(
    'deny',
    'allow',
    BASES.map((base) => base.replace(/key$/, '*')),
  )
  const hides = glob(
    'hide',
    'allow',
    BASES.map((base) => base.replace(/key$/, '*')),
  )
  const deniesOne = glob('deny', 'allow', BASES)
  const allows = glob(
    'allow',
    'deny',
    PUBLIC.map((base) => base.replace(/key$/, '*')),
  )
  const property = fc.property(spelling, (uri) => {
    const places = listPlaces(uri)
    const isIn = (folder: string) => (place: Place) =>
      OWN.some(({ scheme, host }) => place.scheme === scheme && place.host === host) &&
      place.path.startsWith(`/${folder}/`)
    if (places.some(isIn('secret'))) {
      expect(ask(denies, uri).action).not.toBe('allow')
      expect(ask(hides, uri).action).not.toBe('allow')
    }
    if (places.some((each) => isIn('secret')(each) && each.path === '/secret/key'))
      expect(ask(deniesOne, uri).action).not.toBe('allow')
    const isOutside = (place: Place) => !isIn('public')(place) && place.path !== '/public'
    if (places.some(isOutside)) expect(ask(allows, uri).action).not.toBe('allow')
    const { isNormal, readings } = readUri(uri)
    if (isNormal) expect(readUri(readings[0])).toMatchObject({ isNormal: true, readings })
  })
  fc.assert(property, { ...runs(1_500), seed: 20261115 })
})
