// Adds the rules of a pack to a policy. The YAML library says where each section ends; the text is spliced
// there, so that every byte of the policy stays: comments, order, spacing. An entry that the policy has
// already wins over the pack's. Pure.

import { isDeepStrictEqual } from 'node:util'
import {
  applyEdit,
  endOfEntry,
  lineBreakOf,
  lineStart,
  nextLine,
  type TextEdit,
} from '@sluice/policy/document/edit-mapping'
import { findPair, getRange } from '@sluice/policy/document/parse-yaml'
import { globMatches, isGlob, parseGlob } from '@sluice/policy/language/glob'
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml'

export interface MergeOptions {
  /** Name of the server in the policy. */
  readonly server: string
  readonly pack: { readonly name: string; readonly policy: string }
  /** Tools of the server: rules for others are left out. Undefined if they are not known. */
  readonly tools?: ReadonlySet<string> | undefined
  /** Which sections of the pack are added; all if left out. */
  readonly sections?: readonly Section[]
}

/** A policy with the entries of a pack. */
export interface MergedPolicy {
  readonly text: string
  /** How many entries were added, by section. */
  readonly added: Readonly<Record<string, number>>
  /** Entries of the policy that differ from the pack's, and stay. */
  readonly kept: readonly string[]
  /** Entries of the pack for tools that the server does not have. */
  readonly leftOut: readonly string[]
}

interface PackEntry {
  readonly name: string
  readonly value: unknown
  /** As it stands in the pack, with its comment and without indentation. */
  readonly lines: readonly string[]
}

const SECTIONS = ['labels', 'classify', 'trust', 'destinations', 'tools', 'guardrails'] as const
type Section = (typeof SECTIONS)[number]

/** Throws if the policy has a form that cannot be added to. */
export function mergePack(text: string, options: MergeOptions): MergedPolicy {
  const { pack, server, sections = SECTIONS } = options
  const packText = renameServer(pack.policy, pack.name, server)
  const packDocument = parseDocument(packText)
  const added: Record<string, number> = {}
  const kept: string[] = []
  const leftOut: string[] = []
  const comment = ` From the pack \`${pack.name}\`.`
  const edits: TextEdit[] = []
  const newSections: SectionEntries[] = []
  const document = parseDocument(text)
  const root = document.contents
  if (!isMap(root) || root.flow === true) throw new Error('it is written in brackets, like JSON')
  for (const section of sections) {
    const existing = entriesOf(document, section)
    const fresh = listEntries(packText, packDocument, section).flatMap((entry) => {
      const fitting = fitEntry(entry, section, options)
      if (fitting === undefined) leftOut.push(entry.name)
      else if (!existing.has(entry.name)) return [fitting]
      else if (!isDeepStrictEqual(existing.get(entry.name), fitting.value)) kept.push(entry.name)
      return []
    })
    if (fresh.length === 0) continue
    added[section] = fresh.length
    const pair = findPair(root as YAMLMap, section)
    const entries = { section, entries: fresh, comment }
    if (pair === undefined) newSections.push(entries)
    else edits.push(insertEntries(text, pair, entries))
  }
  // From the end of the text to its beginning, so that every place is still where it was found.
  edits.sort((a, b) => b.start - a.start)
  const merged = newSections.reduce(appendSection, edits.reduce(applyEdit, text))
  assertContains(parseDocument(merged).toJS(), document.toJS())
  return { text: merged, added, kept, leftOut }
}

/** A pack's texts with the name that the server has here. */
export function renameServer(text: string, from: string, to: string): string {
  if (from === to) return text
  return text
    .replace(new RegExp(`(?<![\\w./-])${from}/`, 'g'), () => `${to}/`)
    .replace(new RegExp(`"${from}: `, 'g'), () => `"${to}: `)
    .replace(new RegExp(`\\bserver: ${from}\\b`, 'g'), () => `server: ${to}`)
}

/** Of the policy: the values under a section by name. */
function entriesOf(document: Document, section: Section): Map<string, unknown> {
  const node = document.get(section)
  if (isMap(node)) return new Map(Object.entries(node.toJS(document) as object))
  if (!isSeq(node)) return new Map()
  const items = node.toJS(document) as { name?: unknown }[]
  return new Map(items.map((item) => [String(item?.name), item]))
}

/** Of the pack: its maps and lists are block style, two spaces deep. */
function listEntries(text: string, pack: Document, section: Section): PackEntry[] {
  const node = pack.get(section)
  if (isSeq(node))
    return node.items.flatMap((item) => {
      if (!isMap(item)) return []
      const value = item.toJS(pack) as { name: string }
      return [{ name: value.name, value, lines: writeItem(value) }]
    })
  if (!isMap(node)) return []
  return node.items.map(({ key, value }) => {
    const [start, end] = [getRange(key)[0], getRange(value)[1]]
    const comment = isNode(key) ? (key.commentBefore ?? '') : ''
    const above = comment === '' ? [] : comment.split('\n').map((line) => `#${line}`)
    const own = text.slice(start, end).trimEnd().split('\n')
    const lines = own.map((line, at) => (at === 0 ? line : line.slice(2)))
    const name = isScalar(key) ? String(key.value) : ''
    const plain = isNode(value) ? value.toJS(pack) : value
    return { name, value: plain, lines: [...above, ...lines] }
  })
}

function writeItem(value: unknown): string[] {
  return stringify([value], { lineWidth: 0 }).trimEnd().split('\n')
}

/** Without the tools that the server does not have; undefined if nothing is left. */
function fitEntry(
  entry: PackEntry,
  section: Section,
  options: MergeOptions,
): PackEntry | undefined {
  if (section !== 'guardrails') return hasTool(entry.name, options) ? entry : undefined
  const value = entry.value as { readonly match?: { readonly tools?: readonly string[] } }
  const tools = value.match?.tools
  if (tools === undefined) return entry
  const own = tools.filter((tool) => hasTool(tool, options))
  if (own.length === 0) return undefined
  const narrowed = { ...value, match: { ...value.match, tools: own } }
  return { name: entry.name, value: narrowed, lines: writeItem(narrowed) }
}

function hasTool(key: string, { server, tools }: MergeOptions): boolean {
  if (tools === undefined) return true
  if (!isGlob(key)) return tools.has(key.slice(server.length + 1))
  const glob = parseGlob(key)
  return [...tools].some((tool) => globMatches(glob, server, tool))
}

interface SectionEntries {
  readonly section: Section
  readonly entries: readonly PackEntry[]
  readonly comment: string
}

/** At the end of the policy, which has no such section. */
function appendSection(text: string, section: SectionEntries): string {
  const end = lineBreakOf(text)
  const gap = text.endsWith('\n') ? '' : end
  return `${text}${gap}${end}${section.section}:${end}${writeEntries(section, '  ', end)}`
}

function writeEntries({ entries, comment }: SectionEntries, indent: string, end: string): string {
  return [`#${comment}`, ...entries.flatMap(({ lines }) => lines)]
    .map((line) => `${indent}${line}${end}`)
    .join('')
}

/** The edit that adds entries to a section of the policy. */
function insertEntries(text: string, pair: Pair, added: SectionEntries): TextEdit {
  const { section, entries, comment } = added
  const end = lineBreakOf(text)
  const splice = (at: number, put: string): TextEdit => ({ start: at, end: at, text: put })
  const block = (indent: string): string => writeEntries(added, indent, end)
  const node = pair.value
  if (!isMap(node) && !isSeq(node)) {
    if (!isScalar(node) || node.value !== null) throw new Error(`\`${section}\` has no entries`)
    const at = nextLine(text, getRange(pair.key)[1])
    return splice(at, `${text[at - 1] === '\n' ? '' : end}${block('  ')}`)
  }
  if (node.flow !== true) {
    const last = node.items.at(-1)
    const at = nextLine(text, endOfEntry(text, isPair(last) ? last : { key: last }))
    const first = node.items[0]
    const start = isPair(first) ? getRange(first.key)[0] : getRange(node)[0]
    const indent = text.slice(lineStart(text, start), start)
    if (indent.trim() !== '') throw new Error(`\`${section}\` is written in a form of its own`)
    return splice(at, `${text[at - 1] === '\n' ? '' : end}${end}${block(indent)}`)
  }
  // Before the closing bracket, an entry a line.
  const at = getRange(node)[1] - 1
  const written = entries.map(({ name, value }) =>
    isSeq(node) ? JSON.stringify(value) : `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  )
  const before = text.slice(0, at).trimEnd()
  const comma = node.items.length === 0 || before.endsWith(',') ? '' : ','
  const lines = `${comma}${end}  #${comment}${end}  ${written.join(`,${end}  `)}${end}`
  return { start: before.length, end: at, text: lines }
}

/** Nothing of the policy may be lost or changed on the way. */
function assertContains(merged: Record<string, unknown>, before: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(before)) {
    const now = merged[key]
    const isSection = (SECTIONS as readonly string[]).includes(key)
    const isKept = !isSection
      ? isDeepStrictEqual(now, value)
      : Array.isArray(value)
        ? isDeepStrictEqual((now as unknown[]).slice(0, value.length), value)
        : Object.entries(value ?? {}).every(([name, rule]) =>
            isDeepStrictEqual((now as Record<string, unknown>)[name], rule),
          )
    if (!isKept) throw new Error(`\`${key}\` would not stay as it is`)
  }
}
