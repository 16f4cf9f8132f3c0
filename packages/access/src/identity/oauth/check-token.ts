// What the gate checks of a token before it shows it to anybody. Signatures are the business of the server that a
// token is for: nothing of it is trusted beyond what is refused because of it.

import { expiryOf, readJwt } from './login.ts'

const isFor = (value: unknown, wanted: unknown): boolean => [value].flat().includes(wanted)

/** Throws if a JWT is for none of these audiences. Of an opaque token that cannot be known. */
export function checkAudience(token: string, names: readonly (string | undefined)[]): void {
  const wanted = names.filter((one) => one !== undefined)
  const { aud } = readJwt(token, 'claims')
  if (wanted.length === 0 || aud === undefined || wanted.some((one) => isFor(aud, one))) return
  throw new Error(`the token is for \`${String(aud).slice(0, 200)}\`, not for the server`)
}

/** Throws if an identity assertion (ID-JAG) is not one, or not for this server, client and resource. */
export function checkIdJag(
  token: string,
  expected: { aud: string | undefined; client_id: string; resource: string | undefined },
  nowMs: number,
): void {
  const claims = readJwt(token, 'claims')
  const expiresMs = expiryOf(token)
  const wrong = (why: string) => new Error(`the identity assertion cannot be used: ${why}`)
  if (expiresMs === undefined || readJwt(token, 'header').typ !== 'oauth-id-jag+jwt')
    throw wrong('it is no ID-JAG')
  if (expiresMs <= nowMs) throw wrong('it has expired')
  for (const [name, value] of Object.entries(expected)) {
    const isLeftOut = name === 'resource' && claims.resource === undefined
    if (!isLeftOut && !isFor(claims[name], value))
      throw wrong(`its \`${name}\` is \`${String(claims[name]).slice(0, 200)}\``)
  }
}
