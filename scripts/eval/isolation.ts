// `npm run eval -- isolation --packages DIR [--only NAME]`: published servers that are installed in DIR (by npm), each
// started plain, on the floor and, if a call is listed here, locked with a profile written by hand. The tools must be
// equal, and the call of the locked one must work. Prints a row for each. Needs bubblewrap; not part of the tests.
// Hosts are pages of this process on the loopback interface: nothing else is reached.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listServerTools } from '../../packages/cli/src/servers/list-server-tools.ts'
import type { SandboxProfile } from '../../packages/gateway/src/config/config.ts'
import { Isolation } from '../../packages/gateway/src/isolation/isolation.ts'
import { StdioUpstream } from '../../packages/gateway/src/upstream/stdio/stdio.ts'
import type { RunOptions } from '../dispatch.ts'

/** Made up: servers want them before they list their tools. */
const KEYS = Object.fromEntries(
  [
    'GITHUB_PERSONAL_ACCESS_TOKEN',
    'SLACK_BOT_TOKEN',
    'SLACK_TEAM_ID',
    'GITLAB_PERSONAL_ACCESS_TOKEN',
    'GOOGLE_MAPS_API_KEY',
    'EVERART_API_KEY',
    'BRAVE_API_KEY',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'TAVILY_API_KEY',
    'EXA_API_KEY',
    'FIGMA_API_KEY',
    'LINEAR_API_KEY',
    'LINEAR_API_TOKEN',
    'PINECONE_API_KEY',
    'CIRCLECI_TOKEN',
    'CURRENTS_API_KEY',
    'BW_SESSION',
    'PRIVATE_APP_ACCESS_TOKEN',
    'API_TOKEN',
    'YOUTUBE_API_KEY',
    'DISCORD_TOKEN',
    'OPENAPI_MCP_HEADERS',
    'AIRTABLE_API_KEY',
    'SEARXNG_URL',
  ].map((name) => [
    name,
    name === 'SEARXNG_URL' ? 'http://localhost:1/' : 'pat_0123456789.0123456789',
  ]),
)

interface Trial {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Lines of its profile beside the folder and the pages. */
  readonly read?: readonly string[]
  /** What makes this server differ from itself in two plain starts. */
  readonly varies?: RegExp
  /** A call, and what its answer has in it. `WORK` is a folder that it may write, `PAGE` where pages are served. */
  readonly call?: { readonly tool: string; readonly args: object; readonly says: RegExp }
}

const TRIALS: Readonly<Record<string, Trial>> = {
  '@modelcontextprotocol/server-filesystem': {
    args: ['WORK'],
    call: { tool: 'write_file', args: { path: 'WORK/a', content: 'x' }, says: /Successfully/ },
  },
  '@modelcontextprotocol/server-memory': {
    env: { MEMORY_FILE_PATH: 'WORK/memory.json' },
    call: { tool: 'delete_entities', args: { entityNames: ['a'] }, says: /deleted/ },
  },
  '@modelcontextprotocol/server-sequential-thinking': {
    call: {
      tool: 'sequentialthinking',
      args: { thought: 'x', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      says: /thoughtNumber/,
    },
  },
  '@modelcontextprotocol/server-everything': {
    call: { tool: 'echo', args: { message: 'hello' }, says: /hello/ },
  },
  '@modelcontextprotocol/server-postgres': { args: ['postgres://x@localhost:1/x'] },
  'mcp-server-commands': {
    call: { tool: 'run_command', args: { command: 'echo ran' }, says: /ran/ },
  },
  'time-mcp': { call: { tool: 'current_time', args: { format: 'YYYY-MM' }, says: /20\d\d/ } },
  'mcp-hello-world': { call: { tool: 'echo', args: { message: 'hello' }, says: /hello/ } },
  '@wrtnlabs/calculator-mcp': { call: { tool: 'add', args: { a: 2, b: 3 }, says: /5/ } },
  'mcp-server-code-runner': {
    call: {
      tool: 'run-code',
      args: { code: 'console.log(40 + 2)', languageId: 'javascript' },
      says: /42/,
    },
  },
  'mcp-sqlite': { args: ['WORK/a.db'], call: { tool: 'db_info', args: {}, says: /a\.db|table/i } },
  'mcp-obsidian': {
    args: ['WORK'],
    call: { tool: 'search_notes', args: { query: 'x' }, says: /content/ },
  },
  'mcp-echarts': {
    call: {
      tool: 'generate_pie_chart',
      args: { data: [{ category: 'a', value: 1 }], outputType: 'svg' },
      says: /<svg/,
    },
  },
  '@cyanheads/git-mcp-server': {
    call: { tool: 'git_init', args: { path: 'WORK/repository' }, says: /repository/ },
  },
  '@ivotoby/openapi-mcp-server': {
    args: ['--api-base-url', 'PAGE', '--openapi-spec', 'WORK/spec.json'],
    call: { tool: 'read-a-page', args: {}, says: /hello from a page/ },
  },
  'fetch-mcp': { call: fetchPage('fetch_url') },
  '@tokenizin/mcp-npx-fetch': { call: fetchPage('fetch_txt') },
  'mcp-searxng': {
    env: { SEARXNG_URL: 'PAGE' },
    call: { tool: 'searxng_web_search', args: { query: 'x' }, says: /hello from a page/ },
  },
  '@modelcontextprotocol/server-gitlab': {
    env: { GITLAB_API_URL: 'PAGE/gitlab' },
    call: { tool: 'search_repositories', args: { search: 'x' }, says: /hello from a page/ },
  },
  '@notionhq/notion-mcp-server': {
    env: { BASE_URL: 'PAGE' },
    call: { tool: 'API-get-users', args: {}, says: /hello from a page/ },
  },
  '@hubspot/mcp-server': {
    call: { tool: 'hubspot-generate-feedback-link', args: {}, says: /http/ },
  },
  '@playwright/mcp': {
    args: [
      '--headless',
      '--isolated',
      '--executable-path',
      '/usr/bin/chromium',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    read: ['/etc/chromium.d'],
    call: { tool: 'browser_navigate', args: { url: 'PAGE/page' }, says: /A page/ },
  },
  'figma-developer-mcp': { args: ['--stdio'] },
  // The defaults of its dates are those of its start.
  '@currents/mcp': { varies: /"20\d\d-[\d-]+T[\d:.]+Z"/g },
}

function fetchPage(tool: string): NonNullable<Trial['call']> {
  return { tool, args: { url: 'PAGE/page' }, says: /hello from a page/ }
}

const SPEC = {
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  paths: { '/page': { get: { operationId: 'read-a-page', responses: {} } } },
}

/** In an answer of a tool, or in the place of one. */
const FAULT = /isError\\*":true|"error":\{/

const HELLO = 'hello from a page'
/** By path: a web page, and answers of the services that some servers ask. */
const PAGES: Readonly<Record<string, unknown>> = {
  '/page': `<html><head><title>A page</title></head><body><p>${HELLO}</p></body></html>`,
  '/search': { query: 'x', results: [{ title: HELLO, url: 'http://a.test/', content: HELLO }] },
  '/gitlab/projects': [
    {
      id: 1,
      name: HELLO,
      path_with_namespace: 'a/b',
      visibility: 'public',
      web_url: '',
      description: '',
      ssh_url_to_repo: '',
      http_url_to_repo: '',
      created_at: '',
      last_activity_at: '',
      default_branch: 'main',
    },
  ],
  '/v1/users': { object: 'list', results: [{ object: 'user', id: 'u', name: HELLO }] },
}

/** Serves the pages; returns their address. */
async function servePages(): Promise<Server> {
  const server = createServer(({ url = '' }, response) => {
    const page = PAGES[new URL(url, 'http://localhost').pathname]
    const isText = typeof page === 'string'
    response.writeHead(page === undefined ? 404 : 200, {
      'content-type': isText ? 'text/html' : 'application/json',
    })
    response.end(isText ? page : JSON.stringify(page ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export async function run({ packages, only }: RunOptions): Promise<number> {
  const modules = join(String(packages), 'node_modules')
  const { dependencies = {} } = JSON.parse(
    readFileSync(join(String(packages), 'package.json'), 'utf8'),
  )
  const names = Object.keys(dependencies).filter((name) => only === undefined || name === only)
  const data = mkdtempSync(join(tmpdir(), 'sluice-eval-'))
  const refused: string[] = []
  const isolation = await Isolation.open({
    config: { data },
    own: [data],
    keys: '',
    onRefused: (server, host) => void refused.push(`${server}: ${host}`),
  })
  if (isolation.why !== undefined) throw new Error(isolation.why)
  const pages = await servePages()
  const { port } = pages.address() as AddressInfo
  const counts: Record<string, number> = {}
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  for (const name of names) {
    const row = await tryServer(name, { modules, data, isolation, pages: `localhost:${port}` })
    const { floor, why, onFloor, locked } = row
    const calls = locked === undefined ? '' : `, call: floor ${onFloor}, locked ${locked}`
    count(`tools ${floor}`)
    if (locked !== undefined) {
      count(`floor ${onFloor}`)
      count(`locked ${locked}`)
    }
    console.log(`${name.padEnd(50)} tools ${floor} ${why}${calls}`)
  }
  console.log(
    JSON.stringify(counts),
    'refused hosts:',
    refused.length === 0 ? 'none' : refused.join(', '),
  )
  pages.close()
  rmSync(data, { recursive: true, force: true })
  return Object.keys(counts).some((what) => /different|failed/.test(what)) ? 1 : 0
}

interface Place {
  readonly modules: string
  readonly data: string
  readonly isolation: Isolation
  /** Host and port of the pages. */
  readonly pages: string
}

interface Row {
  readonly floor: 'equal' | 'different' | 'not run'
  readonly why: string
  readonly onFloor?: 'called' | 'failed'
  readonly locked?: 'called' | 'failed'
}

async function tryServer(name: string, { modules, data, isolation, pages }: Place): Promise<Row> {
  const { args = [], env = {}, read = [], call, varies = /$^/g } = TRIALS[name] ?? {}
  const id = name.replace(/[^a-z0-9]+/gi, '-').slice(-24)
  // One of the servers writes paths in lower case.
  const work = join(tmpdir(), `sluice-eval-work-${randomUUID()}`)
  mkdirSync(work)
  writeFileSync(join(work, 'spec.json'), JSON.stringify(SPEC))
  const fill = (text: string) => text.replaceAll('WORK', work).replaceAll('PAGE', `http://${pages}`)
  const cwd = join(data, 'servers', id)
  mkdirSync(cwd, { recursive: true })
  const command = [process.execPath, findProgram(modules, name), ...args.map(fill)]
  const variables = {
    PATH: process.env.PATH ?? '',
    HOME: work,
    TMPDIR: work,
    ...KEYS,
    ...JSON.parse(fill(JSON.stringify(env))),
  }
  const server = { name: id, command, cwd, env: variables }
  const list = async (words: readonly string[]) => {
    const tools = await listServerTools(id, { command: words, env: variables, cwd })
    return JSON.stringify(tools).replaceAll(varies, '""')
  }
  try {
    const plain = await list(command).catch((error: Error) => error)
    if (plain instanceof Error) return { floor: 'not run', why: plain.message.slice(0, 120) }
    const floor = await list(isolation.wrap({ ...server, sandbox: undefined })?.words ?? [])
    const result = {
      floor: plain === floor ? 'equal' : 'different',
      why: `(${JSON.parse(plain).length} tools)`,
    } as const
    if (call === undefined) return result
    const filled = JSON.parse(fill(JSON.stringify(call)))
    const works = async (sandbox: SandboxProfile | undefined) => {
      const answer = await callOnce({ ...server, sandbox, isolation }, filled)
      if (call.says.test(answer) && !FAULT.test(answer)) return 'called'
      console.log(answer.slice(-300))
      return 'failed'
    }
    return {
      ...result,
      onFloor: await works(undefined),
      locked: await works({ read, write: [work], hosts: [pages] }),
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The answer of a call to a server as the gate starts it. */
function callOnce(
  options: Omit<ConstructorParameters<typeof StdioUpstream>[0], 'log'>,
  { tool, args }: { readonly tool: string; readonly args: object },
): Promise<string> {
  const clientInfo = { name: 'eval', version: '1' }
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const send = (message: object) => link.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  let resolve = (_: string): void => {}
  const promise = new Promise<string>((settle) => {
    resolve = settle
  })
  const late = setTimeout(() => resolve('no answer in a minute'), 60_000)
  const link = new StdioUpstream({ ...options, log: () => {} }, {
    onMessage: (message) => {
      const text = JSON.stringify(message)
      if (message.kind !== 'answer') return
      if (message.id === 1) {
        send({ method: 'notifications/initialized' })
        send({ id: 2, method: 'tools/call', params: { name: tool, arguments: args } })
      } else resolve(text)
    },
    onFailure: ({ message }) => resolve(message),
    onClose: (why) => resolve(why),
  } as ConstructorParameters<typeof StdioUpstream>[1])
  send({ id: 1, method: 'initialize', params: hello })
  return promise.finally(() => {
    clearTimeout(late)
    link.close('done')
  })
}

/** The file that a package starts. */
function findProgram(modules: string, name: string): string {
  const folder = join(modules, name)
  const { bin = {}, main = 'index.js' } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const first = typeof bin === 'string' ? bin : Object.values(bin as Record<string, string>)[0]
  const known = readdirSync(folder).length > 0 ? (first ?? main) : main
  return join(folder, known)
}
