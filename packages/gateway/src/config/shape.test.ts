// The one description of sluice.yaml: its schema and its page are as committed, every example fits,
// every default is what the reader uses, and the schema accepts what the reader accepts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkShape } from '@sluice/policy/document/check-shape'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import type { Field, Shape } from '@sluice/policy/document/shape'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  CONFIGURATION_PAGE,
  configurationPage,
  getExample,
} from '../../../../scripts/configuration-page.ts'
import { schemaComplaints } from '../../../../test/support/schema-complaints.ts'
import { readConfig } from './config.ts'
import { configJsonSchema } from './json-schema.ts'
import { CONFIG } from './shape.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')

test('schema/config.json is made from the shape; `node scripts/schema.ts` writes it', () => {
  const file = join(ROOT, 'packages', 'cli', 'schema', 'config.json')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(configJsonSchema())),
  )
})

test('docs/reference/configuration.md is made from it; `node scripts/configuration-page.ts` writes it', () => {
  expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(configurationPage())
})

test('every key that is no section has an example, and it fits', () => {
  for (const [path, field] of fieldsOf(CONFIG)) {
    const value = getExample(field)
    if (value === undefined) {
      expect([path, hasObject(field.shape)]).toEqual([path, true])
      continue
    }
    const text = JSON.stringify(value)
    const problems = new Problems(path, text)
    const tree = readDocument(text, problems)
    if (tree !== undefined) checkShape(tree, field.shape, path, problems)
    expect([path, problems.sorted()]).toEqual([path, []])
  }
})

test('a default that is written out changes nothing', () => {
  const read = (text: string) => {
    const { config, problems } = readConfig({ file: '/etc/sluice.yaml', text }, {})
    expect(problems).toEqual([])
    return config
  }
  const bare = { version: 1, servers: { a: { url: 'https://example.com/mcp' } } }
  const sections = Object.fromEntries(
    ['processes', 'agents', 'ledger'].map((name) => [name, defaultsOf(CONFIG.fields[name])]),
  )
  const full = { ...bare, ...defaultsOf({ shape: CONFIG, doc: '' }), ...sections }
  expect(Object.keys(full)).toContain('listen')
  expect(read(JSON.stringify(full))).toEqual(read(JSON.stringify(bare)))
})

test('the schema accepts the configurations of the pages and the demo, and marks what is wrong', () => {
  const schema = configJsonSchema()
  const texts = [
    readFileSync(join(ROOT, 'examples', 'demo', 'sluice.yaml'), 'utf8'),
    /```yaml\n([\s\S]*?)```/.exec(configurationPage())?.[1] ?? '',
    'version: 1\nservers: { a: { command: [x] } }\npolicy: { version: 1, default: deny }',
  ]
  for (const text of texts) expect(schemaComplaints(parse(text), schema)).toEqual([])
  for (const wrong of [
    'version: 1',
    'version: 1\nservers: { a: { comand: [x] } }',
    'version: 1\nservers: { A: { command: [x] } }',
    'version: 1\nservers: {}\nlog: xml',
    'version: 1\nservers: {}\npolicy: { version: 1, default: perhaps }',
  ])
    expect(schemaComplaints(parse(wrong), schema)).not.toEqual([])
})

function* fieldsOf(shape: Shape, path = ''): Generator<[string, Field]> {
  if (shape.kind === 'either') for (const one of shape.of) yield* fieldsOf(one, path)
  if (shape.kind === 'list' || shape.kind === 'record') yield* fieldsOf(shape.of, path)
  if (shape.kind !== 'object') return
  for (const [name, field] of Object.entries(shape.fields)) {
    yield [`${path}/${name}`, field]
    yield* fieldsOf(field.shape, `${path}/${name}`)
  }
}

function hasObject(shape: Shape): boolean {
  return shape.kind === 'object' || (shape.kind === 'record' && shape.of.kind === 'object')
}

function defaultsOf(field: Field | undefined): Record<string, unknown> {
  const fields = field?.shape.kind === 'object' ? Object.entries(field.shape.fields) : []
  return Object.fromEntries(
    fields
      .filter(([, each]) => each.default !== undefined)
      .map(([name, each]) => [name, each.default]),
  )
}
