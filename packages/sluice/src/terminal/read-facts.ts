// `--facts` of `policy explain`: the caller and the session. Validated against a shape like every
// document, since a misspelt fact would silently explain a different call.

import { factFields, type SampleFacts } from '@sluice/policy/cases/sample-facts'
import { CATEGORIES } from '@sluice/policy/core/tools'
import { checkShape } from '@sluice/policy/document/check-shape'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { CliError } from './errors.ts'
import { type Output, plural } from './output.ts'
import { readObject } from './read-input.ts'

const FACTS: Shape = {
  kind: 'object',
  noun: 'the facts',
  fields: {
    ...factFields({ count: Number.MAX_SAFE_INTEGER, list: 1_000 }),
    callCategory: { shape: { kind: 'word', words: CATEGORIES }, doc: '' },
    holdsSecret: { shape: { kind: 'boolean' }, doc: '' },
    holdsCard: { shape: { kind: 'boolean' }, doc: '' },
    holdsIban: { shape: { kind: 'boolean' }, doc: '' },
    transport: { shape: { kind: 'word', words: ['stdio', 'http'] }, doc: '' },
  },
}

export function readFacts(json: string | undefined, output: Output): SampleFacts {
  if (json === undefined) return {}
  const facts = readObject(json, '--facts')
  // The same text again, by the reader that knows offsets: JSON is YAML.
  const problems = new Problems('--facts', json)
  const tree = readDocument(json, problems)
  if (tree !== undefined && checkShape(tree, FACTS, 'the facts', problems)) return facts
  const found = problems.sorted()
  for (const problem of found) output.problem(problem, json)
  throw new CliError(
    'CLI_ARGUMENT',
    `--facts has ${plural(found.length, 'error')}`,
    '`sluice policy explain --help` lists the facts',
    found,
  )
}
