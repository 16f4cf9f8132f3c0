// Passkeys (WebAuthn) of people: registration, and verification of assertions. User verification is
// always required: possession of the device does not prove that the person is present. Bound to the
// page's origin (relying party).

import { hash } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import {
  BYTES,
  column,
  createRowReader,
  json,
  NUMBER,
  nullable,
  TEXT,
} from '@sluice/ledger/store/read-row'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject } from '@sluice/policy/values/json'
import { PASSKEYS_EACH_MAX } from '../limits.ts'
import { hasRole } from '../person.ts'
import { canProve, type People } from './people.ts'

/** The relying party: the page's host name and origin. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

export interface Passkey {
  readonly id: string
  readonly person: string
  readonly rp: string
  readonly label: string
  readonly createdMs: number
  readonly usedMs: number | null
  readonly transports: readonly AuthenticatorTransport[]
}

/** Loaded for the first passkey: its hundreds of files take more CPU than the start of the gate's page. */
const webAuthn = () => import('@simplewebauthn/server')

/** EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257]

const COLUMNS = `id, person, rp, label, created_ms AS createdMs, used_ms AS usedMs, transports,
  public_key AS publicKey, counter`
const ADD = 'INSERT INTO passkeys VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)'

const readPasskey = createRowReader<Passkey>({
  id: TEXT,
  person: TEXT,
  rp: TEXT,
  label: TEXT,
  createdMs: NUMBER,
  usedMs: nullable(NUMBER),
  transports: json(),
})

/** What an assertion is verified with. */
interface StoredCredential {
  readonly owner: string
  readonly publicKey: Uint8Array
  readonly counter: number
}

const readCredential = createRowReader<StoredCredential>({
  owner: column('person', TEXT),
  publicKey: BYTES,
  counter: NUMBER,
})

export class Passkeys {
  readonly #people: People

  constructor(people: People) {
    this.#people = people
  }

  list(person: string, rp?: string): Passkey[] {
    const sql = `SELECT ${COLUMNS} FROM passkeys WHERE person = ? ORDER BY created_ms`
    const rows = this.#people.file.all(sql, person)
    return rows.map(readPasskey).filter((key) => rp === undefined || key.rp === rp)
  }

  existFor(rp: string): boolean {
    return this.#people.file.get('SELECT 1 FROM passkeys WHERE rp = ? LIMIT 1', rp) !== undefined
  }

  /** Options for creating a key in the browser; the response must return `challenge`. */
  async registrationOptions(
    person: string,
    rp: RelyingParty,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    return (await webAuthn()).generateRegistrationOptions({
      rpName: 'Sluice',
      rpID: rp.id,
      userName: person,
      userID: toUserHandle(person),
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: this.list(person, rp.id).map(({ id }) => ({ id })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    })
  }

  /** Throws OperationError. */
  async register(
    person: string,
    rp: RelyingParty,
    registration: {
      readonly attestation: unknown
      readonly challenge: string
      readonly label: string
    },
    nowMs: number,
  ): Promise<Passkey> {
    if (this.list(person).length >= PASSKEYS_EACH_MAX)
      throw new OperationError(
        `\`${person}\` has ${PASSKEYS_EACH_MAX} passkeys`,
        'remove one first',
      )
    checkFrame('the passkey cannot be added', registration.attestation)
    const verified = await checked('the passkey cannot be added', async () =>
      (await webAuthn()).verifyRegistrationResponse({
        response: registration.attestation as RegistrationResponseJSON,
        expectedChallenge: registration.challenge,
        expectedOrigin: rp.origin,
        expectedRPID: rp.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    )
    if (!verified.verified) throw notOurs('the passkey cannot be added')
    const { credential } = verified.registrationInfo
    const { id, publicKey, counter, transports = [] } = credential
    const values = [id, person, Buffer.from(publicKey), counter, rp.id, registration.label]
    try {
      this.#people.file.run(ADD, ...values, JSON.stringify(transports), nowMs)
    } catch {
      throw new OperationError('this passkey is registered already', 'sign in with it')
    }
    return this.list(person).find((key) => key.id === id) as Passkey
  }

  /**
   * Throws OperationError if no one would be left who may add approvers: then the first visitor
   * would be asked for the first PIN again.
   */
  remove(person: string, id: string): boolean {
    const admins = this.#people.list().filter((one) => hasRole(one, 'admin') && canProve(one))
    const [only] = admins
    const isLast = admins.length === 1 && only?.name === person && only.pinSetMs === null
    if (isLast && only.passkeys === 1 && this.list(person)[0]?.id === id)
      throw new OperationError(
        `it is the last passkey of \`${person}\`, the last one who may add approvers`,
        'add another passkey, or set a PIN, first',
      )
    const sql = 'DELETE FROM passkeys WHERE person = ? AND id = ?'
    return this.#people.file.run(sql, person, id) > 0
  }

  /** `challenge` is what gets signed. Without a person any key of this origin is accepted. */
  async assertionOptions(
    rp: RelyingParty,
    challenge: Uint8Array,
    person?: string,
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const keys = person === undefined ? [] : this.list(person, rp.id)
    return (await webAuthn()).generateAuthenticationOptions({
      rpID: rp.id,
      challenge: Uint8Array.from(challenge),
      userVerification: 'required',
      allowCredentials: keys.map(({ id, transports }) => ({ id, transports: [...transports] })),
    })
  }

  /** The owner of the key. Throws OperationError. `challenge` as base64url, as it was issued. */
  async verify(
    rp: RelyingParty,
    assertion: unknown,
    challenge: string,
    nowMs: number,
  ): Promise<string> {
    const id = isObject(assertion) && typeof assertion.id === 'string' ? assertion.id : ''
    const sql = `SELECT ${COLUMNS} FROM passkeys WHERE id = ? AND rp = ?`
    const row = this.#people.file.get(sql, id, rp.id)
    if (row === undefined)
      throw new OperationError(
        'this passkey is not known here',
        'use another, or run `sluice console`',
      )
    checkFrame('the passkey was not accepted', assertion)
    const { owner, publicKey, counter } = readCredential(row)
    const verified = await checked('the passkey was not accepted', async () =>
      (await webAuthn()).verifyAuthenticationResponse({
        response: assertion as AuthenticationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: rp.origin,
        expectedRPID: rp.id,
        requireUserVerification: true,
        credential: { id, publicKey: Uint8Array.from(publicKey), counter },
      }),
    )
    if (!verified.verified) throw notOurs('the passkey was not accepted')
    const { newCounter } = verified.authenticationInfo
    const used = 'UPDATE passkeys SET counter = max(counter, ?), used_ms = ? WHERE id = ?'
    this.#people.file.run(used, newCounter, nowMs, id)
    return owner
  }
}

/**
 * Never from an embedded page: the page must not be framed, so a browser that reports it was made
 * to show it where the person sees something else (clickjacking). The library accepts it without
 * `topOrigin`.
 */
function checkFrame(what: string, answer: unknown): void {
  const { response } = (answer ?? {}) as { response?: { clientDataJSON?: unknown } }
  const parsed: unknown = attempt(() =>
    JSON.parse(Buffer.from(String(response?.clientDataJSON), 'base64url').toString()),
  )
  if (parsed === undefined) throw notOurs(`${what}: it does not say what was signed`)
  if (isObject(parsed) && (parsed.crossOrigin ?? false) === false && parsed.topOrigin === undefined)
    return
  throw new OperationError(`${what}: it was used inside of another page`, 'open the page by itself')
}

/** At most 64 bytes; a longer name is hashed, since two with a common prefix are not one person. */
function toUserHandle(person: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(person, 'utf8')
  return Uint8Array.from(bytes.length <= 64 ? bytes : hash('sha256', bytes, 'buffer'))
}

/** The library throws on every mismatch: a counter that decreases, another origin. */
async function checked<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new OperationError(
      `${what}: ${(error as Error).message.slice(0, 300)}`,
      'try it once more',
    )
  }
}

function notOurs(what: string): OperationError {
  return new OperationError(what, 'try it once more, or with another passkey')
}
