// What leaves a file has a written type: a reader sees what a function returns without its body, and a wrong
// member is a fault in the file that makes it and not in one that reads it far away, or nowhere.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'

const COMMENT = /^\s*(?:\/\/|\/?\*)/

type SyntaxNode = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

const files = globSync('packages/*/{src,page/src}/**/*.{ts,tsx}', { cwd: ROOT })
  .filter((path) => !/\.test(-support)?\.tsx?$|\/standard-tests\.ts$/.test(path))
  .map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return { path, text, exported: listExports(path, text) }
  })

test('exported functions and public methods have a result type', () => {
  const wrong = files.flatMap(({ path, text, exported }) =>
    exported
      .flatMap(listFunctions)
      .filter(({ node }) => node.returnType === null)
      .map(({ name, node }) => `${path}:${findLine(text, node)} \`${name}\` has no result type`),
  )
  expect(wrong).toEqual([])
})

test('exported types, parameters and members are not taken from what a function returns', () => {
  const wrong = files.flatMap(({ path, text, exported }) =>
    exported
      .flatMap(listInferred)
      .map((node) => `${path}:${findLine(text, node)} has ReturnType<typeof …>: write the type`),
  )
  expect(wrong).toEqual([])
})

/** A cast that the compiler does not check at all: `as never`, or `as unknown as` another type. */
const UNCHECKED = /\bas (?:never\b|unknown as\b)/

test('values are not cast past the compiler, but for a list that only shrinks', () => {
  const listed = JSON.parse(readFileSync(join(ROOT, 'test/layout/casts.json'), 'utf8')) as Record<
    string,
    number
  >
  const counted = new Map(
    files.flatMap(({ path, text }) => {
      const casts = text.split('\n').filter((line) => UNCHECKED.test(line) && !COMMENT.test(line))
      return casts.length === 0 ? [] : [[path, casts.length] as const]
    }),
  )
  expect([
    ...[...counted]
      .filter(([path, casts]) => casts > (listed[path] ?? 0))
      .map(([path, casts]) => `${path} has ${casts} unchecked casts: write the type, or a reader`),
    ...Object.entries(listed)
      .filter(([path, casts]) => casts !== (counted.get(path) ?? 0))
      .map(([path]) => `${path} has fewer: set ${counted.get(path) ?? 'no entry'} in casts.json`),
  ]).toEqual([])
})

/** The declarations of a file that others can import, also by a list `export { … }`. */
function listExports(path: string, text: string): SyntaxNode[] {
  const body = parseSync(path, text).program.body as unknown as SyntaxNode[]
  const listed = new Set(
    body.flatMap(({ type, source, specifiers }) =>
      type === 'ExportNamedDeclaration' && source === null
        ? (specifiers as SyntaxNode[]).map(({ local }) => nameOf(local))
        : [],
    ),
  )
  return body.flatMap((statement) => {
    if (/^Export(?:Named|Default)Declaration$/.test(statement.type))
      return isNode(statement.declaration) ? [statement.declaration] : []
    return namesOf(statement).some((name) => listed.has(name)) ? [statement] : []
  })
}

function namesOf({ id, declarations }: SyntaxNode): string[] {
  if (Array.isArray(declarations)) return declarations.map((one: SyntaxNode) => nameOf(one.id))
  return isNode(id) ? [nameOf(id)] : []
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : ''
}

type NamedFunction = { readonly name: string; readonly node: SyntaxNode }

/** The functions of one declaration that a caller can reach by a name. */
function listFunctions(declaration: SyntaxNode): NamedFunction[] {
  if (declaration.type === 'FunctionDeclaration')
    return [{ name: nameOf(declaration.id), node: declaration }]
  if (declaration.type === 'ClassDeclaration')
    return publicMembers(declaration)
      .filter(({ kind }) => kind === 'method' || kind === 'get')
      .map(({ key, value }) => ({ name: nameOf(key), node: value as SyntaxNode }))
  if (declaration.type !== 'VariableDeclaration') return []
  return (declaration.declarations as SyntaxNode[]).flatMap(({ id, init }) =>
    isNode(init) && isFunction(init) && !isNode((id as SyntaxNode).typeAnnotation)
      ? [{ name: nameOf(id), node: init }]
      : [],
  )
}

/** `ReturnType<typeof …>` in what others see of a declaration. The bodies of functions are its own. */
function listInferred(declaration: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (isNode(node) && (node.type === 'BlockStatement' || isPrivate(node))) return
    if (isNode(node) && isReturnType(node)) found.push(node)
    for (const child of Object.values(node)) visit(child)
  }
  visit(declaration)
  return found
}

function isReturnType({ type, typeName, typeArguments }: SyntaxNode): boolean {
  if (type !== 'TSTypeReference' || nameOf(typeName) !== 'ReturnType') return false
  const [of] = (typeArguments as { params: SyntaxNode[] } | null)?.params ?? []
  return of?.type === 'TSTypeQuery'
}

function publicMembers({ body }: SyntaxNode): SyntaxNode[] {
  return (body as { body: SyntaxNode[] }).body.filter((member) => !isPrivate(member))
}

function isPrivate({ key, accessibility }: SyntaxNode): boolean {
  return accessibility === 'private' || (isNode(key) && key.type === 'PrivateIdentifier')
}

function isFunction({ type }: SyntaxNode): boolean {
  return type === 'ArrowFunctionExpression' || type === 'FunctionExpression'
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value
}

function findLine(text: string, { start }: SyntaxNode): number {
  return text.slice(0, start).split('\n').length
}
