// The memory of a session as hashes: a table of what answers had, and one of what the user named. Tags keep the hashes of
// different things in a table apart.

import type { Hasher } from './hash.ts'
import type { HashTable } from './hash-table.ts'

/** A whole value, in its normal form. 2 and 3 are the tags of words.ts. */
export const WHOLE = 1
/** The host of an address. */
export const HOST = 4
/** A word of a prompt as it stands there, without the punctuation around it. */
export const TOKEN = 5
/** A word that the user wrote, and what it may be a form of. */
export const ASKED = 6

export class ProvenanceTables {
  /** Each value is hashed once, into `low` and `high`, for both tables. */
  readonly hash: Hasher
  /** The values of fields and of the prose of answers. */
  readonly answers: HashTable
  /** The values that the user wrote, and those that a call had before anything was read. */
  readonly prompt: HashTable

  constructor(hash: Hasher, answers: HashTable, prompt: HashTable) {
    this.hash = hash
    this.answers = answers
    this.prompt = prompt
  }

  add(table: HashTable, tag: number, text: string, flag: number): void {
    this.hash.hash(tag, text)
    table.add(this.hash.low, this.hash.high, flag)
  }

  /** Adds a whole value to what answers had. */
  addWhole(text: string, flag: number): void {
    this.add(this.answers, WHOLE, text, flag)
  }

  has(table: HashTable, tag: number, text: string): boolean {
    this.hash.hash(tag, text)
    return table.get(this.hash.low, this.hash.high) !== 0
  }
}
