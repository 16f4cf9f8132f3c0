import { policyJsonSchema } from '@sluice/policy/language/json-schema'
import { expect, test } from 'vitest'
import { pathAt, type Schema, schemasAt } from './complete.ts'

const schema = policyJsonSchema() as Schema
const LINES = ['version: 1', 'tools:', '  # a comment: no key', '  "a/b c":', '    action: deny']

test('the path of a line is read from the indentation', () => {
  expect(pathAt(LINES, '    ra')).toEqual(['tools', 'a/b c'])
  expect(pathAt(LINES, '  c')).toEqual(['tools'])
  expect(pathAt(LINES, 'cat')).toEqual([])
})

test('the language’s schema determines what is allowed there', () => {
  const keys = (path: string[]) =>
    schemasAt(schema, path).flatMap(({ properties }) => Object.keys(properties ?? {}))
  expect(keys([])).toContain('guardrails')
  expect(keys(['tools', 'a/b'])).toEqual(expect.arrayContaining(['action', 'rate_limit', 'when']))
  const words = schemasAt(schema, ['tools', 'a/b', 'action']).flatMap((one) => one.enum ?? [])
  expect(words).toContain('require_approval')
})
