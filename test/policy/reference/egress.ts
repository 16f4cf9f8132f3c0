// `egress` of the reference: which hosts the texts that are drawn name, as a table, and which lists hold.
// Deliberately without a parser: the table was written from the language page.

import type { Call } from '@sluice/policy/calls/call'
import type { JsonValue } from '@sluice/policy/values/json'
import type { RefDocument } from './document.ts'
import { isGlob, isWider, matchesKey } from './globs.ts'

/** Undefined: URL parsers read it differently. */
export const ADDRESS_TEXTS: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ['https://a.example/x?y=1', ['a.example']],
  ['see http://x.b.example, or ws://a.example:81/.', ['x.b.example', 'a.example']],
  ['//evil.example/x', ['evil.example']],
  ['git@a.example:x/y', ['a.example']],
  ['https:evil.example', undefined],
  ['https:/\\\\evil.example', undefined],
  ['https://a.example@evil.example', undefined],
  ['http://127.1/', undefined],
  ['file:///etc/hosts', []],
  ['a.example', ['a.example']],
  ['http: the protocol', []],
  ['HTTPS://B.EXAMPLE', ['b.example']],
  ['https://a.example\t.c.example/', ['a.example', 'a.example.c.example']],
  ["https://a.example'@c.example", undefined],
  ['scp x ann@c.example:y', ['c.example']],
])

export const HOSTS = ['a.example', '*.b.example', 'b.example', 'c.example']

/** Pointer of the list that denies the call. */
export function egressDenial(
  { egress = {} }: RefDocument,
  { server, name, args, method }: Call,
): string | undefined {
  // URIs that are drawn have a scheme of their server's own.
  if (!['tools/call', 'prompts/get', 'completion/complete'].includes(method)) return undefined
  const exact = `${server}/${name}`
  const globs = Object.keys(egress).filter((key) => isGlob(key) && matchesKey(key, server, name))
  const keys = Object.hasOwn(egress, exact)
    ? [exact]
    : globs.filter((glob) => !globs.some((other) => isWider(glob, other))).sort()
  const named = textsIn(args).map((text) =>
    ADDRESS_TEXTS.has(text) ? ADDRESS_TEXTS.get(text) : [],
  )
  const isUnreadable = named.some((hosts) => hosts === undefined)
  const denying = keys.find((key) => {
    const isListed = (host: string) =>
      (egress[key] ?? []).some(
        (listed) => listed === host || (listed[0] === '*' && host.endsWith(listed.slice(1))),
      )
    return isUnreadable || !named.every((hosts) => hosts?.every(isListed))
  })
  return denying === undefined ? undefined : `/egress/${denying.replaceAll('/', '~1')}`
}

function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((item) => textsIn(item as JsonValue))
}
