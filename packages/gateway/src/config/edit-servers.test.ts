// Servers in the text of sluice.yaml: what is put in is read back, what is taken out is gone, and every
// other line stays as it was, whatever the form of the file.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { putServers, readWrittenServers, removeServer } from './edit-servers.ts'

const BLOCK = `# mine
version: 1
servers:
  # the notes
  notes:
    command: [npx, -y, "some-server"]   # pinned soon
    env: { A: "\${KEY}" } # a key

  # far away
  web: { url: "https://x.example/mcp" }
# the rules
policy: ./policy.yaml
`
const ENTRY = { command: ['node', 'a b', '#x'], env: { K: `\${V}` } }

test('an added server stands behind the others, and every other line stays', () => {
  const text = putServers(BLOCK, [{ name: 'files', entry: ENTRY }])
  expect(text).toBe(
    BLOCK.replace(
      'mcp" }\n',
      `mcp" }\n  "files":\n    command: ["node","a b","#x"]\n    env: {"K":"\${V}"}\n`,
    ),
  )
  expect(removeServer(text as string, 'files')).toBe(BLOCK)
})

test('a replaced or removed server leaves the comments of the others', () => {
  expect(putServers(BLOCK, [{ name: 'web', entry: { url: 'https://y.example/mcp' } }])).toBe(
    BLOCK.replace(
      'web: { url: "https://x.example/mcp" }',
      '"web": {"url":"https://y.example/mcp"}',
    ),
  )
  const without = removeServer(BLOCK, 'notes') as string
  expect(without).toContain('# far away\n  web: { url')
  expect(without).toContain('# mine\nversion: 1\nservers:\n  # the notes\n')
  expect(without).not.toContain('pinned soon')
  const none = removeServer(without, 'web') as string
  expect(readWrittenServers(none)).toEqual({})
  expect(none).toContain('# the rules\npolicy: ./policy.yaml\n')
  expect(readWrittenServers(putServers(none, [{ name: 'a', entry: ENTRY }]) as string)).toEqual({
    a: ENTRY,
  })
})

test.each([
  ['JSON', '{"version":1,"servers":{"a":{"url":"http://a/"}},"policy":"./p"}'],
  ['empty JSON', '{"version":1,"servers":{}}'],
  ['an empty map', 'version: 1\nservers: {}\n'],
  ['no last line end', 'version: 1\nservers:\n  a: { url: "http://a/" }'],
  ['CRLF', 'version: 1\r\nservers:\r\n  a: { url: "http://a/" }\r\nlog: json\r\n'],
  [
    'long flow',
    'version: 1\nservers: {\n  a: { url: "http://a/" }, # one\n  b: { url: "http://b/" }\n}\n',
  ],
])('%s', (_, text) => {
  const added = putServers(text, [{ name: 'new', entry: ENTRY }]) as string
  expect(readWrittenServers(added)).toEqual({ ...readWrittenServers(text), new: ENTRY })
  if (text.includes('\r')) expect(added.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  const back = removeServer(added, 'new') as string
  expect(readWrittenServers(back)).toEqual(readWrittenServers(text))
  for (const name of Object.keys(readWrittenServers(text)))
    expect(readWrittenServers(removeServer(added, name) as string)).not.toHaveProperty(name)
})

test('what cannot be edited alone is not edited', () => {
  const entry = { url: 'http://x/' }
  expect(putServers('servers: [', [{ name: 'a', entry }])).toBeUndefined()
  expect(putServers('version: 1\n', [{ name: 'a', entry }])).toBeUndefined()
  expect(putServers('servers: &x\n  a: *x\n', [{ name: 'b', entry }])).toBeUndefined()
  expect(removeServer(BLOCK, 'none')).toBeUndefined()
})

test('any words come back as they were', () => {
  const word = fc.string({ unit: 'binary', maxLength: 20 })
  const entry = fc.array(word, { minLength: 1, maxLength: 4 }).map((command) => ({ command }))
  fc.assert(
    fc.property(entry, fc.constantFrom('notes', 'web', 'new'), (given, name) => {
      const text = putServers(BLOCK, [{ name, entry: given }])
      expect(readWrittenServers(text ?? '')[name]).toEqual(given)
      expect(text).toContain('# the rules\npolicy: ./policy.yaml\n')
    }),
    runs(40),
  )
})
