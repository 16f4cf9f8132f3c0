// Templates with URIs that they generate, URIs that they do not, and templates of a hostile server.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UriTemplate } from './uri-template.ts'

const fits = (template: string, uri: string): boolean => new UriTemplate(template).fits(uri)

describe('a template', () => {
  test.each([
    ['demo://resource/dynamic/text/{resourceId}', 'demo://resource/dynamic/text/1'],
    ['file:///{+path}', 'file:///a/b/c.txt'],
    ['db://{schema}/{table}{?limit,offset}', 'db://public/users'],
    ['db://{schema}/{table}{?limit,offset}', 'db://public/users?limit=10&offset=2'],
    ['repo://{owner}/{repo}/contents{/path*}', 'repo://a/b/contents'],
    ['repo://{owner}/{repo}/contents{/path*}', 'repo://a/b/contents/src/main.ts'],
    ['note://{name}', 'note://été 2026'],
    ['x://a{#frag}', 'x://a#b/c?d'],
    ['x://a{.ext}', 'x://a.tar.gz'],
    ['x://a{;p,q}', 'x://a;p=1;q=2'],
    ['x://a?fixed=1{&more*}', 'x://a?fixed=1&b=2&c=3'],
    ['x://{name:3}{last}', 'x://abcdef'],
    ['mem://plain', 'mem://plain'],
  ])('%s fits %s', (template, uri) => expect(fits(template, uri)).toBe(true))

  test.each([
    ['demo://resource/dynamic/text/{resourceId}', 'demo://resource/dynamic/blob/1'],
    ['demo://resource/{id}', 'demo://resource/1/2'],
    ['demo://resource/{id}', 'demo://resource/1?x=1'],
    ['x://a{?q}', 'x://ab=1'],
    ['x://a{/path*}', 'x://ab'],
    ['mem://plain', 'mem://plainer'],
    ['mem://plain', 'mem://plai'],
    ['x://{', 'x://{'],
    ['x://}', 'x://}'],
    ['x://{}', 'x://a'],
    ['x://{a b}', 'x://a'],
    ['x://{!a}', 'x://a'],
  ])('%s does not fit %s', (template, uri) => expect(fits(template, uri)).toBe(false))

  test('matches what is expanded from it', () => {
    const value = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '.', '%41') })
    const piece = fc.record({ text: fc.constantFrom('', '/', 'x', '/y/', '.'), value })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const template = pieces.map(({ text }, at) => `${text}{v${at}}`).join('')
        const uri = pieces.map(({ text, value: filled }) => text + filled).join('')
        expect(fits(`x://${template}`, `x://${uri}`)).toBe(true)
        expect(fits(`x://${template}!`, `x://${uri}`)).toBe(false)
      }),
    )
  })

  test('a template that takes a backtracking matcher exponential time', () => {
    const template = `x://${'{a}'.repeat(49)}!`
    expect(fits(template, `x://${'a'.repeat(4_000)}`)).toBe(false)
    expect(fits(`x://${'{a}b'.repeat(200)}`, 'x://b')).toBe(false)
    expect(fits('x://{+a}', `x://${'a'.repeat(100_000)}`)).toBe(false)
  })
})
