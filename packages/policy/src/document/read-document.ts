// Text to a located tree: YAML or JSON, every node with its offset in the text. Rejects what could
// hang or mislead: size, nesting, anchor bombs, duplicate keys, several documents, tags, merge
// keys. Input that could hang the YAML parser never reaches it (parse-yaml.ts, check-tokens.ts).

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  visit,
  type YAMLMap,
} from 'yaml'
import { DOCUMENT_DEPTH_MAX, DOCUMENT_LENGTH_MAX, DOCUMENT_NODES_MAX } from './limits.ts'
import { parseYaml } from './parse-yaml.ts'
import type { Problems } from './problem.ts'

export type LocatedScalar = {
  readonly kind: 'scalar'
  readonly at: number
  readonly value: string | number | boolean | null
  /** The scalar as it is written: the digits of a number, the text of a string. */
  readonly text: string
  /** Where the content begins: past an opening quote. */
  readonly contentAt: number
  /**
   * The source text from `contentAt` on, if it differs from the value: block scalars, escapes, text
   * over several lines.
   */
  readonly raw?: { readonly text: string; readonly letters: RegExp }
}
export type LocatedList = {
  readonly kind: 'list'
  readonly at: number
  readonly items: readonly LocatedNode[]
}
export type LocatedMap = {
  readonly kind: 'map'
  readonly at: number
  /** The offset after the last character. */
  readonly end: number
  readonly entries: readonly { readonly key: LocatedScalar; readonly value: LocatedNode }[]
}
export type LocatedNode = LocatedScalar | LocatedList | LocatedMap

export function findEntry(map: LocatedMap, key: string): LocatedNode | undefined {
  return map.entries.find((candidate) => candidate.key.value === key)?.value
}

/** The tree, or undefined after reporting why there is none. */
export function readDocument(text: string, problems: Problems): LocatedNode | undefined {
  if (text.length > DOCUMENT_LENGTH_MAX) {
    problems.error(
      'DOCUMENT_TOO_LARGE',
      0,
      `the document has ${text.length} characters, the limit is ${DOCUMENT_LENGTH_MAX}`,
      'split it into several documents under `policies:`, or use globs and categories',
    )
    return undefined
  }
  const document = parseYaml(text, problems)
  if (document === undefined) return undefined
  const { contents } = document
  if (
    contents === null ||
    (isScalar(contents) && contents.value === null && contents.tag === undefined)
  ) {
    const help =
      'the smallest policy is `version: 1` and `default: deny`; a configuration also has `servers`'
    problems.error('DOCUMENT_EMPTY', 0, 'the document is empty', help)
    return undefined
  }
  const walker = new Walker(document, text, problems)
  const tree = walker.locate(contents, 0)
  return walker.failed ? undefined : tree
}

/** How one letter of a value is written, by the quotes around it. */
const LETTERS = {
  none: /[\s\S]/g,
  single: /''|[\s\S]/g,
  double: /\\u[0-9a-fA-F]{4}|\\[\s\S]|[\s\S]/g,
}

/** Offset in the document of the letter at `offset` of a text's value. */
export function getSourceOffset(scalar: LocatedScalar, offset: number): number {
  const { raw, contentAt, value } = scalar
  if (raw === undefined || typeof value !== 'string') return contentAt + offset
  // Line breaks and indentation differ between the value and the document; the letters do not.
  const before = value.slice(0, offset).replace(/\s/g, '').length
  let seen = 0
  for (const { index, 0: letter } of raw.text.matchAll(raw.letters)) {
    if (/^(\s|\\[nrt\n])$/.test(letter)) continue
    if (seen++ === before) return contentAt + index
  }
  return contentAt + raw.text.length
}

class Walker {
  failed = false
  readonly #targets: ReadonlyMap<Alias, Node>
  readonly #text: string
  readonly #problems: Problems
  #nodes = 0

  constructor(document: Document, text: string, problems: Problems) {
    this.#targets = aliasTargets(document)
    this.#text = text
    this.#problems = problems
  }

  /** `aliasAt`: offset of the alias that led to this node. */
  locate(node: unknown, depth: number, aliasAt?: number): LocatedNode {
    const at = aliasAt ?? getStart(node)
    if (this.failed) return nothing(at)
    if (++this.#nodes > DOCUMENT_NODES_MAX)
      return this.#fail(
        'DOCUMENT_TOO_LARGE',
        at,
        `more than ${DOCUMENT_NODES_MAX} nodes once aliases are followed`,
        'write the values out, or use a glob',
      )
    if (depth > DOCUMENT_DEPTH_MAX)
      return this.#fail(
        'DOCUMENT_TOO_LARGE',
        at,
        `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`,
        'no part of a policy nests like this',
      )
    if (isAlias(node)) {
      const target = this.#targets.get(node)
      if (target !== undefined) return this.locate(target, depth + 1, at)
      return this.#fail(
        'DOCUMENT_SYNTAX',
        at,
        `\`*${node.source}\` refers to nothing: no \`&${node.source}\` comes before it`,
        'write the value out, or put it in quotes if it is a text',
      )
    }
    if ((node as { tag?: string } | null)?.tag !== undefined) return this.#tagged(node)
    if (isMap(node)) return this.#map(node, at, depth)
    if (isSeq(node))
      return { kind: 'list', at, items: node.items.map((item) => this.locate(item, depth + 1)) }
    return this.#scalar(node, at)
  }

  /** A tag changes the meaning of a value, and parsers disagree on how. */
  #tagged(node: unknown): LocatedNode {
    const before = this.#text.slice(0, getStart(node))
    const at = lastTagStart(before)
    const [written] = /^\S*/.exec(before.slice(at)) as RegExpExecArray
    return this.#fail(
      'DOCUMENT_SYNTAX',
      at,
      `\`${written}\` is a tag`,
      'take the tag out: a policy has none',
    )
  }

  #map(node: Pick<YAMLMap, 'items' | 'range'>, at: number, depth: number): LocatedNode {
    const seen = new Set<unknown>()
    const entries = []
    for (const item of node.items) {
      const pair = item as { key: unknown; value: unknown }
      const key = this.locate(pair.key, depth + 1)
      if (key.kind !== 'scalar')
        return this.#fail(
          'DOCUMENT_SYNTAX',
          key.at,
          'a key is a list or a mapping',
          'keys are plain words',
        )
      const name = key.value === null ? key.text : String(key.value)
      if (name === '<<')
        return this.#fail(
          'DOCUMENT_SYNTAX',
          key.at,
          '`<<` would merge another mapping into this one',
          'write the keys out: a policy has no merge keys',
        )
      if (seen.has(name))
        return this.#fail(
          'DOCUMENT_DOUBLED_KEY',
          key.at,
          `the key \`${name}\` appears twice`,
          'keep one: parsers disagree on which of them applies',
        )
      seen.add(name)
      const value = this.locate(pair.value, depth + 1)
      entries.push({
        key: { ...key, value: name },
        value: pair.value === null ? nothing(key.at) : value,
      })
    }
    return { kind: 'map', at, end: node.range?.[1] ?? at, entries }
  }

  #scalar(node: unknown, at: number): LocatedNode {
    if (!isScalar(node)) return nothing(at)
    const { value, range } = node
    const text = node.source ?? String(value)
    const start = getStart(node)
    const { contentAt, raw } = this.#content(node.type, start, range?.[1] ?? start, text)
    const plain = typeof value === 'object' && value !== null ? String(value) : value
    const scalar = {
      kind: 'scalar',
      at,
      contentAt,
      value: plain as LocatedScalar['value'],
      text,
    } as const
    return raw === undefined ? scalar : { ...scalar, raw }
  }

  /** Where the content of a scalar starts, and its source text if that differs from the value. */
  #content(
    type: unknown,
    start: number,
    end: number,
    text: string,
  ): Pick<LocatedScalar, 'contentAt' | 'raw'> {
    const rest = (from: number, letters: RegExp) => ({
      contentAt: from,
      raw: { text: this.#text.slice(from, end), letters },
    })
    if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED')
      return rest(this.#text.indexOf('\n', start) + 1, LETTERS.none)
    const quoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
    const contentAt = quoted ? start + 1 : start
    if (this.#text.startsWith(text, contentAt)) return { contentAt }
    if (!quoted) return rest(contentAt, LETTERS.none)
    return rest(contentAt, type === 'QUOTE_DOUBLE' ? LETTERS.double : LETTERS.single)
  }

  #fail(
    code: 'DOCUMENT_TOO_LARGE' | 'DOCUMENT_SYNTAX' | 'DOCUMENT_DOUBLED_KEY',
    at: number,
    message: string,
    help: string,
  ): LocatedNode {
    if (!this.failed) this.#problems.error(code, at, message, help)
    this.failed = true
    return nothing(at)
  }
}

/**
 * Maps each alias to its anchored node: the last anchor of that name before it. One pass, because
 * the library scans the whole document for every alias.
 */
function aliasTargets(document: Document): Map<Alias, Node> {
  const anchored = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchored.set(node.anchor, node as Node)
        return
      }
      const target = anchored.get(node.source)
      if (target !== undefined) targets.set(node, target)
    },
  })
  return targets
}

/** Offset of the last tag of a text, which may begin with several `!`. */
function lastTagStart(text: string): number {
  let start = text.lastIndexOf('!')
  while (text[start - 1] === '!') start--
  return start
}

function getStart(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0
}

function nothing(at: number): LocatedScalar {
  return { kind: 'scalar', at, contentAt: at, value: null, text: '' }
}
