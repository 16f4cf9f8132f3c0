// Servers in Codex' TOML: where each stands (a table with its tables below, dotted keys, or an inline
// table), and a change of the keys of one that leaves every other byte alone. Pure.

import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import type { ServerEntry } from './client.ts'
import { ClientError } from './errors.ts'
import { applyEdits, deletion, type Edit, indentAt, lineBreakOf } from './text-edits.ts'

export interface TomlDocument {
  readonly text: string
  readonly value: unknown
  readonly pieces: readonly Piece[]
}

/** A header or a key with its value, by its whole path. */
interface Piece {
  readonly path: readonly (string | number)[]
  readonly start: number
  readonly end: number
  readonly pair?: AST.TOMLKeyValue
  readonly isArray?: boolean
}

export function parseToml(text: string, file: string): TomlDocument {
  // A byte order mark is one character; a space keeps all offsets.
  const plain = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text
  try {
    const program = parseTOML(plain)
    return { text, value: getStaticTOMLValue(program), pieces: piecesOf(program, plain) }
  } catch (error) {
    const { message } = error as Error
    const place = error instanceof ParseError ? `:${error.lineNumber}:${error.column + 1}` : ''
    throw new ClientError(
      'CLIENT_FILE',
      `\`${file}${place}\` is not TOML: ${message}`,
      'fix it; the client that owns it may show where',
    )
  }
}

function piecesOf(program: AST.TOMLProgram, text: string): Piece[] {
  return program.body[0].body.flatMap((node): Piece[] => {
    if (node.type === 'TOMLKeyValue') return [pairPiece([], node)]
    const header = {
      path: node.resolvedKey,
      start: node.range[0],
      end: text.indexOf(']', node.key.range[1]) + (node.kind === 'array' ? 2 : 1),
      isArray: node.kind === 'array',
    }
    return [header, ...node.body.map((pair) => pairPiece(node.resolvedKey, pair))]
  })
}

function pairPiece(base: readonly (string | number)[], pair: AST.TOMLKeyValue): Piece {
  const [start, end] = pair.range
  return { path: [...base, ...pair.key.keys.map(nameOf)], start, end, pair }
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value
}

/** The servers under `path`. */
export function tomlEntries(document: TomlDocument, path: readonly string[]): ServerEntry[] {
  let servers: unknown = document.value
  for (const key of path) servers = isObject(servers) ? servers[key] : undefined
  if (!isObject(servers)) return []
  return Object.entries(servers).flatMap(([name, value]) =>
    isObject(value) ? spanOf(document, [...path, name], value) : [],
  )
}

function spanOf({ pieces }: TomlDocument, path: readonly string[], value: JsonObject): ServerEntry {
  const own = pieces.filter((piece) => startsWith(piece.path, path))
  const first = own[0]
  const last = own.at(-1)
  const whole = own.find(({ pair, path: at }) => pair !== undefined && at.length === path.length)
  if (whole?.pair !== undefined && own.length === 1) {
    const [start, end] = whole.pair.value.range
    return { path, value, start, end }
  }
  if (first === undefined || last === undefined || whole !== undefined)
    return { path, value, start: 0, end: 0, stuck: 'it stands inside of another inline table' }
  const { start } = first
  const { end } = last
  const between = pieces.some(
    (piece) => piece.start > start && piece.start < end && !own.includes(piece),
  )
  const stuck = between
    ? 'its tables stand apart, with others between them'
    : own.some(({ isArray }) => isArray)
      ? 'it has an array of tables'
      : undefined
  return { path, value, start, end, ...pickDefined({ stuck }) }
}

/** The text of an entry with the keys of `isOurs` replaced by `now`, as raw TOML. */
export function rewriteToml(
  document: TomlDocument,
  { start, end, path }: Pick<ServerEntry, 'start' | 'end' | 'path'>,
  isOurs: (key: string) => boolean,
  now: readonly (readonly [key: string, raw: string])[],
): string {
  const { text } = document
  const own = document.pieces.filter((piece) => startsWith(piece.path, path))
  const inline = own.find(({ path: at, pair }) => at.length === path.length && pair)?.pair?.value
  if (inline?.type === 'TOMLInlineTable') return rewriteInline(text, inline, isOurs, now)
  const ours = own.filter(
    ({ path: at }) => at.length > path.length && isOurs(String(at[path.length])),
  )
  const anchor = ours.find(({ path: at, pair }) => pair && at.length === path.length + 1)
  if (anchor?.pair === undefined) throw new Error('there is nothing to replace')
  const lastKey = anchor.pair.key.keys.at(-1)
  const prefix = text.slice(anchor.start, lastKey?.range[0] ?? anchor.start)
  const separator = lineBreakOf(text) + (indentAt(text, anchor.start) ?? '')
  const edits: Edit[] = ours.map((piece) =>
    piece === anchor
      ? {
          start: piece.start,
          end: piece.end,
          text: now.map(([key, raw]) => `${prefix}${tomlKey(key)} = ${raw}`).join(separator),
        }
      : deletion(text, piece.start, piece.end),
  )
  const inside = edits.map((edit) => ({
    start: Math.max(edit.start, start) - start,
    end: Math.min(edit.end, end) - start,
    text: edit.text,
  }))
  return applyEdits(text.slice(start, end), inside)
}

function rewriteInline(
  text: string,
  table: AST.TOMLInlineTable,
  isOurs: (key: string) => boolean,
  now: readonly (readonly [key: string, raw: string])[],
): string {
  const lines = table.body
    .filter(({ key }) => !isOurs(nameOf(key.keys[0] as AST.TOMLBare)))
    .map(({ range: [from, to] }) => text.slice(from, to))
  return `{ ${[...now.map(([key, raw]) => `${tomlKey(key)} = ${raw}`), ...lines].join(', ')} }`
}

/** On one line. */
export function tomlText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlText).join(', ')}]`
  if (isObject(value)) {
    const pairs = Object.entries(value).map(([key, one]) => `${tomlKey(key)} = ${tomlText(one)}`)
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
  }
  // JSON writes strings, numbers and booleans as TOML reads them, but for one control character.
  return JSON.stringify(value).replaceAll('\x7f', '\\u007F')
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : tomlText(key)
}

function startsWith(path: readonly (string | number)[], start: readonly string[]): boolean {
  return path.length >= start.length && start.every((key, at) => path[at] === key)
}
