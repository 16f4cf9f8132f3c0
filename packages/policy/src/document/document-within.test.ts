// A document inside another keeps its lines and columns, whatever surrounds it and however it is
// written. What is not a mapping becomes empty, which is not a valid policy.

import { expect, test } from 'vitest'
import { extractDocument } from './document-within.ts'
import { Problems } from './problem.ts'
import { type LocatedNode, readDocument } from './read-document.ts'

const BLOCK = `version: 1 # of the configuration
policy:
  # of the policy
  version: 1
  default: deny
  tools:
    a/b: allow # behind it
servers: { a: { command: [x] } }
`
const FLOW = `servers: {}\npolicy: { version: 1, default: deny }\ndata: ./x\n`
const JSON_TEXT = '{"servers": {}, "policy": {"version": 1, "default": "deny"}, "data": "./x"}'

test.each([
  ['a block', BLOCK],
  ['a block with CRLF', BLOCK.replaceAll('\n', '\r\n')],
  ['a line', FLOW],
  ['JSON', JSON_TEXT],
  ['JSON where it is last', '{"servers":{},"policy":{"version":1,"default":"deny"}}'],
  ['characters that are two of UTF-16', `# 🙂\n${BLOCK}`],
])('%s stays where it was', (_, text) => {
  const within = extractDocument(text, 'policy')
  const found = tree(within)
  expect(placesOf(found)).toContainEqual(['default', text.indexOf('default')])
  expect(placesOf(found).map(([key]) => key)).not.toContain('servers')
  expect(within.split('\n').length).toBeLessThanOrEqual(text.split('\n').length)
})

test.each([
  ['not there', 'version: 1\n'],
  ['a file', 'policy: ./policy.yaml\n'],
  ['an alias', 'x: &p { version: 1, default: allow }\npolicy: *p\n'],
  ['in a document that cannot be read', 'policy: { version: 1\n'],
  ['in a list', '- policy: { version: 1 }\n'],
])('nothing where it is %s', (_, text) => {
  expect(tree(extractDocument(text, 'policy'))).toBeUndefined()
})

function tree(text: string): LocatedNode | undefined {
  return readDocument(text, new Problems('', text))
}

function placesOf(node: LocatedNode | undefined): [string, number][] {
  return node?.kind === 'map'
    ? node.entries.map(({ key }) => [String(key.value), key.contentAt])
    : []
}
