// Puts entries of clients behind the gate, and takes them back. Both work on what the file says at
// that moment, change those entries and nothing else, and can be done again after a crash.

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@sluice/policy/values/json'
import { cloneJson } from '@sluice/policy/values/json'
import { changeFile, readClientFile } from '../files/change-file.ts'
import { type ClientFile, isTransport, transportOf } from '../files/client.ts'
import { documentValue, entryAt, restoreEntry, rewriteEntry } from '../files/entries.ts'
import { ClientError } from '../files/errors.ts'
import { edit } from '../files/json-hooks.ts'
import { SETTLE_MS, SETTLE_ROUNDS_MAX } from '../files/limits.ts'
import { type MovedEntry, readMoved, sameEntry, writeRecord } from './move-log.ts'

/** `was` is the entry as it was read: where it says anything else by now it is left. */
export interface EntryMove extends Pick<MovedEntry, 'path' | 'server' | 'was' | 'now'> {
  readonly from: ClientFile
}

/** The file with all its moves done, and what each entry was. */
export function moveAll(
  text: string,
  moves: readonly EntryMove[],
): { readonly text: string; readonly moved: readonly MovedEntry[] } {
  let after = text
  const moved: MovedEntry[] = []
  for (const { from, path, server, was, now } of moves) {
    const entry = entryAt(after, from, path)
    if (entry === undefined || entry.stuck !== undefined) continue
    if (!isDeepStrictEqual(cloneJson(entry.value), cloneJson(was))) continue
    const written = rewriteEntry(after, from, entry, now)
    after = written.text
    moved.push({
      client: from.client,
      file: from.file,
      format: from.format,
      path,
      server,
      before: written.before,
      after: written.after,
      was,
      now,
    })
  }
  return { text: after, moved }
}

/** Moves entries of one file. Gives what was moved; the others have changed since they were read. */
export async function moveEntries(
  record: string,
  moves: readonly EntryMove[],
): Promise<readonly MovedEntry[]> {
  const file = moves[0]?.from.file
  if (file === undefined) return []
  const all = new Map<readonly string[], MovedEntry>()
  await untilSettled(file, (text) => {
    const { text: after, moved } = moveAll(text, moves)
    for (const one of moved) all.set(one.path, one)
    const others = readMoved(record).filter((one) => !moved.some((own) => sameEntry(own, one)))
    if (moved.length > 0) writeRecord(record, [...others, ...moved])
    return moved.length === 0 ? undefined : after
  })
  return [...all.values()]
}

/** A program that read the file before we wrote it may write its old text over ours: it is looked at
 * again after a while, and the change made again where it is gone. */
async function untilSettled(
  file: string,
  change: (text: string) => string | undefined,
): Promise<void> {
  for (let round = 0; round < SETTLE_ROUNDS_MAX; round++) {
    if (!(await changeFile(file, change))) return
    await sleep(SETTLE_MS)
  }
}

export type UndoOutcome =
  /** As it was. */
  | 'restored'
  /** Was never changed, or was put back by somebody. */
  | 'as it was'
  /** Somebody took the entry away. */
  | 'gone'
  /** Somebody pointed it elsewhere: theirs stays. */
  | 'changed since'
  /** The client's whole file is not there: it may come back. */
  | 'no file'
  /** The client's file cannot be read or written. */
  | 'left'

export interface UndoneMove {
  readonly moved: MovedEntry
  readonly fate: UndoOutcome
  /** Why it was left. */
  readonly because?: string
}

/** The file with one entry taken back, and what became of it. */
export function undoOne(
  text: string,
  one: MovedEntry,
): { readonly text: string; readonly fate: UndoOutcome } {
  const entry = entryAt(text, one, one.path)
  if (entry === undefined) return { text, fate: 'gone' }
  const value = cloneJson<JsonObject>(entry.value)
  if (isDeepStrictEqual(transportOf(value), cloneJson(transportOf(one.was))))
    return { text, fate: 'as it was' }
  if (
    !isDeepStrictEqual(transportOf(value), cloneJson(transportOf(one.now))) ||
    entry.stuck !== undefined
  )
    return { text, fate: 'changed since' }
  // `sluice init --view` has added it.
  if (Object.keys(one.was).length === 0) {
    const [before, ...after] = text.split(one.after)
    const isThere = before !== undefined && after.length === 1
    const whole = isThere ? before + after[0] : edit(text, [...one.path], undefined)
    return { text: whole, fate: 'restored' }
  }
  const members = Object.entries(one.was).filter(([key]) => !isTransport(key))
  const isOurs = isDeepStrictEqual(value, cloneJson({ ...one.now, ...Object.fromEntries(members) }))
  const whole = isOurs ? restoreEntry(text, one, entry, { ...one, value: one.was }) : undefined
  // Somebody has changed other keys of it, or the form of the file: only ours go back.
  return {
    text: whole ?? rewriteEntry(text, one, entry, transportOf(one.was)).text,
    fate: 'restored',
  }
}

/** Takes back all that the record names, and forgets what is settled. */
export async function undoMoves(record: string): Promise<readonly UndoneMove[]> {
  const all = readMoved(record)
  const undone: UndoneMove[] = []
  for (const file of new Set(all.map((one) => one.file))) {
    // Last moved, first taken back: the bytes around an entry are those of its time.
    const own = all.filter((one) => one.file === file).reverse()
    const fates = await undoFile(file, own).catch((error: Error): UndoneMove[] => {
      // The other clients get theirs back all the same.
      if (!(error instanceof ClientError)) throw error
      const because = `${error.message}; ${error.help}`
      return own.map((moved) => ({ moved, fate: 'left', because }))
    })
    undone.push(...fates)
  }
  const open = undone.filter(isOpen).map(({ moved }) => moved)
  writeRecord(record, open.reverse())
  return undone
}

async function undoFile(file: string, own: readonly MovedEntry[]): Promise<UndoneMove[]> {
  const text = await readClientFile(
    file,
    (contents) => void documentValue(contents, own[0] as MovedEntry),
  )
  if (text === undefined) return own.map((moved) => ({ moved, fate: 'no file' }))
  let fates: UndoneMove[] = []
  await untilSettled(file, (contents) => {
    const again = fates
    fates = []
    let after = contents
    for (const moved of own) {
      const { text: next, fate } = undoOne(after, moved)
      after = next
      // What the round before restored is as it was now.
      const was = again.find((one) => one.moved === moved && one.fate === 'restored')
      fates.push(was !== undefined && fate === 'as it was' ? was : { moved, fate })
    }
    return after === contents ? undefined : after
  })
  return fates
}

/** Not taken back, and not forgotten. */
export function isOpen({ fate }: UndoneMove): boolean {
  return fate === 'changed since' || fate === 'no file' || fate === 'left'
}
