// A call fails because nobody has signed in at its server for its caller: what clients are answered, and how the person
// signs in on the console. A real authorisation server, real MCP servers that check the token, clients of the SDK.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { type AuthorisationServer, serveAuthorisation } from '../servers/authorisation.ts'
import { type GuardedServer, serveGuarded } from '../servers/guarded.ts'
import { browse } from '../support/browse.ts'
import { serveGate } from '../support/own-gate.ts'
import { makePerson, PIN } from '../support/person.ts'
import { recordsOf } from '../support/plain-client.ts'
import { endGates, mcpUrl, type ServingGate, until } from '../support/start-gate.ts'
import { postStateless, VERSION } from '../support/stateless-client.ts'

let authorisation: AuthorisationServer
let closed: GuardedServer
let open: GuardedServer
let gate: ServingGate

beforeAll(async () => {
  authorisation = await serveAuthorisation()
  closed = await serveGuarded(authorisation.issuer)
  open = await serveGuarded(authorisation.issuer, 'calls')
  const auth = { login: 'principal' }
  gate = await serveGate({
    servers: {
      closed: { url: closed.url, auth },
      open: { url: open.url, auth },
      all: { url: open.url, auth: 'login' },
    },
  })
  await makePerson(gate.data, 'ann', ['viewer'], { owns: ['local'] })
  await makePerson(gate.data, 'eve', ['admin'], { owns: ['other'] })
}, 60_000)
afterAll(async () => {
  await endGates()
  await Promise.all([closed.close(), open.close()])
  await authorisation.close()
})

/** A client of sessions, which opens pages or does not. */
async function connect(server: string, opensPages: boolean): Promise<Client> {
  const elicitation = opensPages ? { url: {} } : {}
  const client = new Client({ name: 'real', version: '1' }, { capabilities: { elicitation } })
  const transport = new StreamableHTTPClientTransport(new URL(mcpUrl(gate, server)))
  await client.connect(transport as Parameters<Client['connect']>[0])
  return client
}

const failed = (client: Client, name: string) =>
  client.callTool({ name, arguments: {} }).then(
    (result) => expect.fail(JSON.stringify(result)),
    // biome-ignore lint/suspicious/noExplicitAny: the error of the SDK, taken apart by the test
    (error) => error as any,
  )

async function signIn(name: string): Promise<Page> {
  const opened = await askGate(gate.data, { do: 'console', proof: { name, pin: PIN } })
  const [base = '', code = ''] = String(opened?.url).split('/#code=')
  const page = new Page(base)
  await page.signIn(code)
  return page
}

async function begin(page: Page, server: string, principal = 'local') {
  return page.ask('POST', `/api/connections/${server}`, { principal })
}

/** The browser, as far as the page that it comes back to. */
async function comeBack(page: Page, address: string): Promise<Record<string, string>> {
  const { url } = await browse(address, page.origin)
  expect(new URL(url).pathname).toMatch(/^\/connect\//)
  return Object.fromEntries(new URL(url).searchParams)
}

const page = () => `http://localhost:${new URL(gate.url).port}/connect/`

/** In the order they stand: nobody has signed in, then somebody has. */
describe('a call at a server where nobody has signed in', () => {
  test('has the page in an error of its own for a client that opens pages', async () => {
    const error = await failed(await connect('open', true), 'get_note')
    expect(error.code).toBe(-32042)
    const [asked] = error.data.elicitations
    expect(asked).toMatchObject({ mode: 'url', url: `${page()}open` })
    expect(asked.elicitationId).toMatch(/./)
    expect(asked.message).toContain('`open` wants a login')
  })

  test('has it as text for any other client', async () => {
    const error = await failed(await connect('open', false), 'get_note')
    expect(error.code).toBe(-32603)
    expect(error.message).toContain(
      `sign in at ${page()}open, or run \`sluice login open --principal local\``,
    )
  })

  test('has none if one login is for all callers', async () => {
    const error = await failed(await connect('all', true), 'get_note')
    expect(error.code).toBe(-32603)
    expect(error.message).toContain('run `sluice login all`')
    expect(error.message).not.toContain('/connect/')
  })

  test('has it also where the server could not begin, beside others', async () => {
    const client = await connect('', true)
    const error = await failed(client, 'closed__get_note')
    expect(error.code).toBe(-32042)
    expect(error.data.elicitations[0].url).toBe(`${page()}closed`)
    await client.close()
    await expect(connect('closed', true)).rejects.toThrow(`sign in at ${page()}closed`)
  })

  test('is a question in the stateless generation, and a text once it was asked often', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
    }
    const params = { name: 'get_note', arguments: {}, _meta }
    let asked = 0
    let more: object = {}
    for (;;) {
      const { answer } = await postStateless(gate, 'open', 'tools/call', { ...params, ...more })
      if (answer.result === undefined) {
        expect(answer.error.message).toContain(`sign in at ${page()}open`)
        break
      }
      expect(answer.result.resultType).toBe('input_required')
      const [[key, question]] = Object.entries<{ method: string; params: object }>(
        answer.result.inputRequests,
      ) as [[string, { method: string; params: object }]]
      expect(question).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'url', url: `${page()}open` },
      })
      const { requestState } = answer.result
      more = { requestState, inputResponses: { [key]: { action: 'accept' } } }
      asked += 1
    }
    expect(asked).toBeGreaterThan(1)
  })
})

describe('on the console', () => {
  test('a person sees where they sign in, and nobody signs in for another', async () => {
    const ann = await signIn('ann')
    const { body } = await ann.ask('GET', '/api/connections')
    const none = { principal: 'local', isConnected: false, untilMs: null }
    expect(body.connections).toEqual([
      { server: 'closed', ...none },
      { server: 'open', ...none },
    ])
    // Neither an admin, nor for a principal of somebody else, nor where one login is for all.
    const eve = await signIn('eve')
    expect((await begin(eve, 'open')).body.error.code).toBe('API_ROLE')
    expect((await begin(ann, 'all')).body.error.code).toBe('API_NOT_FOUND')
    expect((await new Page(ann.origin).ask('GET', '/api/connections')).status).toBe(401)
  })

  test('an answer counts only for the person who began, once', async () => {
    const ann = await signIn('ann')
    const eve = await signIn('eve')
    const begun = await begin(eve, 'open', 'other')
    const answer = await comeBack(eve, begun.body.address)
    const path = '/api/connections/open/answer'
    // Ann was led to the address that Eve had begun: her login does not become Eve's.
    expect((await ann.ask('POST', path, answer)).body.error.code).toBe('API_REFUSED')
    expect((await eve.ask('POST', '/api/connections/closed/answer', answer)).status).toBe(409)
    expect((await eve.ask('POST', path, { ...answer, code: 'made up' })).status).toBe(502)
    expect((await eve.ask('POST', path, answer)).status).toBe(409)
  })

  test('a person signs in without a PIN, and the calls of their client pass', async () => {
    const aggregate = await connect('', true)
    await failed(aggregate, 'closed__get_note')
    const ann = await signIn('ann')
    for (const server of ['closed', 'open']) {
      const { body } = await begin(ann, server)
      expect(new URL(body.address).searchParams.get('code_challenge_method')).toBe('S256')
      const answer = await comeBack(ann, body.address)
      const stored = await ann.ask('POST', `/api/connections/${server}/answer`, answer)
      expect(stored).toEqual({ status: 200, body: { server, principal: 'local' } })
    }
    const client = await connect('open', true)
    const { content } = await client.callTool({ name: 'get_note', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'a note' }])
    // A session that was there before has the server now.
    await until(async () => {
      const { tools } = await aggregate.listTools()
      return tools.some(({ name }) => name === 'closed__get_note')
    })
    expect(await aggregate.callTool({ name: 'closed__get_note', arguments: {} })).toMatchObject({
      content: [{ text: 'a note' }],
    })
    const { connections } = (await ann.ask('GET', '/api/connections')).body
    expect(connections.every((one: { isConnected: boolean }) => one.isConnected)).toBe(true)
    const events = recordsOf(gate).flatMap((one) => (one.kind === 'event' ? one.detail : []))
    expect(events).toContainEqual({
      how: 'signed in',
      server: 'closed',
      principal: 'local',
      by: { name: 'ann', kind: 'person', proof: 'pin' },
    })
  })
})
