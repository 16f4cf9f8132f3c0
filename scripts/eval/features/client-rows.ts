// Rows of `npm run eval -- features` about what a client of the SDK sees: views, and signing in at a server by its person.

import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { askGate } from '../../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../../packages/console/src/admin.test-support.ts'
import { serveAuthorisation } from '../../../test/servers/authorisation.ts'
import { serveGuarded } from '../../../test/servers/guarded.ts'
import { browse } from '../../../test/support/browse.ts'
import { makePerson, PIN } from '../../../test/support/person.ts'
import { recordsOf } from '../../../test/support/plain-client.ts'
import { straight, throughGate } from '../../../test/support/real-client.ts'
import {
  fixture,
  mcpUrl,
  NODE,
  published,
  SLUICE,
  startGate,
} from '../../../test/support/start-gate.ts'
import type { Place } from './place.ts'

const VIEW_POLICY = `version: 1
default: deny
tools:
  everything/get-sum: { action: allow, rate_limit: { max: 1, window: 1h } }
  up/read: allow
`

/** A view lists its tools under its names over HTTP and a pipe, and each call is that of the tool. */
export async function views({ log }: Place): Promise<boolean> {
  const gate = await startGate({
    servers: { everything: published('everything'), up: fixture('counter', log) },
    policy: VIEW_POLICY,
    config: {
      views: {
        desk: { tools: ['everything/*', 'up/*'], as: { 'everything/get-sum': 'add' } },
      },
    },
  })
  const { client } = await throughGate(gate, '@desk')
  const listed = (await client.listTools()).tools.map(({ name }) => name)
  const add = async () =>
    JSON.stringify(await client.callTool({ name: 'add', arguments: { a: 40, b: 2 } }))
  const results = [await add(), await add()]
  const write = await client.callTool({ name: 'up__write', arguments: {} })
  const config = join(gate.folder, 'sluice.yaml')
  const piped = await straight([NODE, SLUICE, 'stdio', '--config', config, '--view', 'desk'])
  const over = (await piped.client.listTools()).tools.map(({ name }) => name)
  await piped.close()
  const names = recordsOf(gate).map((record) => ('name' in record ? record.name : ''))
  return (
    [listed, over].every((all) => all.includes('add') && !all.includes('everything__get-sum')) &&
    listed.every((name) => `mcp__desk__${name}`.length < 64) &&
    results[0]?.includes('42') === true &&
    results[1]?.includes('RATE_LIMITED') === true &&
    write.isError === true &&
    names.includes('get-sum') &&
    !names.includes('add')
  )
}

/** A call that fails for want of a login names a page; there its person signs in without a PIN, and it passes. */
export async function connect(): Promise<boolean> {
  const authorisation = await serveAuthorisation()
  const server = await serveGuarded(authorisation.issuer, 'calls')
  try {
    const gate = await startGate({
      servers: { desk: { url: server.url, auth: { login: 'principal' } } },
    })
    await makePerson(gate.data, 'bea', ['viewer'], { owns: ['local'] })
    const capabilities = { elicitation: { url: {} } }
    const client = new Client({ name: 'features', version: '1' }, { capabilities })
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl(gate, 'desk')))
    await client.connect(transport as Parameters<Client['connect']>[0])
    const call = () => client.callTool({ name: 'get_note', arguments: {} })
    // biome-ignore lint/suspicious/noExplicitAny: the error of the SDK
    const error = await call().catch((failure: any) => failure)
    const opened = await askGate(gate.data, { do: 'console', proof: { name: 'bea', pin: PIN } })
    const [base = '', code = ''] = String(opened?.url).split('/#code=')
    const page = new Page(base)
    await page.signIn(code)
    const begun = await page.ask('POST', '/api/connections/desk', { principal: 'local' })
    const { url } = await browse(begun.body.address, base)
    const answer = Object.fromEntries(new URL(url).searchParams)
    await page.ask('POST', '/api/connections/desk/answer', answer)
    const isAsked =
      error.code === -32042 && error.data.elicitations[0].url === `${base}/connect/desk`
    return isAsked && JSON.stringify(await call()).includes('a note')
  } finally {
    await server.close()
    await authorisation.close()
  }
}
