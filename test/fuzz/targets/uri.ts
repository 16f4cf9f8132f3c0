// The normal form of URIs: total, and a URI that counts as normal is its own only reading, and is read by
// the WHATWG parser as exactly what is written.

import { normaliseUriPattern, readUri } from '@sluice/policy/expression/functions/resource-uri'
import { decodePercent } from '@sluice/policy/readers/percent'
import { UriTemplate } from '../../../packages/protocol/src/uri-template.ts'

export const seeds = [
  'file:///public/a%20b/../c.txt',
  'http://user@EXAMPLE.com:80/%7Ea/./b?x=1#f',
  'notes://list/1',
  'file://localhost/etc%2fpasswd',
  'file:///notes/{name}',
]
export const tokens = ['%2e', '%2F', '%5c', '..', '//', '\\', '%00', '%25', '%EF%BC%8E', '[::1]']

export function run(input: Buffer): void {
  const uri = input.toString('utf8')
  const { isNormal, readings } = readUri(uri)
  // Escapes of reserved characters, such as `%27`, count as the character itself; so do both cases of a
  // drive letter.
  const written = uri.replace(/^file:\/\/\/[a-z](?=:(?:\/|$))/, (start) =>
    start.replace(/.$/, (drive) => drive.toUpperCase()),
  )
  if (isNormal && (decodePercent(readings[0]) !== decodePercent(written) || readings.length > 1))
    throw new Error(`normal, but also read as ${readings.join(' ')}`)
  if (isNormal && /^(?:file|https?):/.test(uri)) {
    const { href } = new URL(uri)
    if (href !== uri && href !== `${uri}/` && href.replace('/?', '?') !== uri)
      throw new Error(`normal, but read as ${href}`)
  }
  normaliseUriPattern(uri)
  new UriTemplate(uri).fits(uri)
}
