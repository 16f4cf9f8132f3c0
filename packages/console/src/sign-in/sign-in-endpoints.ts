// Signing in and out, and the passkeys of the person who is signed in. A code of `sluice console` or an
// invitation lets a page in once; a passkey at any time; an authorisation server, or a token of one,
// where its claims give a role. Adding a passkey needs more than a page's token: PIN, or another passkey.

import type { IncomingMessage } from 'node:http'
import type { ApprovalLinks } from '@sluice/access/identity/keys/approval-links'
import type { Passkey, Passkeys, RelyingParty } from '@sluice/access/identity/people/passkeys'
import { asPerson, type People } from '@sluice/access/identity/people/people'
import type { Person } from '@sluice/access/identity/person'
import {
  form,
  object,
  required,
  text,
  textOrEmpty,
  word,
} from '@sluice/policy/document/build-shape'
import type { FieldValues } from '@sluice/policy/document/shape'
import { isObject } from '@sluice/policy/values/json'
import { bearerOf } from '../http/bearer-token.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { GUEST_FRESH_MS, GUEST_MS } from '../http/limits.ts'
import type { Challenges } from './challenges.ts'
import type { ExternalSignIn, IssuerAnswer } from './external-sign-in.ts'
import type { ActiveSignIn, SignIns } from './sign-ins.ts'

/** The ways in, before anybody has signed in. */
export interface SignInMethods {
  /** Somebody has a passkey for this address. */
  readonly passkey: boolean
  /** Where `sluice console` has to be run for a code. */
  readonly code: true
  /** `onPage`: people sign in there from this page. */
  readonly issuers: readonly {
    readonly name: string
    readonly issuer: string
    readonly onPage: boolean
  }[]
}

/** One of these is sent to sign in. */
export type SignIn = FieldValues<typeof SIGN_IN>
/** `GET /api/me`: who is signed in. */
export interface CurrentPerson extends Person {
  /** The passkeys of this address. */
  readonly passkeys: readonly Pick<Passkey, 'id' | 'label' | 'createdMs' | 'usedMs'>[]
  readonly hasPin: boolean
  /** Whether it can decide now: it has a passkey for this address, or is a system. */
  readonly mayProve: boolean
  /** When it has to sign in again. */
  readonly expiresAtMs: number
}

export interface SignedIn {
  readonly token: string
  readonly me: CurrentPerson
}

export interface SignInParts {
  readonly people: People
  readonly passkeys: Passkeys
  readonly challenges: Challenges
  readonly signIns: SignIns
  readonly links: ApprovalLinks
  readonly rpOf: (request: IncomingMessage) => RelyingParty
  /** Who a token of an authorisation server is, and until when; throws ApiError. */
  readonly guestOf: (jwt: string, rp: RelyingParty) => Promise<{ person: Person; untilMs: number }>
  readonly issuers: SignInMethods['issuers']
  readonly elsewhere: Pick<ExternalSignIn, 'begin' | 'finish'>
  /** Whether another user of this machine than the gate's is at the other end. */
  readonly isOtherUser: (request: IncomingMessage) => Promise<boolean>
  /** A wrong one is recorded. Throws OperationError. */
  readonly provePin: (name: string, pin: string) => Promise<void>
  /** Writes an event to the ledger: its name, and its detail. */
  readonly record: (how: string, name: string, by: Person) => Promise<void>
  readonly nowMs: () => number
}

const TEXT = text(16_384)
const ANY = { kind: 'any' } as const
/** A secret of a tab, and its hash (RFC 7636). */
const VERIFIER = form('verifier', /^[\w.~-]{43,128}$/, 'as in RFC 7636', { secret: true })
const CHALLENGE = { ...VERIFIER, noun: 'challenge', form: /^[\w-]{43}$/ } as const
const ANSWER = object('an answer of an authorisation server', {
  code: required(text(4_096), 'as the browser brought it'),
  state: required(text(1_000), 'as the browser brought it'),
  iss: { shape: text(2_048), doc: 'as the browser brought it' },
  verifier: required(VERIFIER, 'the secret of the tab'),
})
const SIGN_IN = {
  code: { shape: TEXT, doc: 'of `sluice console` or an invitation' },
  assertion: { shape: ANY, doc: 'of a passkey' },
  jwt: { shape: TEXT, doc: 'of an authorisation server' },
  answer: { shape: ANSWER, doc: 'what the browser came back with' },
} as const
const NEW_PASSKEY = {
  label: required(text(64), 'what it is called'),
  attestation: required(ANY, 'of the browser'),
  /** Not a text: a message of the shape's would have the PIN in it. */
  pin: { shape: ANY, doc: 'of the person' },
} as const
const PROOF_WISH = {
  method: required(word(['POST', 'PUT', 'DELETE']), 'of the request'),
  path: required(
    form('path of the API', /^\/api\/.{0,1994}$/s, 'with its query'),
    'of the request',
  ),
  body: required(textOrEmpty(1_024 * 1_024), 'of the request'),
} as const

export function signInEndpoints(parts: SignInParts): Endpoint[] {
  const { passkeys, challenges, signIns, rpOf, nowMs } = parts
  return [
    endpoint('GET /api/sign-in', {
      role: 'anyone',
      summary: 'the ways to sign in here',
      handle: ({ request }): SignInMethods => ({
        passkey: passkeys.existFor(rpOf(request).id),
        code: true,
        issuers: parts.issuers,
      }),
    }),
    endpoint('POST /api/sign-in/challenge', {
      role: 'anyone',
      summary: 'what a passkey has to sign to sign in',
      handle: async ({ request }) => ({ challenge: await challenges.forSignIn(rpOf(request)) }),
    }),
    endpoint('POST /api/sign-in/issuers/:name', {
      role: 'anyone',
      input: { challenge: required(CHALLENGE, 'of the tab') },
      summary: 'where a browser signs in at an authorisation server; it comes back to the page',
      handle: ({ input: { name, challenge }, request }) =>
        parts.elsewhere.begin(name, challenge, rpOf(request).origin),
    }),
    endpoint('POST /api/links', {
      role: 'anyone',
      input: { link: required(TEXT, 'of the address') },
      summary:
        'whom a link of a message is for, and what that one’s passkey has to sign to sign in',
      handle: async ({ input, request }) => {
        const link = parts.links.read(input.link, nowMs())
        if (link === undefined)
          throw new ApiError('API_SIGN_IN', 'the link is too old, or none', 'sign in by yourself')
        const { approval, approver } = link
        const challenge = await challenges.forSignIn(rpOf(request), approver)
        return { approval, approver, challenge }
      },
    }),
    endpoint('POST /api/sign-in', {
      role: 'anyone',
      input: SIGN_IN,
      summary:
        'sign in, by a one-time code, a passkey, or an authorisation server’s answer or token',
      handle: async ({ input, request }): Promise<SignedIn> => {
        const { token, as } = await begin(parts, input, request)
        return { token, me: viewMe(parts, as, rpOf(request)) }
      },
    }),
    endpoint('DELETE /api/sign-in', {
      role: 'viewer',
      summary: 'sign out',
      handle: ({ request }) => {
        signIns.end(bearerOf(request) ?? '')
        return { signedOut: true }
      },
    }),
    endpoint('GET /api/me', {
      role: 'viewer',
      summary: 'who is signed in',
      handle: ({ request }) => viewMe(parts, signIns.who(bearerOf(request)), rpOf(request)),
    }),
    ...passkeyEndpoints(parts),
  ]
}

function passkeyEndpoints(parts: SignInParts): Endpoint[] {
  const { passkeys, challenges, rpOf, record } = parts
  return [
    endpoint('POST /api/proofs', {
      role: 'viewer',
      input: PROOF_WISH,
      summary: 'what a passkey has to sign for one request',
      handle: async ({ input, person, request }) => ({
        challenge: await challenges.forAction(person, input, rpOf(request)),
      }),
    }),
    endpoint('POST /api/passkeys/challenge', {
      role: 'viewer',
      summary: 'what a browser has to make a passkey for',
      handle: async ({ person, request }) => {
        if (person.kind === 'system')
          throw new ApiError('API_ROLE', 'a system has no passkeys', 'its credential is enough')
        return { challenge: await challenges.forRegistration(person.name, rpOf(request)) }
      },
    }),
    endpoint('POST /api/passkeys', {
      role: 'viewer',
      proof: 'offered',
      input: NEW_PASSKEY,
      summary: 'add a passkey of one’s own: with the PIN, or with the proof of another passkey',
      handle: async ({ input: { pin, ...passkey }, person, isProven, request }) => {
        if (!isProven) await mayAdd(parts, parts.signIns.who(bearerOf(request)), pin)
        return addPasskey(parts, person, passkey, rpOf(request))
      },
    }),
    endpoint('DELETE /api/passkeys/:id', {
      role: 'viewer',
      proof: true,
      summary: 'remove a passkey of one’s own',
      handle: async ({ input, person }) => {
        if (!passkeys.list(person.name).some(({ id }) => id === input.id))
          throw new ApiError('API_NOT_FOUND', 'no such passkey', 'see /api/me')
        await record('passkey removed', person.name, person)
        return { removed: passkeys.remove(person.name, input.id) }
      },
    }),
  ]
}

async function addPasskey(
  { passkeys, challenges, record, nowMs }: SignInParts,
  person: Person,
  { label, attestation }: { readonly label: string; readonly attestation: unknown },
  rp: RelyingParty,
) {
  const challenge = challenges.registering(person.name, attestation)
  const registration = { attestation, challenge, label }
  const key = await passkeys.register(person.name, rp, registration, nowMs())
  await record('passkey added', person.name, person).catch((error: Error) => {
    // What cannot be recorded is not done.
    passkeys.remove(person.name, key.id)
    throw error
  })
  const { id, createdMs, usedMs } = key
  return { id, label, createdMs, usedMs }
}

async function begin(
  parts: SignInParts,
  { code, assertion, jwt, answer }: FieldValues<typeof SIGN_IN>,
  request: IncomingMessage,
): Promise<{ token: string; as: ActiveSignIn }> {
  const { people, signIns, challenges, guestOf, elsewhere, record, nowMs } = parts
  if (code !== undefined) return signIns.redeem(code, () => parts.isOtherUser(request))
  const rp = parts.rpOf(request)
  if (isObject(assertion)) {
    const stored = people.find(await challenges.signIn(assertion, rp))
    // Who comes from an authorisation server shows its token first: roles are in there.
    if (stored === undefined)
      throw new ApiError('API_SIGN_IN', 'this passkey signs nobody in', 'sign in elsewhere first')
    return signIns.begin(asPerson(stored, 'passkey'))
  }
  if (jwt === undefined && answer === undefined)
    throw new ApiError(
      'API_REQUEST',
      'nothing to sign in with',
      'send code, assertion, answer or jwt',
    )
  const { person, untilMs } =
    answer === undefined
      ? await guestOf(jwt as string, rp)
      : await elsewhere.finish(answer as IssuerAnswer, rp.origin)
  // No administrator added this person: the sign-in is recorded.
  await record('signed in', person.name, person)
  // Whatever a token says of its end: a group that was taken away must not last longer.
  return signIns.begin(person, Math.min(untilMs, nowMs() + GUEST_MS))
}

/** A page's token alone adds no key: a stolen token would give permanent access. */
async function mayAdd(
  { people, passkeys, provePin, nowMs }: SignInParts,
  { person, sinceMs }: ActiveSignIn,
  pin: unknown,
): Promise<void> {
  const stored = people.find(person.name)
  if (stored !== undefined && stored.pinSetMs !== null) {
    if (typeof pin !== 'string')
      throw new ApiError('API_PROOF', 'adding a passkey needs your PIN', 'type it on this page')
    return provePin(person.name, pin)
  }
  // Invited, or signed in elsewhere just now, and without anything yet. An access token is no sign-in of a
  // person: an agent that got one would make itself a key, and approve its own calls.
  const isNew = passkeys.list(person.name).length === 0
  const isFresh = person.proof === 'oauth' && nowMs() - sinceMs < GUEST_FRESH_MS
  if (isNew && (stored !== undefined || isFresh)) return
  if (isNew)
    throw new ApiError(
      'API_PROOF',
      'a first passkey is added right after signing in with a browser',
      'sign in on the page with the authorisation server',
    )
  throw new ApiError('API_PROOF', 'adding a passkey needs another one', 'prove it at /api/proofs')
}

function viewMe(
  { people, passkeys }: SignInParts,
  { person, untilMs }: ActiveSignIn,
  rp: RelyingParty,
): CurrentPerson {
  const keys = passkeys.list(person.name, rp.id)
  return {
    ...person,
    passkeys: keys.map(({ id, label, createdMs, usedMs }) => ({ id, label, createdMs, usedMs })),
    hasPin: (people.find(person.name)?.pinSetMs ?? null) !== null,
    mayProve: person.kind === 'system' || keys.length > 0,
    expiresAtMs: untilMs,
  }
}
