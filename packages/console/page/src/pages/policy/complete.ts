// Completion by the language's schema: the path of the cursor is found by indentation, what is
// allowed there by walking the schema; keys of `tools` are the known tools.

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'

export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly $ref?: string
  readonly description?: string
  readonly definitions?: Readonly<Record<string, Schema>>
}

const NAMED = new Set(['tools', 'labels', 'classify', 'destinations', 'trust'])

export function completeFrom(
  context: CompletionContext,
  schema: Schema | undefined,
  names: readonly string[],
): CompletionResult | null {
  if (schema === undefined) return null
  const line = context.state.doc.lineAt(context.pos)
  const before = line.text.slice(0, context.pos - line.from)
  const lines = context.state.doc.sliceString(0, line.from).split('\n').slice(0, -1)
  const path = pathAt(lines, before)
  const value = /^\s*(?:- )?("?[^"#]*?"?):\s+(\S*)$/.exec(before)
  if (value !== null) {
    const [, key = '', word = ''] = value
    const options = listSchemaValues(schema, [...path, unquoted(key)])
    return options.length === 0 ? null : { from: context.pos - word.length, options }
  }
  const typed = /^\s*(?:- )?"?([\w./*-]*)$/.exec(before)
  if (typed === null || (!context.explicit && typed[1] === '')) return null
  const options = listKeys(schema, path, names)
  return options.length === 0 ? null : { from: context.pos - (typed[1]?.length ?? 0), options }
}

/** The keys above the line, by indentation. */
export function pathAt(lines: readonly string[], current: string): string[] {
  let indent = getIndent(current)
  const path: string[] = []
  for (const line of [...lines].reverse()) {
    const key = /^(\s*)(- )?("(?:[^"\\]|\\.)*"|[^\s#:"][^#]*?):(?:\s|$)/.exec(line)
    if (key === null || getIndent(line) >= indent) continue
    indent = getIndent(line)
    path.unshift(unquoted(key[3] ?? ''))
    if (indent === 0) break
  }
  return path
}

function getIndent(line: string): number {
  return line.length - line.trimStart().length
}

function unquoted(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1')
}

/** Every schema that may apply at a path. */
export function schemasAt(root: Schema, path: readonly string[]): Schema[] {
  let schemas = spread(root, root)
  for (const key of path)
    schemas = schemas.flatMap((schema) => {
      const below =
        schema.properties?.[key] ??
        Object.values(schema.patternProperties ?? {})[0] ??
        (typeof schema.additionalProperties === 'object'
          ? schema.additionalProperties
          : undefined) ??
        schema.items
      return below === undefined ? [] : spread(below, root)
    })
  return schemas
}

function spread(schema: Schema, root: Schema): Schema[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    const target = root.definitions?.[name]
    return target === undefined ? [] : spread(target, root)
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.flatMap((choice) => spread(choice, root))
  return schema.items === undefined ? [schema] : [schema, ...spread(schema.items, root)]
}

function listKeys(root: Schema, path: readonly string[], names: readonly string[]): Completion[] {
  const schemas = schemasAt(root, path)
  const keys = schemas.flatMap(({ properties }) => Object.entries(properties ?? {}))
  const known = path.length === 1 && NAMED.has(path[0] ?? '') ? names : []
  return [
    ...keys.map(([label, { description }]) => ({
      label,
      type: 'property',
      apply: `${label}: `,
      ...(description === undefined ? {} : { info: description }),
    })),
    ...known.map((label) => ({ label, type: 'variable', apply: `${label}: ` })),
  ]
}

function listSchemaValues(root: Schema, path: readonly string[]): Completion[] {
  const words = schemasAt(root, path).flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [String(schema.const)]),
  ])
  return [...new Set(words)].map((label) => ({ label, type: 'enum' }))
}
