// Edits of a mapping in the text of a YAML document, by the parser's source ranges: comments, order and
// spacing of everything else stay. For rules of a policy and servers of sluice.yaml. Pure.

import type { Pair, YAMLMap } from 'yaml'
import { getRange } from './parse-yaml.ts'

/** `text` in the place of what is between two offsets. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export function applyEdit(source: string, { start, end, text }: TextEdit): string {
  return source.slice(0, start) + text + source.slice(end)
}

/** Adds an entry after the last, in the style of the mapping. Its further lines follow without an indent of theirs. */
export function appendEntry(source: string, map: YAMLMap, lines: readonly string[]): TextEdit {
  const last = map.items.at(-1)
  if (last === undefined) {
    const [start, end] = getRange(map)
    return { start, end, text: `{ ${lines.join(' ')} }` }
  }
  const lastEnd = endOfEntry(source, last)
  if (map.flow === true) return { start: lastEnd, end: lastEnd, text: `, ${lines.join(' ')}` }
  const at = nextLine(source, lastEnd)
  const eol = lineBreakOf(source)
  const head = source[at - 1] === '\n' ? '' : eol
  const keyAt = getRange(map.items[0]?.key)[0]
  const indent = ' '.repeat(keyAt - lineStart(source, keyAt))
  const text = `${head}${lines.map((line) => `${indent}${line}${eol}`).join('')}`
  return { start: at, end: at, text }
}

/** Removes an entry with its comma or its lines; undefined if a mapping in braces has no other. */
export function removeEntry(source: string, map: YAMLMap, pair: Pair): TextEdit | undefined {
  const at = map.items.indexOf(pair)
  const [start] = getRange(pair.key)
  const end = endOfEntry(source, pair)
  if (map.flow !== true)
    return { start: lineStart(source, start), end: nextLine(source, end), text: '' }
  const [before, next] = [map.items[at - 1], map.items[at + 1]]
  if (before !== undefined) return { start: endOfEntry(source, before), end, text: '' }
  return next === undefined ? undefined : { start, end: getRange(next.key)[0], text: '' }
}

/** The offset after the last letter of an entry. The ranges of block mappings reach into the next line. */
export function endOfEntry(
  source: string,
  { key, value }: Pick<Pair, 'key'> & Partial<Pair>,
): number {
  return source.slice(0, getRange(value ?? key)[1]).trimEnd().length
}

export function lineStart(source: string, at: number): number {
  return source.lastIndexOf('\n', at - 1) + 1
}

export function lineBreakOf(source: string): string {
  return source.includes('\r\n') ? '\r\n' : '\n'
}

export function nextLine(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end === -1 ? source.length : end + 1
}
