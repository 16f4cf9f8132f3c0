// Entries behind the gate and back, on texts: byte-identical where nobody else wrote, everybody's
// changes kept where somebody did, and nothing but the entries touched, on random documents too.

import type { JsonObject } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import type { ClientFile, McpClientId } from '../files/client.ts'
import { transportOf } from '../files/client.ts'
import { entriesAt, entryAt } from '../files/entries.ts'
import { readEntries } from '../files/read-entries.ts'
import { gateEntry } from './gate-entry.ts'
import { type EntryMove, moveAll, undoOne } from './move-entries.ts'

const GATE = { sluice: ['/opt/node', '/opt/sluice.js'], config: '/u/ann/sluice.yaml' }

function fileOf(client: McpClientId, format: 'json' | 'toml' = 'json'): ClientFile {
  return { client, file: `/u/ann/${client}`, format, scope: 'user', folder: '/u/ann' }
}

function movesOf(text: string, from: ClientFile): EntryMove[] {
  return readEntries(text, from)
    .filter(({ stuck }) => stuck === undefined)
    .map(({ path, value, name }) => ({
      from,
      path,
      server: name,
      was: value,
      now: gateEntry(from.client, 'x', GATE, value),
    }))
}

function there(text: string, from: ClientFile) {
  return moveAll(text, movesOf(text, from))
}

function back(text: string, moved: ReturnType<typeof there>['moved']): string {
  let after = text
  for (const one of [...moved].reverse()) after = undoOne(after, one).text
  return after
}

const CURSOR = `\uFEFF{\r
\t// my servers\r
\t"mcpServers": {\r
\t\t"github": { // hub\r
\t\t\t"command": "npx", // runs it\r
\t\t\t"args": ["-y", "server-github",],\r
\t\t\t"env": { "TOKEN": "x" /* key */ },\r
\t\t\t"autoApprove": ["get_issue"], // mine\r
\t\t},\r
\t\t/* off */ "one-line": {"command":"a","env":{}},\r
\t\t"last": { "url": "https://example.com/mcp", "headers": {"A": "b"} }\r
\t},\r
\t"other": [1, 2,],\r
}\r
`

test('a trailing comma goes on behind what is left of an entry, not on a line of its own', () => {
  const [from, head, tail] = [
    fileOf('cursor'),
    '{\n  "mcpServers": {\n    "a": {\n',
    '    },\n  },\n}\n',
  ]
  const text = `${head}      "command": "npx",\n      "args": ["x"],\n      "env": { "A": "b" },\n${tail}`
  const moved = there(text, from)
  expect(moved.text).toBe(
    `${head}      "command": "/opt/node",\n      "args": ["/opt/sluice.js", "stdio", "--config", "/u/ann/sluice.yaml", "--server", "x"],\n${tail}`,
  )
  expect(back(moved.text, moved.moved)).toBe(text)
})

test('a file with comments, a byte order mark, tabs, CRLF and trailing commas comes back as it was', () => {
  const from = fileOf('cursor')
  const { text, moved } = there(CURSOR, from)
  expect(moved).toHaveLength(3)
  expect(text).toBe(
    CURSOR.replace(
      '"command": "npx", // runs it\r\n\t\t\t"args": ["-y", "server-github",],\r\n\t\t\t"env": { "TOKEN": "x" /* key */ },\r\n',
      '"command": "/opt/node",\r\n\t\t\t"args": ["/opt/sluice.js", "stdio", "--config", "/u/ann/sluice.yaml", "--server", "x"], // runs it\r\n',
    )
      .replace(
        '{"command":"a","env":{}}',
        '{"command": "/opt/node", "args": ["/opt/sluice.js", "stdio", "--config", "/u/ann/sluice.yaml", "--server", "x"]}',
      )
      .replace(
        '"url": "https://example.com/mcp", "headers": {"A": "b"}',
        '"command": "/opt/node", "args": ["/opt/sluice.js", "stdio", "--config", "/u/ann/sluice.yaml", "--server", "x"]',
      ),
  )
  expect(back(text, moved)).toBe(CURSOR)
})

const CODEX = `# Codex\r
model = "gpt"\r
\r
[mcp_servers.docs]   # the docs\r
command = "npx"      # runs it\r
args = [\r
  "-y", # yes\r
  "docs",\r
]\r
tool_timeout_sec = 60\r
\r
# its keys\r
[mcp_servers.docs.env]\r
"API KEY" = "abc" # key\r
\r
[mcp_servers.docs.tools.search]\r
approval_mode = "approve"\r
\r
[mcp_servers]\r
inline = { command = "a", env = { A = "b" }, enabled = true }\r
dotted.command = "b"\r
dotted.args = ["c"]\r
\r
[tui]\r
theme = 'x'\r
`

test('TOML: tables, tables below them, inline tables and dotted keys', () => {
  const from = fileOf('codex', 'toml')
  const { text, moved } = there(CODEX, from)
  expect(moved.map(({ path }) => path.at(-1))).toEqual(['docs', 'inline', 'dotted'])
  expect(text).toContain(
    'command = "/opt/node"\r\nargs = ["/opt/sluice.js", "stdio", "--config", "/u/ann/sluice.yaml", "--server", "x"]      # runs it\r\ntool_timeout_sec = 60\r\n\r\n# its keys\r\n',
  )
  expect(text).not.toContain('abc')
  expect(text).toContain('approval_mode = "approve"')
  expect(text).toContain('dotted.command = "/opt/node"\r\ndotted.args = ')
  expect(back(text, moved)).toBe(CODEX)
})

test('an entry that two readers could read differently is left, with the reason', () => {
  const doubled = '{"mcpServers": {"a": {"command": "x", "command": "y"}}}'
  expect(entriesAt(doubled, fileOf('cursor'), ['mcpServers'])[0]?.stuck).toMatch(/twice/)
  const apart = '[mcp_servers.a]\ncommand="x"\n[b]\n[mcp_servers.a.env]\nK="v"\n'
  expect(entriesAt(apart, fileOf('codex', 'toml'), ['mcp_servers'])[0]?.stuck).toMatch(/apart/)
})

describe('what others wrote meanwhile stays', () => {
  const from = fileOf('claude-code')
  const before = JSON.stringify(
    {
      numStartups: 1,
      mcpServers: { a: { type: 'stdio', command: 'x', env: { K: 'v' } } },
      projects: { '/p': { mcpServers: { b: { command: 'y' } }, history: [] } },
    },
    null,
    2,
  )
  const { text, moved } = there(before, from)

  test('the client has rewritten the whole file, in another form', () => {
    const theirs = { ...JSON.parse(text), numStartups: 2, news: true }
    theirs.projects['/p'].history.push('hello')
    const undone = JSON.parse(back(JSON.stringify(theirs), moved))
    const meant = { ...JSON.parse(before), numStartups: 2, news: true }
    meant.projects['/p'].history.push('hello')
    expect(undone).toEqual(meant)
  })

  test('a setting of the moved entry', () => {
    const theirs = JSON.parse(text)
    theirs.mcpServers.a.timeout = 5
    const undone = JSON.parse(back(JSON.stringify(theirs), moved))
    expect(undone.mcpServers.a).toEqual({
      type: 'stdio',
      command: 'x',
      env: { K: 'v' },
      timeout: 5,
    })
  })

  test('an entry that was pointed elsewhere, or taken away', () => {
    const theirs = JSON.parse(text)
    theirs.mcpServers.a.command = 'mine'
    delete theirs.projects['/p'].mcpServers.b
    const now = JSON.stringify(theirs)
    expect(moved.map((one) => undoOne(now, one).fate)).toEqual(['changed since', 'gone'])
    expect(back(now, moved)).toBe(now)
  })

  test('undone twice is undone once', () => {
    const once = back(text, moved)
    expect(once).toBe(before)
    expect(moved.map((one) => undoOne(once, one).fate)).toEqual(['as it was', 'as it was'])
  })
})

const word = fc.string({ maxLength: 8 })
const gap = fc.constantFrom('', ' ', '\n', '\r\n', '\t', ' /* c */ ', ' // d\n', '  // e\r\n\t')
const server = fc.record(
  {
    command: word,
    args: fc.array(word, { maxLength: 3 }),
    env: fc.dictionary(word, word, { maxKeys: 2 }),
    disabledTools: fc.array(word, { maxLength: 2 }),
    timeout: fc.nat(),
    note: word,
  },
  { requiredKeys: ['command'] },
)
const servers = fc.dictionary(word, server, { maxKeys: 4 })

/** A value as JSON with random gaps, orders and trailing commas. */
function spelt(value: unknown, gaps: () => string, trailing: () => boolean): string {
  const list = (open: string, parts: string[], close: string) =>
    `${open}${parts.map((part) => `${gaps()}${part}${gaps()}`).join(',')}${parts.length > 0 && trailing() ? `,${gaps()}` : ''}${close}`
  if (Array.isArray(value))
    return list(
      '[',
      value.map((one) => spelt(one, gaps, trailing)),
      ']',
    )
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}${gaps()}:${gaps()}${spelt(one, gaps, trailing)}`,
  )
  return list('{', pairs, '}')
}

describe('on random documents', () => {
  const document = fc
    .record({ head: word, mcpServers: servers, tail: fc.array(fc.integer(), { maxLength: 3 }) })
    .chain((value) =>
      fc.record({
        value: fc.constant(value),
        gaps: fc.infiniteStream(gap),
        trailing: fc.infiniteStream(fc.boolean()),
      }),
    )
    .map(({ value, gaps, trailing }) =>
      spelt(
        value,
        () => gaps.next().value as string,
        () => trailing.next().value as boolean,
      ),
    )

  test('JSON: there and back is nothing, and only the entries differ', () => {
    fc.assert(
      fc.property(document, (text) => {
        const from = fileOf('cursor')
        const { text: after, moved } = there(text, from)
        expect(back(after, moved)).toBe(text)
        expect(outside(after, from)).toEqual(outside(text, from))
        for (const { path, was, now } of moved)
          expect(entryAt(after, from, path)?.value).toMatchObject({ ...rest(was), ...now })
      }),
      runs(150),
    )
  })

  const key = fc.constantFrom('a', 'b-c', '"d e"', "'f'", '"g.h"')
  const lines = fc.array(fc.constantFrom('', '# c', '  ', '#'), { maxLength: 2 })
  const pair = fc.constantFrom(
    'args = ["x", "y"]',
    'args = [\n  "x", # c\n]',
    'env = { A = "b" }',
    "cwd = '/x'",
    'enabled = true',
    'tool_timeout_sec = 5',
    'env.B = "c"',
    'startup_timeout_sec = 1.5 # s',
  )
  const below = fc.constantFrom('env', 'http_headers', 'tools.t', '"x y"')
  const entry = fc.record({
    key,
    lines,
    pairs: fc.uniqueArray(pair, { maxLength: 3, selector: (p) => p.split(/[ .=]/)[0] }),
    below: fc.uniqueArray(below, { maxLength: 2 }),
    gap: fc.constantFrom('', ' # z'),
  })
  const toml = fc
    .tuple(
      fc.uniqueArray(entry, { maxLength: 3, selector: (one) => one.key.replace(/["']/g, '') }),
      fc.constantFrom('\n', '\r\n'),
    )
    .map(([entries, eol]) => {
      const tables = entries.flatMap(
        ({ key: name, lines: between, pairs, below: under, gap: end }) => {
          const free = under.filter((one) => !pairs.some((own) => own.split(/[ .=]/)[0] === one))
          return [
            `[mcp_servers.${name}]${end}`,
            ...pairs,
            ...between,
            `command = "npx"${end}`,
            ...free.flatMap((one) => [...between, `[mcp_servers.${name}.${one}]`, `K = "v"${end}`]),
            ...between,
          ]
        },
      )
      return ['model = "m"', ...tables, '[other]', 'x = 1', ''].join('\n').replaceAll('\n', eol)
    })

  test('TOML: there and back is nothing, and only the entries differ', () => {
    fc.assert(
      fc.property(toml, (text) => {
        const from = fileOf('codex', 'toml')
        const { text: after, moved } = there(text, from)
        expect(moved.length).toBe(movesOf(text, from).length)
        expect(back(after, moved)).toBe(text)
        expect(after.startsWith(text.slice(0, text.indexOf('[')))).toBe(true)
        expect(after.endsWith(text.slice(text.indexOf('[other]')))).toBe(true)
      }),
      runs(150),
    )
  })
})

/** The text without its entries. */
function outside(text: string, from: ClientFile): string[] {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of entriesAt(text, from, ['mcpServers'])) {
    parts.push(text.slice(at, start))
    at = end
  }
  return [...parts, text.slice(at)]
}

function rest(value: JsonObject): JsonObject {
  const gone = transportOf(value)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !(key in gone)))
}

test('an address carries the session token of its client; a command needs none', () => {
  const gate = { ...GATE, url: 'http://127.0.0.1:7433', sessionToken: 'sluice_session_x' }
  expect(gateEntry('cursor', 'notes', gate, {})).toEqual({
    url: 'http://127.0.0.1:7433/mcp/notes?sluice_session=sluice_session_x',
  })
  expect(JSON.stringify(gateEntry('claude-desktop', 'notes', gate, {}))).not.toContain('session_x')
})
