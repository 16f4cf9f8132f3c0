// A tool in the console: its page says what the gate decides by.

import { afterEach, expect, test } from 'vitest'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { serveGate } from '../support/own-gate.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

afterEach(endGates)

async function openPage(gate: ServingGate): Promise<Page> {
  const proof = { name: 'ann', pin: PIN }
  const { url } = (await askGate(gate.data, { do: 'console', proof })) as { url: string }
  const [base = '', code = ''] = url.split('/#code=')
  const page = new Page(base)
  await page.signIn(code)
  return page
}

test('the page of a tool and the list follow `classify` of the policy, after a restart too', async () => {
  const policy = 'version: 1\ndefault: deny\nclassify:\n  count/read: Destructive\n'
  const spec = { servers: { count: fixture('counter') }, policy }
  const gate = await serveGate(spec)
  await (await PlainClient.open(gate, 'count')).ask('tools/list')
  await makePerson(gate.data, 'ann', ROLES)
  const look = async (page: Page) => {
    const { tools } = (await page.ask('GET', '/api/tools')).body
    const listed = tools.find(({ name }: { name: string }) => name === 'read')
    const shown = (await page.ask('GET', '/api/tool?server=count&name=read')).body
    expect([listed.category, shown.category]).toEqual(['Destructive', 'Destructive'])
    expect(shown).toMatchObject({ inCatalogue: 'Read', unknown: false })
    const other = (await page.ask('GET', '/api/tool?server=count&name=write')).body
    expect(other).toMatchObject({ category: 'Write', inCatalogue: null })
  }
  await look(await openPage(gate))
  await gate.stop()
  await look(await openPage(await serveGate({ ...spec, folder: gate.folder })))
})
