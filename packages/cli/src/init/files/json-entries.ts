// Servers in a JSON file with comments and trailing commas: where each stands, and a change of the
// keys of one that leaves every other byte alone. Pure.

import { countEach } from '@sluice/policy/structures/count-each'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import type { ServerEntry } from './client.ts'
import { ClientError } from './errors.ts'
import { applyEdits, deletion, type Edit, indentAt, lineBreakOf } from './text-edits.ts'

/** A JSON file of a client. */
export interface JsonDocument {
  readonly text: string
  /** The tree with the places of its parts; undefined if the file is empty. */
  readonly root: Node | undefined
  /** The value, which may be anything; an empty object if the file is empty. */
  readonly value: unknown
}

export function parseJson(text: string, file: string): JsonDocument {
  const errors: ParseError[] = []
  // A byte order mark is one character that the parser does not know; a space keeps all offsets.
  const plain = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text
  if (plain.trim() === '') return { text, root: undefined, value: {} }
  let root: Node | undefined
  try {
    root = parseTree(plain, errors, { allowTrailingComma: true })
    const [first] = errors
    if (first === undefined && root !== undefined) return { text, root, value: getNodeValue(root) }
    throw broken(file, plain, first?.offset ?? 0, describeSyntaxError(first?.error ?? 1))
  } catch (error) {
    if (error instanceof ClientError) throw error
    throw broken(file, plain, 0, 'nested too deeply')
  }
}

/** `CloseBraceExpected`: a `}` is missing. */
function describeSyntaxError(error: number): string {
  const name = printParseErrorCode(error)
  return SYNTAX_ERRORS[name] ?? name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
}

const SYNTAX_ERRORS: Readonly<Record<string, string>> = {
  CloseBraceExpected: 'a `}` is missing',
  CloseBracketExpected: 'a `]` is missing',
  ColonExpected: 'a `:` is missing',
  CommaExpected: 'a comma is missing',
  EndOfFileExpected: 'there is more text behind the end',
  PropertyNameExpected: 'a key in double quotes is missing',
  UnexpectedEndOfString: 'a text has no closing quote',
  ValueExpected: 'a value is missing',
}

function broken(file: string, text: string, offset: number, what: string): ClientError {
  const before = text.slice(0, offset).split('\n')
  const place = `${before.length}:${(before.at(-1) as string).length + 1}`
  return new ClientError(
    'CLIENT_FILE',
    `\`${file}:${place}\` is not JSON: ${what}`,
    'fix it there; the client that owns the file may show the same place',
  )
}

/** The servers under `path`. */
export function jsonEntries({ root }: JsonDocument, path: readonly string[]): ServerEntry[] {
  let node = root
  let doubled = false
  for (const key of path) {
    const members = membersOf(node).filter((member) => getMemberName(member) === key)
    if (members.length > 1) doubled = true
    node = members.at(-1)?.children?.[1]
  }
  const names = countEach(membersOf(node).map(getMemberName))
  return membersOf(node).flatMap((member) => {
    const object = member.children?.[1]
    const value: unknown = object && getNodeValue(object)
    if (object === undefined || !isObject(value)) return []
    const twice = doubled || (names.get(getMemberName(member)) ?? 0) > 1 || hasDoubledKey(object)
    return {
      path: [...path, getMemberName(member)],
      value,
      start: object.offset,
      end: object.offset + object.length,
      ...(twice ? { stuck: 'a key stands there twice, and two readers could differ' } : {}),
    }
  })
}

/** The text of an entry with the keys of `isOurs` replaced by `now`, as raw JSON. */
export function rewriteJson(
  { text, root }: JsonDocument,
  { start, end }: Pick<ServerEntry, 'start' | 'end'>,
  isOurs: (key: string) => boolean,
  now: readonly (readonly [key: string, raw: string])[],
): string {
  const members = membersOf(nodeAt(root, start))
  const first = members.findIndex((member) => isOurs(getMemberName(member)))
  const anchor = members[first]
  if (anchor === undefined) throw new Error('there is nothing to replace')
  const keeps = members.map((member, at) => at === first || !isOurs(getMemberName(member)))
  const commas = members.map((member) => commaAfter(text, member.offset + member.length))
  const gone = new Set<number>()
  const last = keeps.lastIndexOf(true)
  members.forEach((_, at) => {
    // Between two that stay one comma stays; after the last one, if there was a trailing one.
    const staysHere = keeps[at] === true && (at < last || commas.at(-1) !== undefined)
    const comma = commas[at]
    if (comma !== undefined && !staysHere) gone.add(comma)
  })
  const indent = indentAt(text, anchor.offset)
  const separator = indent === undefined ? ', ' : `,${lineBreakOf(text)}${indent}`
  const edits: Edit[] = [...gone].map((at) => ({ start: at, end: at + 1, text: '' }))
  edits.push({
    start: anchor.offset,
    end: anchor.offset + anchor.length,
    text: now.map(([key, raw]) => `${JSON.stringify(key)}: ${raw}`).join(separator),
  })
  members.forEach((member, at) => {
    if (keeps[at] === true) return
    edits.push(deletion(text, member.offset, member.offset + member.length, (c) => gone.has(c)))
  })
  const inside = edits.map((edit) => ({
    start: edit.start - start,
    end: Math.min(edit.end, end) - start,
    text: edit.text,
  }))
  return applyEdits(text.slice(start, end), inside)
}

/** A file with one more entry, and the part of its text that was added. */
export interface AddedEntry {
  readonly text: string
  readonly added: string
}

/** Puts an entry before the others, so that what stands behind them, a comma among it, stays as it is. */
export function addEntry(
  { text, root }: JsonDocument,
  [section, name]: readonly [section: string, name: string],
  entry: JsonObject,
): AddedEntry {
  const there = membersOf(root).find((member) => getMemberName(member) === section)?.children?.[1]
  const member = `${JSON.stringify(name)}: ${jsonText(entry)}`
  if (there?.type === 'object') return putFirst(text, there, member)
  if (root?.type === 'object' && there === undefined)
    return putFirst(text, root, `${JSON.stringify(section)}: { ${member} }`)
  throw new Error(`\`${section}\` is there, and has no entries`)
}

function putFirst(text: string, object: Node, member: string): AddedEntry {
  const [first] = membersOf(object)
  const at = first?.offset ?? object.offset + 1
  const indent = first && indentAt(text, first.offset)
  const separator = indent === undefined ? ' ' : `${lineBreakOf(text)}${indent}`
  const added = first === undefined ? ` ${member} ` : `${member},${separator}`
  return { text: text.slice(0, at) + added + text.slice(at), added }
}

/** On one line, as a person writes it. */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value as JsonObject)
  if (members.length === 0) return '{}'
  return `{ ${members.map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one)}`).join(', ')} }`
}

function membersOf(node: Node | undefined): readonly Node[] {
  return node?.type === 'object' ? (node.children ?? []) : []
}

function getMemberName(member: Node): string {
  return String(member.children?.[0]?.value)
}

function hasDoubledKey(node: Node): boolean {
  const keys = membersOf(node).map(getMemberName)
  if (new Set(keys).size < keys.length) return true
  return (node.children ?? []).some(hasDoubledKey)
}

function nodeAt(node: Node | undefined, offset: number): Node | undefined {
  if (node === undefined) return undefined
  if (node.type === 'object' && node.offset === offset) return node
  const child = node.children?.find(
    (one) => one.offset <= offset && offset < one.offset + one.length,
  )
  return nodeAt(child, offset)
}

function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(offset)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === ',' ? at : undefined
}
