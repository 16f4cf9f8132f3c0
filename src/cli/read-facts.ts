// `--facts` of `policy explain`: who calls, and what the session is like. Held against a shape like
// every document, since a misspelt fact would silently explain another call than the one meant.

import { CATEGORIES } from '../core/tools.ts'
import { checkShape } from '../document/check-shape.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { Problems } from '../document/problem.ts'
import { readDocument } from '../document/read-document.ts'
import type { Fields, Shape } from '../document/shape.ts'
import type { SampleFacts } from '../policy/sample-facts.ts'
import { CliError } from './errors.ts'
import { type Output, plural } from './output.ts'
import { readObject } from './read-input.ts'

const text: Shape = { kind: 'text', max: KEY_LENGTH_MAX }
const texts: Shape = { kind: 'list', of: text, max: 1_000 }
const count: Shape = { kind: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER }
const field = (shape: Shape) => ({ shape, doc: '' })
const object = (noun: string, fields: Fields) => field({ kind: 'object', noun, fields })

const FACTS: Shape = {
  kind: 'object',
  noun: 'the facts',
  fields: {
    principal: object('a principal', {
      id: field(text),
      kind: field(text),
      groups: field(texts),
      claims: field({ kind: 'any' }),
    }),
    session: object('a session', { id: field(text), calls: field(count), saw: field(texts) }),
    agent: object('an agent', {
      id: field(text),
      owner: field(text),
      template: field(text),
      depth: field(count),
      turn: field(count),
    }),
    callCategory: field({ kind: 'word', words: CATEGORIES }),
    transport: field({ kind: 'word', words: ['stdio', 'http'] }),
  },
}

export function readFacts(json: string | undefined, output: Output): SampleFacts {
  if (json === undefined) return {}
  const facts = readObject(json, '--facts')
  // The same text again, by the reader that knows places: JSON is YAML.
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
