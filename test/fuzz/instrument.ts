// Instruments code for coverage: a target and everything of ours that it imports become one module with
// a counter in every branch, and a dictionary of the constants in it. Hand-written because the
// coverage-guided fuzzers for Node need a native library that Debian 12 does not have; esbuild bundles,
// Vite's parser reads, and only the insertion of counters is here.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { parseSync } from 'vite'
import { ROOT } from '../support/modules.ts'

/** A change of one line, to see whether the fuzzer finds it. */
export interface PlantedFault {
  readonly file: string
  readonly find: string
  readonly put: string
}

export interface InstrumentedCode {
  /** An ES module; counters are in `globalThis.fuzzEdges`, one byte per edge. */
  readonly code: string
  readonly edges: number
  readonly dictionary: readonly string[]
}

interface AstNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Insertion {
  readonly at: number
  readonly text: string
  readonly closes: boolean
}

const TOKEN_LENGTH_MAX = 32
const TOKENS_MAX = 600
const LOOPS = ['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement']

export async function instrument(target: string, fault?: PlantedFault): Promise<InstrumentedCode> {
  const { outputFiles } = await build({
    entryPoints: [target],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    alias: Object.fromEntries(
      readdirSync(join(ROOT, 'packages')).map((name) => [
        `@sluice/${name}`,
        join(ROOT, 'packages', name, 'src'),
      ]),
    ),
    charset: 'ascii',
    logLevel: 'silent',
    plugins: fault === undefined ? [] : [{ name: 'fault', setup: (made) => plant(made, fault) }],
  })
  return insertCounters(outputFiles[0]?.text ?? '')
}

function plant(
  { onLoad }: Parameters<import('esbuild').Plugin['setup']>[0],
  { file, find, put }: PlantedFault,
): void {
  const source = readFileSync(join(ROOT, file), 'utf8')
  if (source.split(find).length !== 2) throw new Error(`\`${find}\` is not once in ${file}`)
  onLoad({ filter: /\.ts$/ }, ({ path }) =>
    path === join(ROOT, file)
      ? { contents: source.replace(find, () => put), loader: 'ts' }
      : undefined,
  )
}

export function insertCounters(code: string): InstrumentedCode {
  const inserter = new Inserter()
  const { program } = parseSync('target.mjs', code)
  inserter.visit(program as unknown as AstNode)
  const head = `const fuzzEdges = (globalThis.fuzzEdges = new Uint8Array(${inserter.edges}));\n`
  return {
    code: head + splice(code, inserter.insertions),
    edges: inserter.edges,
    dictionary: [...inserter.tokens].slice(0, TOKENS_MAX),
  }
}

class Inserter {
  readonly insertions: Insertion[] = []
  readonly tokens = new Set<string>()
  edges = 0

  visit(node: AstNode): void {
    this.#enter(node)
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) this.visit(child)
  }

  #enter(node: AstNode): void {
    const { body, consequent, alternate } = node as Record<string, unknown>
    if (/Function(Declaration|Expression)$/.test(node.type) || node.type === 'CatchClause') {
      if (isNode(body)) this.#countBody(body)
    } else if (node.type === 'IfStatement') {
      if (isNode(alternate)) this.#countStatement(alternate)
      else this.#put(node.end, ` else {${this.#next()}}`, true)
      this.#countStatement(consequent as AstNode)
    } else if (LOOPS.includes(node.type) || node.type === 'DoWhileStatement')
      this.#countStatement(body as AstNode)
    else if (node.type === 'SwitchCase') {
      const [first] = consequent as AstNode[]
      if (first !== undefined) this.#put(first.start, `${this.#next()};`, false)
    } else if (node.type === 'ConditionalExpression') {
      this.#countExpression(consequent as AstNode)
      this.#countExpression(alternate as AstNode)
    } else if (node.type === 'LogicalExpression') this.#countExpression(node.right as AstNode)
    else if (node.type === 'Literal') this.#collect(node.value)
    else if (node.type === 'TemplateElement') this.#collect((node.value as { raw: string }).raw)
  }

  #countBody(body: AstNode): void {
    if (body.type === 'BlockStatement') this.#put(body.start + 1, `${this.#next()};`, false)
    else this.#countExpression(body)
  }

  #countStatement(statement: AstNode): void {
    if (statement.type === 'BlockStatement') return this.#countBody(statement)
    this.#put(statement.start, `{${this.#next()};`, false)
    this.#put(statement.end, '}', true)
  }

  #countExpression(expression: AstNode): void {
    this.#put(expression.start, `(${this.#next()},`, false)
    this.#put(expression.end, ')', true)
  }

  #put(at: number, text: string, closes: boolean): void {
    this.insertions.push({ at, text, closes })
  }

  #next(): string {
    return `fuzzEdges[${this.edges++}]++`
  }

  #collect(value: unknown): void {
    if (typeof value === 'string' && value !== '' && value.length <= TOKEN_LENGTH_MAX)
      this.tokens.add(value)
    if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 0x110000)
      this.tokens.add(String(value)).add(String.fromCodePoint(value))
  }
}

/** What closes an outer node goes behind what closes an inner one; openings the other way round. */
function splice(code: string, insertions: readonly Insertion[]): string {
  const order = insertions.map((insertion, index) => ({ ...insertion, index }))
  order.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at
    if (a.closes !== b.closes) return a.closes ? -1 : 1
    return a.closes ? b.index - a.index : a.index - b.index
  })
  const parts: string[] = []
  let from = 0
  for (const { at, text } of order) {
    parts.push(code.slice(from, at), text)
    from = at
  }
  return parts.join('') + code.slice(from)
}

function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string'
}
