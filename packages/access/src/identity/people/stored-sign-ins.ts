// Sign-ins to the console, in identity.db: hashes of the tokens that pages hold in memory, with whose
// they are and when they end, so that a restart of the gate signs nobody out. A token that is not
// stored lets nobody in.

import { createRowReader, json, NUMBER, nullable, oneOf, TEXT } from '@sluice/ledger/store/read-row'
import { IdentityFile } from '../identity-file.ts'
import { STORED_AHEAD_MS_MAX } from '../limits.ts'
import { type Person, PROOFS, type ProofMethod } from '../person.ts'
import type { People } from './people.ts'

export interface StoredSignIn {
  readonly name: string
  /** What the sign-in depends on; it ends when this is different. */
  readonly basis: string
  readonly proof: ProofMethod
  /** Who is not on the list of people, but signed in at an authorisation server. */
  readonly guest: Person | null
  readonly sinceMs: number
  readonly untilMs: number
}

const ADD = 'INSERT INTO sign_ins VALUES (?, ?, ?, ?, ?, ?, ?)'
const FIND = `SELECT name, basis, proof, guest, since_ms AS sinceMs, until_ms AS untilMs FROM sign_ins
  WHERE hash = ? AND since_ms <= ? AND until_ms > ?`
/** A sign-in from the future was begun before the clock was set back: its end says nothing. */
const SWEEP = 'DELETE FROM sign_ins WHERE until_ms <= ? OR since_ms > ?'
const MAKE_ROOM = `DELETE FROM sign_ins WHERE hash IN
  (SELECT hash FROM sign_ins ORDER BY since_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`

const readSignIn = createRowReader<StoredSignIn>({
  name: TEXT,
  basis: TEXT,
  proof: oneOf(PROOFS),
  guest: nullable(json()),
  sinceMs: NUMBER,
  untilMs: NUMBER,
})

export class StoredSignIns {
  readonly #file: IdentityFile
  readonly #max: number

  constructor({ file }: People, max: number) {
    this.#file = file
    this.#max = max
  }

  /** The oldest is evicted: nobody can lock others out by signing in often. */
  add(hash: Buffer, signIn: StoredSignIn): void {
    const { name, basis, proof, guest, sinceMs, untilMs } = signIn
    this.#file.run(SWEEP, sinceMs, sinceMs + STORED_AHEAD_MS_MAX)
    const text = guest === null ? null : JSON.stringify(guest)
    this.#file.run(ADD, hash, name, basis, proof, text, sinceMs, untilMs)
    this.#file.run(MAKE_ROOM, this.#max)
  }

  find(hash: Buffer, nowMs: number): StoredSignIn | undefined {
    const row = this.#file.get(FIND, hash, nowMs + STORED_AHEAD_MS_MAX, nowMs)
    return row && readSignIn(row)
  }

  remove(hash: Buffer): void {
    this.#file.run('DELETE FROM sign_ins WHERE hash = ?', hash)
  }

  removeAllOf(name: string): void {
    this.#file.run('DELETE FROM sign_ins WHERE name = ?', name)
  }
}

/** A backup that is restored would bring back sign-ins that have been ended since. */
export function endAllSignIns(directory: string): void {
  const file = new IdentityFile(directory)
  file.run('DELETE FROM sign_ins')
  file.close()
}
