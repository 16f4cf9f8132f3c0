// Text to a located tree: YAML or JSON, every node with its place in the text. What could hang or
// mislead is refused before the parser sees it: size, nesting, anchor bombs, doubled keys, several
// documents, tags. (The YAML library takes seconds on a megabyte of brackets or anchors; its lexer
// does not, so the lexer's tokens are counted first.)

import { type Document, isAlias, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import {
  DOCUMENT_ANCHORS_MAX,
  DOCUMENT_DEPTH_MAX,
  DOCUMENT_LENGTH_MAX,
  DOCUMENT_NODES_MAX,
} from './limits.ts'
import type { Problems } from './problem.ts'

export type LocatedScalar = {
  readonly kind: 'scalar'
  readonly at: number
  readonly value: string | number | boolean | null
  /** As written: the digits of a number, the text of a string. */
  readonly text: string
  /** Where the content begins: past an opening quote. */
  readonly contentAt: number
}
export type LocatedList = {
  readonly kind: 'list'
  readonly at: number
  readonly items: readonly Located[]
}
export type LocatedMap = {
  readonly kind: 'map'
  readonly at: number
  readonly entries: readonly { readonly key: LocatedScalar; readonly value: Located }[]
}
export type Located = LocatedScalar | LocatedList | LocatedMap

export function entry(map: LocatedMap, key: string): Located | undefined {
  return map.entries.find((candidate) => candidate.key.value === key)?.value
}

/** The tree, or undefined after reporting why there is none. */
export function readDocument(text: string, problems: Problems): Located | undefined {
  if (text.length > DOCUMENT_LENGTH_MAX) {
    problems.error(
      'POLICY_TOO_LARGE',
      0,
      `the document has ${text.length} characters, the limit is ${DOCUMENT_LENGTH_MAX}`,
      'split it into several documents under `policies:`, or use globs and categories',
    )
    return undefined
  }
  if (!lexicallySound(text, problems)) return undefined
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, merge: false })
  const [first] = document.errors
  if (first !== undefined) {
    const what = first.message.split('\n')[0]?.replace(/[.:]\s*$/, '') ?? 'not YAML'
    problems.error('POLICY_SYNTAX', first.pos[0], lowerFirst(what), 'mend the YAML or JSON here')
    return undefined
  }
  if (document.contents === null) {
    problems.error(
      'POLICY_EMPTY',
      0,
      'the document is empty',
      'the smallest policy is `version: 1` and `default: deny`',
    )
    return undefined
  }
  const walker = new Walker(document, problems)
  const tree = walker.locate(document.contents, 0, undefined)
  return walker.failed ? undefined : tree
}

/** One pass over the tokens, in linear time. */
function lexicallySound(text: string, problems: Problems): boolean {
  const fail = (offset: number, message: string, help: string) => {
    problems.error('POLICY_TOO_LARGE', offset, message, help)
    return false
  }
  let offset = 0
  let flow = 0
  let inLine = 0
  let anchors = 0
  for (const token of new Lexer().lex(text)) {
    const first = token[0]
    if (first === '\n' || first === '\r') inLine = 0
    else if (token === '[' || token === '{') flow++
    else if (token === ']' || token === '}') flow = Math.max(0, flow - 1)
    else if (flow === 0 && (token === '-' || token === '?' || token === ':')) inLine++
    else if (first === '&' || first === '*' || first === '!') anchors++
    if (flow > DOCUMENT_DEPTH_MAX || inLine > DOCUMENT_DEPTH_MAX)
      return fail(
        offset,
        `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`,
        'no part of a policy nests like this',
      )
    if (anchors > DOCUMENT_ANCHORS_MAX)
      return fail(
        offset,
        `more than ${DOCUMENT_ANCHORS_MAX} anchors, aliases and tags`,
        'write the values out, or use a glob',
      )
    // Control tokens of the lexer stand for no text.
    if (first !== '\u0002' && first !== '\u0018' && first !== '\u001f') offset += token.length
  }
  return true
}

class Walker {
  failed = false
  readonly #document: Document
  readonly #problems: Problems
  #nodes = 0

  constructor(document: Document, problems: Problems) {
    this.#document = document
    this.#problems = problems
  }

  /** `aliasAt` is where an alias stands that led here: problems are reported there. */
  locate(node: unknown, depth: number, aliasAt: number | undefined): Located {
    const at = aliasAt ?? rangeOf(node)
    if (this.failed) return nothing(at)
    if (++this.#nodes > DOCUMENT_NODES_MAX)
      return this.#fail(
        'POLICY_TOO_LARGE',
        at,
        `more than ${DOCUMENT_NODES_MAX} nodes once aliases are followed`,
        'write the values out, or use a glob',
      )
    if (depth > DOCUMENT_DEPTH_MAX)
      return this.#fail(
        'POLICY_TOO_LARGE',
        at,
        `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`,
        'no part of a policy nests like this',
      )
    if (isAlias(node)) {
      const target = node.resolve(this.#document)
      if (target === undefined)
        return this.#fail('POLICY_SYNTAX', at, `nothing is anchored as \`${node.source}\``, 'write it out')
      return this.locate(target, depth + 1, at)
    }
    if (isMap(node)) return this.#map(node, at, depth, aliasAt)
    if (isSeq(node))
      return {
        kind: 'list',
        at,
        items: node.items.map((item) => this.locate(item, depth + 1, aliasAt)),
      }
    return this.#scalar(node, at)
  }

  #map(node: { items: readonly unknown[] }, at: number, depth: number, aliasAt?: number): Located {
    const seen = new Set<unknown>()
    const entries = []
    for (const item of node.items) {
      const pair = item as { key: unknown; value: unknown }
      const key = this.locate(pair.key, depth + 1, aliasAt)
      if (key.kind !== 'scalar')
        return this.#fail('POLICY_SYNTAX', key.at, 'a key is a list or a mapping', 'keys are plain words')
      const name = key.value === null ? key.text : String(key.value)
      if (seen.has(name))
        return this.#fail(
          'POLICY_DOUBLED_KEY',
          key.at,
          `the key \`${name}\` stands here twice`,
          'keep one: two parsers would not agree which of them holds',
        )
      seen.add(name)
      const value = this.locate(pair.value, depth + 1, aliasAt)
      entries.push({ key: { ...key, value: name }, value: pair.value === null ? nothing(key.at) : value })
    }
    return { kind: 'map', at, entries }
  }

  #scalar(node: unknown, at: number): Located {
    if (!isScalar(node)) return nothing(at)
    if (node.tag !== undefined && !node.tag.startsWith('tag:yaml.org,2002:'))
      return this.#fail('POLICY_SYNTAX', at, `unknown tag \`${node.tag}\``, 'take the tag out')
    const { value } = node
    const text = node.source ?? String(value)
    const contentAt = node.type?.startsWith('QUOTE') ? at + 1 : at
    const plain = typeof value === 'object' && value !== null ? String(value) : value
    return { kind: 'scalar', at, contentAt, value: plain as LocatedScalar['value'], text }
  }

  #fail(code: 'POLICY_TOO_LARGE' | 'POLICY_SYNTAX' | 'POLICY_DOUBLED_KEY', at: number, message: string, help: string): Located {
    if (!this.failed) this.#problems.error(code, at, message, help)
    this.failed = true
    return nothing(at)
  }
}

function rangeOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0
}

function nothing(at: number): LocatedScalar {
  return { kind: 'scalar', at, contentAt: at, value: null, text: '' }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
