// Apps behind `/mcp` in both generations: published example apps with the SDK's bridge between page and host,
// and what the gate does with pages that change, reach out, or belong to two servers.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { App } from '@modelcontextprotocol/ext-apps'
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, mcpUrl, published, type RunningGate } from '../support/start-gate.ts'

const APPS = 'io.modelcontextprotocol/ui'
const MIME = 'text/html;profile=mcp-app'
const folder = fileScratchDirectory()

interface Page {
  readonly text: string
  readonly csp?: object
}

/** A server with an app of one page, and tools of which one is for the app alone. */
function writeServer(name: string, { text, csp }: Page): string {
  const uri = 'ui://clock/page.html'
  const ui = csp === undefined ? {} : { csp }
  const tool = (tool: string, meta: object) => ({
    name: tool,
    inputSchema: { type: 'object' },
    _meta: { ui: meta },
  })
  const tools = [
    tool('show', { resourceUri: uri }),
    tool('tick', { visibility: ['app'] }),
    tool('think', { visibility: ['model'] }),
  ]
  const said = { content: [{ type: 'text', text: name }] }
  const answers = {
    'tools/list': { tools },
    'tools/call': said,
    'resources/list': { resources: [{ uri, name: 'page', mimeType: MIME, _meta: { ui } }] },
    'resources/templates/list': { resourceTemplates: [] },
    'resources/read': { contents: [{ uri, mimeType: MIME, text, _meta: { ui } }] },
  }
  const file = join(folder, `${name}.json`)
  const capabilities = { tools: {}, resources: {}, extensions: { [APPS]: {} } }
  writeFileSync(file, JSON.stringify({ capabilities, answers }))
  return file
}

const CSP = {
  connectDomains: ['https://a.example', 'wss://b.example'],
  frameDomains: ['*.c.example'],
}
const POLICY = `
version: 1
default: allow
resources:
  "hidden/ui://*": hide
egress:
  "map/ui://*": ["*.openstreetmap.org"]
  "two/*": [a.example, "*.c.example"]
`

let gate: OwnGate

beforeAll(async () => {
  const page = { text: '<html>clock</html>', csp: CSP }
  gate = await ownGate({
    servers: {
      basic: { ...published('basic-vanillajs', '--stdio'), share: 'all' },
      map: { ...published('map', '--stdio'), share: 'all' },
      one: { ...fixture('table', writeServer('one', page)), share: 'all' },
      two: { ...fixture('table', writeServer('two', page)), share: 'all' },
      hidden: { ...fixture('table', writeServer('hidden', page)), share: 'all' },
    },
    policy: POLICY,
  })
}, 60_000)
afterAll(async () => {
  await endOwnGates()
})

async function open(generation: string, server = '', hasApps = true, at = gate): Promise<Client> {
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const
  const extensions = hasApps ? { [APPS]: { mimeTypes: [MIME] } } : {}
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities: { extensions }, ...(generation === 'stateless' ? pinned : {}) },
  )
  const url = new URL(mcpUrl(at as unknown as RunningGate, server))
  await client.connect(new StreamableHTTPClientTransport(url))
  return client
}

/** The page of a tool's app, connected with its host by the SDK's bridge. */
async function openApp(client: Client, name: string): Promise<App> {
  const { tools } = await client.listTools()
  const meta = tools.find((tool) => tool.name === name)?._meta as { ui: { resourceUri: string } }
  const { contents } = await client.readResource({ uri: meta.ui.resourceUri })
  expect(contents).toMatchObject([{ uri: meta.ui.resourceUri, mimeType: MIME }])
  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {} })
  const [host, page] = InMemoryTransport.createLinkedPair()
  const app = new App({ name: 'app', version: '1' }, {}, { autoResize: false })
  await bridge.connect(host)
  await app.connect(page)
  return app
}

const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text
// biome-ignore lint/suspicious/noExplicitAny: `_meta` of a page
const cspOf = ({ contents }: { contents: any[] }) => contents[0]._meta.ui.csp

describe.each(['session', 'stateless'])('to a host of the %s generation', (generation) => {
  test('a published app calls the tool of its server by its bare name', async () => {
    const client = await open(generation)
    await expect(client.callTool({ name: 'get-time', arguments: {} })).rejects.toThrow(
      /Unknown tool: get-time/,
    )
    const app = await openApp(client, 'basic__get-time')
    const { isError, content } = await app.callServerTool({ name: 'get-time', arguments: {} })
    expect(isError).not.toBe(true)
    expect(JSON.stringify(content)).toMatch(/\d{4}-\d\d-\d\dT/)
    await client.close()
  })

  test('the network of a page is narrowed to `egress`', async () => {
    const client = await open(generation, 'map')
    const { tools } = await client.listTools()
    const uri = tools
      .map(({ _meta }) => (_meta as { ui?: { resourceUri?: string } })?.ui?.resourceUri)
      .find((found) => found !== undefined) as string
    const csp = cspOf(await client.readResource({ uri }))
    expect(csp.connectDomains).toEqual(['https://*.openstreetmap.org'])
    expect(JSON.stringify(csp)).not.toContain('cesium')
    const two = await open(generation, 'two')
    expect(cspOf(await two.readResource({ uri: 'ui://clock/page.html' }))).toEqual({
      connectDomains: ['https://a.example'],
      frameDomains: ['*.c.example'],
    })
    const { resources } = await two.listResources()
    expect(JSON.stringify(resources)).not.toContain('b.example')
    const one = await open(generation, 'one')
    expect(cspOf(await one.readResource({ uri: 'ui://clock/page.html' }))).toEqual(CSP)
  })

  test('two servers with one page have two addresses, and a name of both is not guessed', async () => {
    const client = await open(generation)
    const one = await openApp(client, 'one__show')
    expect(textOf(await one.callServerTool({ name: 'tick', arguments: {} }))).toBe('one')
    await openApp(client, 'two__show')
    await expect(one.callServerTool({ name: 'tick', arguments: {} })).rejects.toThrow(
      /`one__tick`, `two__tick`/,
    )
    await expect(one.callServerTool({ name: 'think', arguments: {} })).rejects.toThrow(
      /Unknown tool: think/,
    )
    expect(textOf(await client.callTool({ name: 'two__tick', arguments: {} }))).toBe('two')
  })

  test('tools for the app alone are listed to hosts of apps only', async () => {
    const names = async (client: Client) =>
      (await client.listTools()).tools.map(({ name }) => name).filter((name) => /^one__/.test(name))
    expect(await names(await open(generation))).toEqual(['one__show', 'one__tick', 'one__think'])
    const model = await open(generation, '', false)
    expect(await names(model)).toEqual(['one__show', 'one__think'])
    await expect(model.callTool({ name: 'one__tick', arguments: {} })).rejects.toThrow(/Unknown/)
  })

  test('a tool whose page is hidden is listed without it', async () => {
    const { tools } = await (await open(generation, 'hidden')).listTools()
    expect(tools[0]).toMatchObject({ name: 'show', _meta: {} })
    expect(JSON.stringify(tools[0])).not.toContain('ui://')
  })
})

test('a page that changed is held until a person accepts it', async () => {
  const file = writeServer('changing', { text: 'one', csp: CSP })
  const own = await ownGate({ servers: { changing: fixture('table', file) } })
  const client = await open('session', 'changing', true, own)
  const uri = 'ui://clock/page.html'
  expect((await client.readResource({ uri })).contents).toMatchObject([{ text: 'one' }])
  writeServer('changing', {
    text: 'one',
    csp: { ...CSP, connectDomains: ['https://evil.example'] },
  })
  await expect(client.readResource({ uri }, { cacheMode: 'refresh' })).rejects.toThrow(
    /held until a person has accepted it/,
  )
  expect(JSON.stringify((await client.listTools()).tools[0])).not.toContain('ui://')
  const { held } = await sluiceJson(['pin', '--held', '--data', own.data])
  expect(held).toMatchObject([{ server: 'changing', name: uri }])
  expect(held[0].changes.join()).toContain('evil.example')
}, 60_000)
