// Entries of a client's file, whatever its format: found, and rewritten so that the rest of the file
// says the same in the same bytes. Every rewrite is read again and compared before anybody may write
// it. Pure.

import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import type { ClientFile, ServerEntry } from './client.ts'
import { isTransport } from './client.ts'
import { jsonEntries, jsonText, parseJson, rewriteJson } from './json-entries.ts'
import { parseToml, rewriteToml, tomlEntries, tomlText } from './toml-entries.ts'

type Format = ClientFile['format']

/** All entries under `path`, in the order of the file. */
export function entriesAt(
  text: string,
  { file, format }: Pick<ClientFile, 'file' | 'format'>,
  path: readonly string[],
): ServerEntry[] {
  return format === 'json'
    ? jsonEntries(parseJson(text, file), path)
    : tomlEntries(parseToml(text, file), path)
}

export function entryAt(
  text: string,
  from: Pick<ClientFile, 'file' | 'format'>,
  path: readonly string[],
): ServerEntry | undefined {
  const name = path.at(-1)
  return entriesAt(text, from, path.slice(0, -1)).find((entry) => entry.path.at(-1) === name)
}

/** A file with another entry. */
export interface RewrittenEntry {
  /** The whole file. */
  readonly text: string
  /** The part of the file that the entry had. */
  readonly before: string
  /** The part that it has now. */
  readonly after: string
}

/** The keys that say how to reach the server become those of `now`; the others stay. */
export function rewriteEntry(
  text: string,
  from: Pick<ClientFile, 'file' | 'format'>,
  entry: ServerEntry,
  now: JsonObject,
): RewrittenEntry {
  const raw = Object.entries(now).map(([key, value]) => [key, rawText(value, from.format)] as const)
  const after =
    from.format === 'json'
      ? rewriteJson(parseJson(text, from.file), entry, isTransport, raw)
      : rewriteToml(parseToml(text, from.file), entry, isTransport, raw)
  const whole = splice(text, entry, after)
  const members = Object.entries(entry.value).filter(([key]) => !isTransport(key))
  confirm(text, whole, { from, path: entry.path, now: { ...now, ...Object.fromEntries(members) } })
  return { text: whole, before: text.slice(entry.start, entry.end), after }
}

/** The file with the entry's part as it once was; undefined if those bytes are no longer there. */
export function restoreEntry(
  text: string,
  from: Pick<ClientFile, 'file' | 'format'>,
  { start, path }: ServerEntry,
  was: { readonly before: string; readonly after: string; readonly value: JsonObject },
): string | undefined {
  // A comment that was left of a key stands before the entry's first key now.
  const at = text.lastIndexOf(was.after, start)
  if (at < 0 || at + was.after.length <= start) return undefined
  const whole = splice(text, { start: at, end: at + was.after.length }, was.before)
  confirm(text, whole, { from, path, now: was.value })
  return whole
}

function splice(text: string, span: { start: number; end: number }, middle: string): string {
  return text.slice(0, span.start) + middle + text.slice(span.end)
}

function rawText(value: unknown, format: Format): string {
  return format === 'json' ? jsonText(value) : tomlText(value)
}

/** The file as a value, which may be anything. */
export function documentValue(
  text: string,
  { file, format }: Pick<ClientFile, 'file' | 'format'>,
): unknown {
  return format === 'json' ? parseJson(text, file).value : parseToml(text, file).value
}

interface ExpectedEntry {
  readonly from: Pick<ClientFile, 'file' | 'format'>
  readonly path: readonly string[]
  readonly now: JsonObject
}

/** Fails closed: a file that would say anything else than meant is never written. */
function confirm(before: string, after: string, { from, path, now }: ExpectedEntry): void {
  const meant = toPlainJson(replaced(documentValue(before, from), path, now))
  if (isDeepStrictEqual(toPlainJson(documentValue(after, from)), meant)) return
  throw new Error(`the change of \`${path.join('.')}\` in ${from.file} would change something else`)
}

function replaced(value: unknown, [key, ...rest]: readonly string[], now: JsonObject): unknown {
  if (key === undefined) return now
  const object: JsonObject = isObject(value) ? value : {}
  return { ...object, [key]: replaced(object[key], rest, now) }
}

/** Without prototypes and with dates as texts, so that equal values are equal. */
function toPlainJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}` : inner))
  return JSON.parse(text ?? 'null')
}
