// The people and systems that may approve, and their credentials. Stored in identity.db by the
// process that owns the data directory. Only hashes of PINs and tokens are stored; neither appears
// in a log or the ledger.

import { hash, timingSafeEqual } from 'node:crypto'
import {
  BYTES,
  type Column,
  createRowReader,
  FLAG,
  json,
  NUMBER,
  nullable,
  oneOf,
  TEXT,
} from '@sluice/ledger/store/read-row'
import { Listeners } from '@sluice/policy/structures/listeners'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { givesRoles, type Issuer } from '../callers/issuer.ts'
import { IdentityFile } from '../identity-file.ts'
import { createGateToken, ownTokenKind } from '../keys/gate-tokens.ts'
import { PEOPLE_MAX, PIN_TRIES, STORED_AHEAD_MS_MAX } from '../limits.ts'
import {
  type Approver,
  canonicalName,
  hasRole,
  type Person,
  type PinProof,
  ROLES,
  type Role,
} from '../person.ts'
import { waitText } from '../wait-text.ts'
import { type MachineClock, machineClock } from './machine-clock.ts'
import { checkNewPin, hashPin, verifyPin } from './pin.ts'
import { type KeptPause, pauseAfter, pauseLeft } from './pin-pause.ts'

/** An attempt that was counted. */
export class WrongPinError extends OperationError {}

export interface StoredPerson extends Approver, KeptPause {
  readonly createdMs: number
  /** When the PIN was set; null if there is none. */
  readonly pinSetMs: number | null
  readonly passkeys: number
  readonly hasToken: boolean
}

const KEPT = `SELECT name, kind, roles, groups, owns, created_ms AS createdMs, pin_set_ms AS pinSetMs,
  (SELECT count(*) FROM passkeys WHERE person = name) AS passkeys, token IS NOT NULL AS hasToken,
  wrong_pins AS wrongPins, paused_until_ms AS pausedUntilMs, paused_boot AS pausedBoot,
  paused_until_up_ms AS pausedUntilUpMs FROM people`
const ADD = `INSERT INTO people (name, kind, roles, groups, owns, created_ms, pin, pin_set_ms, token)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const TRY = `UPDATE people SET wrong_pins = wrong_pins + 1, paused_until_ms = ?, paused_boot = ?,
  paused_until_up_ms = ? WHERE name = ?`
const RIGHT = 'UPDATE people SET wrong_pins = 0, paused_until_ms = 0 WHERE name = ?'

/** Roles of another version are left out. */
const STORED_ROLES: Column<readonly Role[]> = {
  read: (value) => {
    const known: readonly string[] = ROLES
    const stored = json<readonly string[]>().read(value)
    return stored.filter((role): role is Role => known.includes(role))
  },
}

const readPerson = createRowReader<StoredPerson>({
  name: TEXT,
  kind: oneOf(['person', 'system']),
  roles: STORED_ROLES,
  groups: json(),
  owns: json(),
  createdMs: NUMBER,
  pinSetMs: nullable(NUMBER),
  passkeys: NUMBER,
  hasToken: FLAG,
  wrongPins: NUMBER,
  pausedUntilMs: NUMBER,
  pausedBoot: TEXT,
  pausedUntilUpMs: NUMBER,
})

export interface PeopleOptions {
  /** The cost of PINs that are set from now on. */
  readonly pinCost?: number
  readonly clock?: MachineClock
}

export class People {
  readonly #removed = new Listeners()
  /** An approver was removed. */
  readonly onRemove = this.#removed.subscribe
  /** The file, which passkeys.ts and stored-sign-ins.ts use, too. */
  readonly file: IdentityFile
  readonly #pinCost: number | undefined
  readonly #clock: MachineClock

  private constructor(directory: string, { pinCost, clock = machineClock() }: PeopleOptions) {
    this.file = new IdentityFile(directory)
    this.#pinCost = pinCost
    this.#clock = clock
  }

  static open(directory: string, options: PeopleOptions = {}): People {
    return new People(directory, options)
  }

  list(): StoredPerson[] {
    return this.file.all(`${KEPT} ORDER BY created_ms, name`).map(readPerson)
  }

  find(name: string): StoredPerson | undefined {
    const row = this.file.get(`${KEPT} WHERE name = ?`, name)
    return row === undefined ? undefined : readPerson(row)
  }

  /** Whether any approver exists: if not, the first PIN or passkey may be set. */
  get anybody(): boolean {
    return this.list().some(canProve)
  }

  /** Throws OperationError if the name is taken, or the maximum is reached. */
  mustBeFree(name: string): void {
    if (this.find(name) !== undefined)
      throw new OperationError(
        `\`${name}\` is there already`,
        'take another name, or remove that one first',
      )
    const alike = this.list().find((one) => canonicalName(one.name) === canonicalName(name))
    if (alike !== undefined)
      throw new OperationError(
        `\`${name}\` looks like \`${alike.name}\`, who is there already`,
        'choose a name that is not confusable with that one',
      )
    if (this.list().length >= PEOPLE_MAX)
      throw new OperationError(`there are ${PEOPLE_MAX} approvers`, 'remove one that is not needed')
  }

  /** Throws OperationError if a credential exists already. */
  mustBeFirst(): void {
    if (!this.anybody) return
    throw new OperationError(
      'an approver exists already',
      '`sluice status` says who and since when; `sluice approvers pin` changes a PIN with the old one',
    )
  }

  /** Throws OperationError if the name is taken. The token, if requested, is returned only once. */
  async add(
    person: Approver,
    credentials: { readonly pin?: string; readonly token?: boolean },
    nowMs: number,
  ): Promise<{ readonly token: string | null }> {
    this.mustBeFree(person.name)
    const pin = credentials.pin === undefined ? null : await this.#hash(credentials.pin)
    const token = credentials.token === true ? createGateToken('sys') : null
    // Another request may have been faster while the PIN was hashed.
    this.mustBeFree(person.name)
    this.#insert(person, { pin, token }, nowMs)
    return { token }
  }

  /**
   * The very first credential. Throws OperationError if one exists already, also if it was created
   * while this PIN was being hashed.
   */
  async setFirst(person: Approver, pin: string, nowMs: number): Promise<void> {
    const hash = await this.#hash(pin)
    this.mustBeFirst()
    this.file.run('DELETE FROM people')
    this.#insert(person, { pin: hash, token: null }, nowMs)
  }

  /** Who decides now, and was added while the clock was ahead, counts as added now: until then no vote of theirs would
   * count. */
  correctAhead(name: string, nowMs: number): void {
    const sql = 'UPDATE people SET created_ms = ? WHERE name = ? AND created_ms > ?'
    this.file.run(sql, nowMs, name, nowMs + STORED_AHEAD_MS_MAX)
  }

  /** Throws OperationError if no one would be left who may add approvers. */
  remove(name: string): StoredPerson {
    const person = this.find(name)
    if (person === undefined) throw unknown(name, this.list())
    const left = this.list().filter((one) => one.name !== name)
    if (hasRole(person, 'admin') && !left.some((one) => hasRole(one, 'admin') && canProve(one)))
      throw new OperationError(
        `\`${name}\` is the last one who may add or remove approvers`,
        'give another the role `admin`, with a PIN or a passkey, first',
      )
    this.file.run('DELETE FROM passkeys WHERE person = ?', name)
    this.file.run('DELETE FROM people WHERE name = ?', name)
    this.#removed.emit()
    return person
  }

  async setPin(name: string, pin: string, nowMs: number): Promise<void> {
    const hash = await this.#hash(pin)
    const set = `UPDATE people SET pin = ?, pin_set_ms = ?, wrong_pins = 0, paused_until_ms = 0
      WHERE name = ?`
    this.file.run(set, hash, nowMs, name)
  }

  /**
   * Throws OperationError: unknown or without a PIN, a wrong PIN, or a pause. An attempt is on disk
   * before it is known whether it was correct: killing the gate in between refunds none.
   */
  async prove({ name, pin }: PinProof, nowMs: number): Promise<Person> {
    const person = this.#whose(name)
    const { wrongPins } = person
    const leftMs = pauseLeft(person, nowMs, this.#clock)
    if (leftMs > 0)
      throw new OperationError(
        `${wrongPins} wrong PINs of \`${person.name}\`: no more tries for ${waitText(leftMs)}`,
        'wait, or decide with a passkey in the console',
      )
    const pauseMs = pauseAfter(wrongPins + 1)
    const { boot, upMs } = this.#clock
    const until = pauseMs === 0 ? [0, '', 0] : [nowMs + pauseMs, boot, upMs() + pauseMs]
    this.file.run(TRY, ...until, person.name)
    const row = this.file.get('SELECT pin FROM people WHERE name = ?', person.name)
    if (await verifyPin(pin, String(row?.pin ?? ''))) {
      this.file.run(RIGHT, person.name)
      return asPerson(person, 'pin')
    }
    throw new WrongPinError(`wrong PIN for \`${person.name}\``, nextTry(wrongPins + 1))
  }

  /** A system by its credential. */
  findByToken(token: string): Person | undefined {
    if (ownTokenKind(token) !== 'sys') return undefined
    const digest = hashApproverToken(token) as Buffer
    const row = this.file.get('SELECT name, token FROM people WHERE token = ?', digest)
    if (row === undefined || !timingSafeEqual(BYTES.read(row.token), digest)) return undefined
    const person = this.find(String(row.name))
    return person && asPerson(person, 'token')
  }

  close(): void {
    this.file.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #insert(
    { name, kind, roles, groups, owns }: Approver,
    { pin, token }: { readonly pin: string | null; readonly token: string | null },
    nowMs: number,
  ): void {
    const lists = [roles, groups, owns].map((list) => JSON.stringify(list))
    const values = [nowMs, pin, pin === null ? null : nowMs, hashApproverToken(token)]
    this.file.run(ADD, name, kind, ...lists, ...values)
  }

  /** Whose PIN it is: named, or the only one there is. */
  #whose(name: string | undefined): StoredPerson {
    const all = this.list()
    const withPin = all.filter(({ pinSetMs }) => pinSetMs !== null)
    if (!all.some(canProve))
      throw new OperationError(
        'there is no approver yet',
        '`sluice approvers pin` sets the first PIN',
      )
    if (name === undefined) {
      const [only] = withPin
      if (only === undefined)
        throw new OperationError('no approver has a PIN', 'decide with a passkey in the console')
      if (withPin.length === 1) return only
      const names = withPin.map((one) => `\`${one.name}\``).join(', ')
      throw new OperationError('there are several people with a PIN', `say who you are: ${names}`)
    }
    const person = all.find((one) => one.name === name)
    if (person === undefined) throw unknown(name, all)
    if (person.pinSetMs === null)
      throw new OperationError(`\`${name}\` has no PIN`, 'decide with a passkey in the console')
    return person
  }

  #hash(pin: string): Promise<string> {
    return hashPin(checkNewPin(pin), this.#pinCost)
  }
}

/** Has a PIN, a passkey or a token. */
export function canProve({ pinSetMs, passkeys, hasToken }: StoredPerson): boolean {
  return pinSetMs !== null || passkeys > 0 || hasToken
}

/**
 * Whether a vote given at a time still counts: its approver has been on the list since before then.
 * Approvers who sign in externally (OIDC) are not on it; they count as long as OIDC sign-in is
 * configured.
 */
export function approverCheck(
  people: Pick<People, 'find'>,
  issuers: readonly Pick<Issuer, 'name' | 'roles' | 'admins'>[],
): (name: string, atMs: number) => boolean {
  const elsewhere = new Set(issuers.filter(givesRoles).map(({ name }) => name))
  return (name, atMs) => {
    const [issuer = '', subject] = name.split(':')
    if (subject !== undefined) return elsewhere.has(issuer)
    const person = people.find(name)
    return person !== undefined && hasRole(person, 'approver') && person.createdMs <= atMs
  }
}

export function asPerson(approver: Approver, proof: Person['proof']): Person {
  const { name, kind, roles, groups, owns } = approver
  return { name, kind, roles, groups, owns, proof }
}

function hashApproverToken(token: string | null): Buffer | null {
  return token === null ? null : hash('sha256', token, 'buffer')
}

function unknown(name: string, all: readonly StoredPerson[]): OperationError {
  const names = all.map((one) => `\`${one.name}\``).join(', ')
  return new OperationError(
    `no approver is called \`${name.slice(0, 64)}\``,
    `there are ${names || 'none'}`,
  )
}

function nextTry(wrong: number): string {
  const pauseMs = pauseAfter(wrong)
  if (pauseMs > 0) return `no more tries for ${waitText(pauseMs)}`
  const left = PIN_TRIES - wrong
  return `${left} ${left === 1 ? 'try' : 'tries'} left before a pause`
}
