// Parses text to a YAML document, or reports the first problem. The library's `parseDocument`
// collects every error, which takes half a minute on a megabyte of brackets. This module drives its
// parts directly: each token is checked before the parser sees it, and parsing stops at the first
// error.

import {
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isScalar,
  Lexer,
  type Pair,
  Parser,
  type YAMLMap,
} from 'yaml'
import { TokenCheck } from './check-tokens.ts'
import { DOCUMENT_DEPTH_MAX } from './limits.ts'
import type { Problems } from './problem.ts'

/** Returns undefined after reporting why. */
export function parseYaml(text: string, problems: Problems): Document | undefined {
  const tokens = checkedTokens(text, problems)
  if (tokens === undefined) return undefined
  const parser = new Parser()
  const trees = [...tokens.flatMap((token) => [...parser.next(token)]), ...parser.end()]
  try {
    return compose(trees, text.length)
  } catch (error) {
    if (!(error instanceof FirstError)) throw error
    const { message, help } = describeError(error)
    const code = error.code === 'RESOURCE_EXHAUSTION' ? 'DOCUMENT_TOO_LARGE' : 'DOCUMENT_SYNTAX'
    problems.error(code, error.at, message, help)
    return undefined
  }
}

function checkedTokens(text: string, problems: Problems): string[] | undefined {
  const check = new TokenCheck(problems)
  const tokens: string[] = []
  for (const token of new Lexer().lex(text)) {
    if (!check.take(token)) return undefined
    tokens.push(token)
  }
  return check.end() ? tokens : undefined
}

function compose(trees: readonly CST.Token[], length: number): Document {
  const broken = trees.find((tree) => tree.type === 'error')
  const sound = broken === undefined ? trees : trees.slice(0, trees.indexOf(broken))
  const composer = new Composer({ uniqueKeys: false, merge: false, logLevel: 'silent' })
  // The library calls this for every error and warning, and offers no other way to stop. It catches
  // what is thrown once and reports it again; then the first error is thrown again.
  let first: FirstError | undefined
  const onError = (source: ErrorSource, code: ErrorCode, message: string, warning?: boolean) => {
    if (warning === true) return
    first ??= new FirstError(getErrorOffset(source), code, message)
    throw first
  }
  Object.assign(composer, { onError })
  const [document, second] = [...composer.compose(sound, true, length)]
  if (broken !== undefined) throw new FirstError(broken.offset, 'UNEXPECTED_TOKEN', '')
  if (second !== undefined) throw new FirstError(second.range[0], 'MULTIPLE_DOCS', '')
  return document as Document
}

type ErrorSource = number | [number, number] | { readonly offset: number }

function getErrorOffset(source: ErrorSource): number {
  if (typeof source === 'number') return source
  return Array.isArray(source) ? source[0] : source.offset
}

class FirstError extends Error {
  readonly at: number
  readonly code: ErrorCode
  constructor(at: number, code: ErrorCode, message: string) {
    super(message)
    this.at = at
    this.code = code
  }
}

/** Parser errors in terms of what the user wrote. */
const PLAIN_WORDS: Partial<Record<ErrorCode, { message: string; help: string }>> = {
  TAB_AS_INDENT: { message: 'a tab indents this line', help: 'indent with spaces' },
  MULTIPLE_DOCS: {
    message: 'a second document begins here',
    help: 'one file has one policy: remove the `---`, or split the file',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a line lacks its `:`, or an entry its comma',
    help: 'write `key: value`; in JSON, put a comma between entries',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'this line has a second `: `',
    help: 'put the text in quotes',
  },
  RESOURCE_EXHAUSTION: {
    message: `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`,
    help: 'no part of a policy nests like this',
  },
  UNEXPECTED_TOKEN: {
    message: 'nothing may follow here',
    help: 'look for a missing comma or quote, or a second document',
  },
}

function describeError({ code, message }: FirstError): { message: string; help: string } {
  if (message.startsWith('All mapping items must start'))
    return {
      message: 'this line is not aligned with its sibling keys',
      help: 'indent all keys of one mapping alike',
    }
  const known = PLAIN_WORDS[code]
  if (known !== undefined) return known
  const what = message.split('\n')[0]?.replace(/[.:]\s*$/, '') ?? ''
  return {
    message: what.charAt(0).toLowerCase() + what.slice(1),
    help: 'fix the YAML or JSON here',
  }
}

export type SourceRange = readonly [start: number, valueEnd: number, nodeEnd: number]

/** Where a node of a parsed document is in its text. */
export function getRange(node: unknown): SourceRange {
  return (node as { range: SourceRange }).range
}

export function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key)
}
