// Adds, replaces and removes servers, and adds grants, in the text of sluice.yaml by splices at the parser's source
// ranges: comments, order and spacing of everything else stay. The result is read again and compared,
// so that an edit that would change anything else is not made. Pure.

import { isDeepStrictEqual } from 'node:util'
import {
  appendEntry,
  applyEdit,
  endOfEntry,
  lineBreakOf,
  lineStart,
  removeEntry,
} from '@sluice/policy/document/edit-mapping'
import { findPair, getRange, parseYaml } from '@sluice/policy/document/parse-yaml'
import { Problems } from '@sluice/policy/document/problem'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { isMap, type YAMLMap } from 'yaml'

export interface WrittenServer {
  readonly name: string
  /** As under `servers:`, with variables as they are written. */
  readonly entry: JsonObject
}

type Section = 'servers' | 'grants'

/** The servers as the text has them, variables not filled in. Empty if it cannot be read. */
export function readWrittenServers(text: string): Record<string, JsonObject> {
  return readWritten(text, 'servers')
}

export function readWritten(text: string, section: Section): Record<string, JsonObject> {
  const { [section]: entries } = valuesIn(text) ?? {}
  return isObject(entries) ? (entries as Record<string, JsonObject>) : {}
}

/** With these servers, in the place of those of the same names. Undefined if the text is written in
 * a way that nothing can be put into. */
export function putServers(text: string, servers: readonly WrittenServer[]): string | undefined {
  return putEntries(text, 'servers', servers)
}

/** The same for the entries of a section. If there is no `grants:` yet, it is added at the end. */
export function putEntries(
  text: string,
  section: Section,
  entries: readonly WrittenServer[],
): string | undefined {
  const isMissing = section === 'grants' && valuesIn(text)?.grants === undefined
  let changed = isMissing ? `${text.trimEnd()}${lineBreakOf(text)}${section}: {}\n` : text
  for (const entry of entries) {
    const there = readWritten(changed, section)[entry.name]
    if (isDeepStrictEqual(there, entry.entry)) continue
    const next =
      there === undefined ? insert(changed, section, entry) : replace(changed, section, entry)
    if (next === undefined) return undefined
    changed = next
  }
  const wanted = Object.fromEntries(entries.map(({ name, entry }) => [name, entry]))
  return changesOnly(text, changed, section, wanted) ? changed : undefined
}

/** Undefined if it is not there, or cannot be taken out alone. */
export function removeServer(text: string, name: string): string | undefined {
  const map = mapOf(text, 'servers')
  const pair = map && findPair(map, name)
  if (map === undefined || pair === undefined) return undefined
  const isOnly = map.items.length === 1
  const edit = isOnly
    ? { start: startOf(text, map), end: endOfMap(text, map), text: ' {}' }
    : removeEntry(text, map, pair)
  if (edit === undefined) return undefined
  const changed = applyEdit(text, edit)
  return changesOnly(text, changed, 'servers', { [name]: undefined }) ? changed : undefined
}

function insert(text: string, section: Section, server: WrittenServer): string | undefined {
  const map = mapOf(text, section)
  if (map === undefined) return undefined
  const isEmpty = map.items.length === 0
  const [start, end] = getRange(map)
  const isOwnLine = /^\w+:[ \t]*$/.test(text.slice(lineStart(text, start), start))
  if (isEmpty && map.flow === true && isOwnLine) {
    const lines = ['', ...linesOf(server, '  ')].join(lineBreakOf(text))
    return applyEdit(text, { start: startOf(text, map), end, text: lines })
  }
  if (map.flow === true) return applyEdit(text, appendEntry(text, map, [oneLine(server)]))
  const [first] = getRange(map.items[0]?.key)
  if (isEmpty || !/^ +$/.test(text.slice(lineStart(text, first), first))) return undefined
  return applyEdit(text, appendEntry(text, map, linesOf(server, '')))
}

/** Its lines, or its braces, where they are; comments inside go with what they were about. */
function replace(text: string, section: Section, server: WrittenServer): string | undefined {
  const map = mapOf(text, section)
  const pair = map && findPair(map, server.name)
  if (map === undefined || pair === undefined) return undefined
  const [start] = getRange(pair.key)
  const end = endOfEntry(text, pair)
  if (map.flow === true || (isMap(pair.value) && pair.value.flow === true))
    return applyEdit(text, { start, end, text: oneLine(server) })
  const indent = text.slice(lineStart(text, start), start)
  const lines = linesOf(server, indent).join(lineBreakOf(text)).slice(indent.length)
  return applyEdit(text, { start, end, text: lines })
}

/** Every text in quotes: a word must not become another thing in YAML. */
function linesOf({ name, entry }: WrittenServer, indent: string): string[] {
  return [
    `${indent}${JSON.stringify(name)}:`,
    ...Object.entries(entry).map(([key, value]) => `${indent}  ${key}: ${quote(value)}`),
  ]
}

/** The lines of a server, to be put in by hand. */
export function describeEntry(server: WrittenServer, indent: string): string {
  return linesOf(server, indent).join('\n')
}

function oneLine({ name, entry }: WrittenServer): string {
  return `${quote(name)}: ${quote(entry)}`
}

function quote(value: JsonValue): string {
  return JSON.stringify(value).replaceAll('\x7f', '\\x7f')
}

function mapOf(text: string, section: Section): YAMLMap | undefined {
  const contents = parseYaml(text, new Problems('', text))?.contents
  const entries = isMap(contents) ? findPair(contents, section)?.value : undefined
  return isMap(entries) ? entries : undefined
}

/** Behind the colon of `servers:`. */
function startOf(text: string, map: YAMLMap): number {
  return text.slice(0, getRange(map)[0]).lastIndexOf(':') + 1
}

function endOfMap(text: string, map: YAMLMap): number {
  const last = map.items.at(-1)
  return map.flow === true || last === undefined ? getRange(map)[1] : endOfEntry(text, last)
}

/** Whether both say the same but for these entries (undefined: not there). */
function changesOnly(
  before: string,
  after: string,
  section: Section,
  entries: Readonly<Record<string, JsonObject | undefined>>,
): boolean {
  const [old, now] = [valuesIn(before), valuesIn(after)]
  if (old === undefined || now === undefined) return false
  const wanted = Object.entries({ ...readWritten(before, section), ...entries })
  const there = wanted.filter(([, entry]) => entry !== undefined)
  return isDeepStrictEqual(
    { ...old, [section]: Object.fromEntries(there) },
    { ...now, [section]: now[section] ?? {} },
  )
}

function valuesIn(text: string): JsonObject | undefined {
  const value: unknown = parseYaml(text, new Problems('', text))?.toJS({ maxAliasCount: 1_000 })
  return isObject(value) ? value : undefined
}
