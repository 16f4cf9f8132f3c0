// The schema for editors: the file on disk is current, accepts every document the loader accepts,
// and has every field of the language.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { document } from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import { schemaComplaints } from '../../../../test/support/schema-complaints.ts'
import { compile } from '../compile/compile.ts'
import type { Shape } from '../document/shape.ts'
import { policyJsonSchema } from './json-schema.ts'
import { DOCUMENT } from './language.ts'

const PACKAGE = join(import.meta.dirname, '..', '..')
const ROOT = join(PACKAGE, '..', '..')
const schema = policyJsonSchema() as Node

interface Node {
  readonly [keyword: string]: unknown
}

test('schema/policy.json is current; `npm run build` writes it', () => {
  const onDisk = JSON.parse(readFileSync(join(PACKAGE, 'schema', 'policy.json'), 'utf8'))
  expect(onDisk).toEqual(JSON.parse(JSON.stringify(schema)))
})

describe('the schema', () => {
  test('describes every field', () => {
    const objects = [schema, ...Object.values(schema.definitions as Record<string, Node>)]
    const silent = objects.flatMap((object) =>
      Object.entries(object.properties as Record<string, Node>).filter(
        ([, field]) => typeof field.description !== 'string' || field.description === '',
      ),
    )
    expect(silent.map(([name]) => name)).toEqual([])
  })

  test('has every field of the language, and no other', () => {
    const inSchema = [schema, ...Object.values(schema.definitions as Record<string, Node>)]
      .flatMap((object) => Object.keys(object.properties as object))
      .sort()
    expect(inSchema).toEqual(fieldsOf(DOCUMENT).sort())
  })

  test('has a definition for every reference, and uses every definition', () => {
    const used = new Set(
      [...JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, name]) => name),
    )
    expect([...used].sort()).toEqual(Object.keys(schema.definitions as object).sort())
  })

  test.each([
    ['an unknown key', 'defalt: deny'],
    ['an unknown word', 'tools: { a/b: alow }'],
    ['a guardrail that allows', 'guardrails: [{ name: g, action: allow }]'],
    ['a name without a server', 'tools: { b: allow }'],
    ['a limit without a window', 'tools: { a/b: { action: allow, rate_limit: { max: 1 } } }'],
    ['a limit of zero', 'tools: { a/b: { action: allow, rate_limit: { max: 0, window: 1 } } }'],
    [
      'a duration without a unit',
      'tools: { a/b: { action: allow, rate_limit: { max: 1, window: soon } } }',
    ],
    ['a mode that is none', 'mode: off'],
  ])('marks %s', (_what, line) => {
    const text = `version: 1\ndefault: deny\n${line}\n`
    expect(complaints(parse(text))).not.toEqual([])
    expect(compile({ file: 'p', text }).policy).toBeUndefined()
  })

  test.each(['{}', 'version: 1', 'default: deny', 'version: 2\ndefault: deny', '[]'])(
    'marks %s',
    (text) => {
      expect(complaints(parse(text))).not.toEqual([])
    },
  )

  test('accepts the documents of the cases and of the page', () => {
    const folder = join(ROOT, 'test', 'cases', 'policies')
    const files = readdirSync(folder).filter((file) => file.endsWith('.policy.yaml'))
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'))
    const page = readFileSync(join(ROOT, 'docs', 'reference', 'policy-language.md'), 'utf8')
    texts.push(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
    expect(texts.length).toBeGreaterThan(10)
    for (const text of texts) expect(complaints(parse(text))).toEqual([])
  })

  test('accepts every document the loader accepts', () => {
    const property = fc.property(document, (text) => {
      expect(complaints(text)).toEqual([])
    })
    fc.assert(property, runs(100))
  })

  test('what it rejects among the invalid documents, the loader rejects too', () => {
    const folder = join(ROOT, 'test', 'cases', 'bad-policies')
    let marked = 0
    for (const file of readdirSync(folder).filter((name) => /\.(yaml|json)$/.test(name))) {
      const text = readFileSync(join(folder, file), 'utf8')
      if (!isMarked(text)) continue
      marked++
      expect({ file, policy: compile({ file, text }).policy }).toEqual({ file, policy: undefined })
    }
    expect(marked).toBeGreaterThan(40)
  })
})

function isMarked(text: string): boolean {
  try {
    return complaints(parse(text, { logLevel: 'silent' })).length > 0
  } catch {
    return false
  }
}

function fieldsOf(shape: Shape, seen = new Set<Shape>()): string[] {
  if (seen.has(shape)) return []
  seen.add(shape)
  if (shape.kind === 'either') return shape.of.flatMap((inner) => fieldsOf(inner, seen))
  if (shape.kind === 'list' || shape.kind === 'record') return fieldsOf(shape.of, seen)
  if (shape.kind !== 'object') return []
  const names = Object.keys(shape.fields)
  return [
    ...names,
    ...names.flatMap((name) => fieldsOf((shape.fields[name] as { shape: Shape }).shape, seen)),
  ]
}

function complaints(value: unknown): string[] {
  return schemaComplaints(value, schema)
}
