// Servers come and go while the gate runs: one is added, used, changed, restarted and removed under load
// without a failed call of others; what an edit of sluice.yaml would start waits for a person.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal, makePerson, PIN, type } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { type RealClient, throughGate } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, NODE, type ServingGate, until } from '../support/start-gate.ts'
import { listenStateless, statelessClient } from '../support/stateless-client.ts'

afterEach(endGates)

const at = (gate: ServingGate) => ['--config', join(gate.folder, 'sluice.yaml')]
const configOf = (gate: ServingGate) =>
  JSON.parse(readFileSync(join(gate.folder, 'sluice.yaml'), 'utf8'))
const edit = (gate: ServingGate, servers: object) =>
  writeFileSync(join(gate.folder, 'sluice.yaml'), JSON.stringify({ ...configOf(gate), servers }))
const textOf = (result: unknown) =>
  (result as { content?: { text: string }[] }).content?.[0]?.text ?? JSON.stringify(result)
const events = (gate: ServingGate) =>
  recordsOf(gate).flatMap((record) =>
    record.kind === 'event' && record.name === 'server' ? [record.detail as { how: string }] : [],
  )
const call = async ({ client }: RealClient, name: string, args = {}) =>
  textOf(await client.callTool({ name, arguments: args }))
const toolsOf = async ({ client }: RealClient) =>
  (await client.listTools()).tools.map(({ name }) => name)
const changes = ({ notifications }: RealClient) =>
  notifications.filter(({ method }) => method === 'notifications/tools/list_changed').length

/** Calls one after the other until it is told to stop; what failed. */
function load(ask: () => Promise<string>) {
  const failed: string[] = []
  let calls = 0
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      try {
        await ask()
      } catch (error) {
        failed.push((error as Error).message)
      }
      calls += 1
    }
  })()
  return {
    failed,
    calls: () => calls,
    stop: async () => {
      isOver = true
      await done
    },
  }
}

test('a server is added, used, changed, restarted and removed, and nobody else notices', async () => {
  const gate = await serveGate({ servers: { steady: fixture('echo') } })
  await atTerminal(gate.data)
  const direct = await throughGate(gate, 'steady')
  const all = await throughGate(gate, '')
  const stateless = await statelessClient(gate, '')
  const listening = await listenStateless(gate, '', { toolsListChanged: true })
  expect(await toolsOf(all)).not.toContain('extra__echo')
  const others = [
    load(() => call(direct, 'echo', { a: 1 })),
    load(() => call(all, 'steady__echo', { a: 1 })),
    load(async () => textOf(await stateless.callTool({ name: 'steady__echo', arguments: {} }))),
  ]

  const { command } = fixture('echo')
  const added = await sluice([
    'server',
    'add',
    'extra',
    '--env',
    'STEP=one',
    ...at(gate),
    '--',
    ...command,
  ])
  expect(added).toMatchObject({ code: 0, stdout: 'added: extra\n' })
  expect(added.stderr).toContain(`command: ${command.join(' ')}`)
  expect(added.stderr).toContain('env: STEP=one')
  await until(() => changes(all) > 0)
  await until(() => listening.received.some(({ method }) => method.endsWith('tools/list_changed')))
  expect(await toolsOf(all)).toContain('extra__echo')
  expect(JSON.parse(await call(all, 'extra__env')).STEP).toBe('one')
  const alone = await throughGate(gate, 'extra')
  const pid = await call(alone, 'pid')

  const users = [load(() => call(all, 'extra__echo')), load(() => call(alone, 'echo'))]
  const put = [
    'server',
    'add',
    'extra',
    '--replace',
    '--env',
    'STEP=two',
    ...at(gate),
    '--',
    ...command,
  ]
  expect(await sluice(put)).toMatchObject({ code: 0, stdout: 'changed: extra\n' })
  await until(async () => JSON.parse(await call(all, 'extra__env')).STEP === 'two')
  await until(async () => JSON.parse(await call(alone, 'env')).STEP === 'two')
  const second = await call(alone, 'pid')
  expect(second).not.toBe(pid)
  expect((await sluice(['server', 'restart', 'extra', ...at(gate)])).code).toBe(0)
  await until(async () => (await call(alone, 'pid')) !== second)
  for (const user of users) await user.stop()
  expect(users.flatMap(({ failed }) => failed)).toEqual([])

  // A change is told once, until the client has looked.
  await toolsOf(all)
  const before = changes(all)
  expect((await sluice(['server', 'remove', 'extra', ...at(gate)])).stdout).toBe('removed: extra\n')
  await until(() => changes(all) > before)
  expect(await toolsOf(all)).not.toContain('extra__echo')
  expect(await call(all, 'extra__echo').catch((error) => error.message)).toMatch(
    /unknown|not found/i,
  )
  await expect(call(alone, 'echo')).rejects.toThrow()
  const gone = new PlainClient(gate, 'extra')
  expect((await gone.initialize()).status).toBe(404)
  expect(Object.keys(configOf(gate).servers)).toEqual(['steady'])

  for (const other of others) await other.stop()
  expect(others.flatMap(({ failed }) => failed)).toEqual([])
  expect(Math.min(...others.map(({ calls }) => calls()))).toBeGreaterThan(10)
  expect(changes(direct)).toBe(0)
  expect(events(gate).map(({ how }) => how)).toEqual(['added', 'changed', 'restarted', 'removed'])
  expect(events(gate)[0]).toMatchObject({
    server: 'extra',
    entry: { command, env: ['STEP'] },
    by: { name: 'ann', proof: 'pin' },
  })
  listening.close()
  await stateless.close()
})

test('a server over HTTP is changed for clients of all servers without a failed call', async () => {
  const [one, two] = [await serveHttp(), await serveHttp()]
  const gate = await serveGate({ servers: { web: { url: one.url }, steady: fixture('echo') } })
  await atTerminal(gate.data)
  const all = await throughGate(gate, '')
  await toolsOf(all)
  const user = load(() => call(all, 'web__echo'))
  await until(() => user.calls() > 3)
  const put = ['server', 'add', 'web', '--replace', '--url', two.url, ...at(gate)]
  expect((await sluice(put)).code).toBe(0)
  await until(() => two.seen.some(({ body }) => body.includes('tools/call')))
  await user.stop()
  expect(user.failed).toEqual([])
  await Promise.all([one.close(), two.close()])
})

test('an edit that adds a part of the gate says that the gate has to be restarted', async () => {
  const { command } = fixture('echo')
  const gate = await serveGate({ servers: { steady: { command } } })
  edit(gate, { steady: { command }, agents: { builtin: 'agents' } })
  const status = () => sluiceJson(['status', ...at(gate)])
  await until(async () => (await status()).pendingServers?.length === 1)
  const todo = 'restart the gate, it is a part of it'
  expect((await status()).why).toContain(todo)
  for (const line of [['status'], ['server', 'list']])
    expect((await sluice([...line, ...at(gate)])).stdout).toContain(todo)
  expect(gate.log).toContain(todo)
  expect(gate.log).not.toContain('server accept')
})

test('hostile edits of sluice.yaml: nothing is started before a person has seen it', async () => {
  const { command } = fixture('echo')
  const gate = await serveGate({ servers: { steady: { command }, other: { command } } })
  const steady = await throughGate(gate, 'steady')
  const pid = await call(steady, 'pid')
  const mark = join(gate.folder, 'started')
  const evil = { command: [NODE, '-e', `require("fs").writeFileSync(${JSON.stringify(mark)}, "")`] }
  const options = { NODE_OPTIONS: `--require=${mark}` }
  edit(gate, { evil, steady: { command, env: options } })
  const status = () => sluiceJson(['status', ...at(gate)])
  await until(async () => (await status()).pendingServers?.length === 2)
  expect(await status()).toMatchObject({
    why: expect.stringContaining('sluice server accept'),
    // What an edit takes away is gone.
    servers: [{ name: 'steady' }],
  })
  expect((await sluice(['status', ...at(gate)])).stdout).toContain(
    'waits: server evil, added in sluice.yaml',
  )
  await expect(throughGate(gate, 'evil')).rejects.toThrow()
  await expect(throughGate(gate, 'other')).rejects.toThrow()
  expect(await call(steady, 'pid')).toBe(pid)
  const all = await throughGate(gate, '')
  expect((await toolsOf(all)).every((name) => name.startsWith('steady__'))).toBe(true)

  // Without a person, with a wrong PIN, with a digest of something else, or as a string for a shell.
  const { pending } = (await askGate(gate.data, { do: 'server-list' })) as {
    pending: { name: string; digest: string }[]
  }
  const digest = pending.find(({ name }) => name === 'evil')?.digest as string
  await expect(askGate(gate.data, { do: 'server-accept', name: 'evil', digest })).rejects.toThrow()
  await expect(
    askGate(gate.data, { do: 'server-put', name: 'evil', entry: evil, replaces: true }),
  ).rejects.toThrow()
  await atTerminal(gate.data)
  type('not the PIN')
  expect((await sluice(['server', 'accept', 'evil', ...at(gate)])).code).not.toBe(0)
  await atTerminal(gate.data)
  type('tea, not coffee')
  const proof = { name: 'ann', pin: 'tea, not coffee' }
  const other = { do: 'server-accept', name: 'evil', digest: 'sha256:0', proof }
  await expect(askGate(gate.data, other)).rejects.toThrow(/changed again/)
  for (const words of [['npx -y some-server'], ['sh', '-c', 'echo x'], ['/bin/bash', '-lc', 'x']]) {
    const shell = await sluice(['server', 'add', 'shell', ...at(gate), '--', ...words])
    expect(shell.stderr).toContain('no shell is used')
  }
  expect(existsSync(mark)).toBe(false)

  // A file with errors changes nothing.
  const text = readFileSync(join(gate.folder, 'sluice.yaml'), 'utf8')
  writeFileSync(join(gate.folder, 'sluice.yaml'), '{"version":1,"servers":{')
  await until(async () =>
    String((await askGate(gate.data, { do: 'status' }))?.why).includes('as they were'),
  )
  expect(await call(steady, 'pid')).toBe(pid)
  writeFileSync(join(gate.folder, 'sluice.yaml'), text)
  await until(
    async () => !String((await askGate(gate.data, { do: 'status' }))?.why).includes('as they were'),
  )

  const accepted = await sluice(['server', 'accept', 'steady', ...at(gate)])
  expect(accepted).toMatchObject({ code: 0, stdout: 'accepted: steady\n' })
  expect(accepted.stderr).toContain(`NODE_OPTIONS=--require=${mark}`)
  expect(accepted.stderr).toContain('before')
  // What was accepted is what was asked for: a module that is not there.
  await expect(call(steady, 'pid')).rejects.toThrow()
  edit(gate, { steady: { command } })
  await until(async () => (await status()).pendingServers[0]?.name === 'steady')
  edit(gate, {})
  await until(async () => (await status()).servers.length === 0)
  expect(await toolsOf(all)).toEqual([])
  const how = events(gate).map((event) => event.how)
  expect(how).toEqual(expect.arrayContaining(['waiting', 'removed', 'accepted']))
  expect(JSON.stringify(events(gate))).not.toContain('--require')
})

/** Signed in at the console with a passkey. */
async function openPage(gate: ServingGate): Promise<Page> {
  await makePerson(gate.data, 'ann', ROLES)
  const proof = { name: 'ann', pin: PIN }
  const { url } = (await askGate(gate.data, { do: 'console', proof })) as { url: string }
  const [base = '', code = ''] = url.split('/#code=')
  const page = new Page(base)
  await page.signIn(code)
  expect((await page.addPasskey(PIN)).status).toBe(200)
  return page
}

test('over the API servers change if sluice.yaml allows it, by a passkey for what was shown', async () => {
  const { command } = fixture('echo')
  const api = { change_servers: true }
  const gate = await serveGate({ servers: { steady: { command } }, config: { api } })
  const page = await openPage(gate)
  const steady = await throughGate(gate, 'steady')
  const entry = { command, env: { STEP: 'one' } }
  const path = '/api/servers/extra'
  const shown = (await page.ask('POST', `${path}/preview`, { entry })).body
  expect(shown).toMatchObject({ server: 'extra', how: 'added', entry })
  const { digest } = shown
  const put = { entry, digest }
  expect((await page.ask('PUT', path, put)).body.error.code).toBe('API_PROOF')
  const refusals = [
    [{ entry }, 'digest'],
    [{ entry: { command: ['true'] }, digest }, 'not what was shown'],
    [{ entry: { command: ['env', 'A=1', 'sh', '-c', 'echo x'] }, digest }, 'no shell is used'],
    [{ entry: { command: 'npx some-server' }, digest }, 'command'],
    [{ entry: { builtin: 'agents' }, digest }, 'next start'],
  ] as const
  for (const [body, why] of refusals)
    expect(JSON.stringify((await page.prove('PUT', path, body)).body)).toContain(why)
  expect(Object.keys(configOf(gate).servers)).toEqual(['steady'])
  // A system has no face that a passkey could be asked of.
  const { token } = (await page.prove('POST', '/api/people', { name: 'bot', token: true })).body
  const bot = new Page(page.origin)
  bot.token = token
  expect((await bot.ask('PUT', path, put)).body.error.code).toBe('API_ROLE')

  expect((await page.prove('PUT', path, put)).body).toMatchObject({ how: 'added', running: true })
  const extra = await throughGate(gate, 'extra')
  expect(JSON.parse(await call(extra, 'env')).STEP).toBe('one')
  const described = (await page.ask('GET', '/api/tool?server=extra&name=echo')).body.page
  expect(described).toMatch(/Which tools are like[^#]*\bpid\b/)
  expect((await page.prove('PUT', path, put)).body.error.message).toContain('already')
  const pid = await call(extra, 'pid')
  expect((await page.prove('POST', `${path}/restart`, {})).status).toBe(200)
  await until(async () => (await call(extra, 'pid')) !== pid)
  // An edit that waits is shown whole, and accepted as it was shown.
  edit(gate, { steady: { command }, extra: { command, env: { STEP: 'two' } } })
  await until(async () => (await page.ask('GET', '/api/servers')).body.pending.length === 1)
  const waiting = (await page.ask('POST', `${path}/preview`, {})).body
  expect(waiting).toMatchObject({ how: 'changed', entry: { env: { STEP: 'two' } }, before: entry })
  const accept = (seen: string) => page.prove('POST', `${path}/accept`, { digest: seen })
  expect((await accept(digest)).body.error.message).toContain('changed again')
  expect((await accept(waiting.digest)).body).toEqual({ server: 'extra', how: 'changed' })
  await until(async () => JSON.parse(await call(extra, 'env')).STEP === 'two')
  expect((await page.ask('DELETE', path)).body.error.code).toBe('API_PROOF')
  expect((await page.prove('DELETE', path)).body).toMatchObject({ how: 'removed' })
  expect(await call(steady, 'echo')).toBeDefined()
  const by = { name: 'ann', proof: 'passkey' }
  expect(events(gate)).toMatchObject([
    { how: 'added', by, entry: { command, env: ['STEP'] } },
    { how: 'restarted', by },
    { how: 'waiting' },
    { how: 'accepted', by },
    { how: 'removed', by },
  ])
})

test('without a gate the file is changed, with its comments, and the proof is asked for', async () => {
  const gate = await serveGate({ servers: {} })
  // Servers are not changed over the API unless sluice.yaml says so.
  const page = await openPage(gate)
  const preview = (await page.ask('POST', '/api/servers/b/preview', { entry: {} })).body
  expect(preview.error.help).toContain('change_servers: true')
  expect((await page.prove('DELETE', '/api/servers/b')).body.error.code).toBe('API_REFUSED')
  await gate.stop()
  const file = join(gate.folder, 'sluice.yaml')
  const yaml =
    '# mine\nversion: 1\nservers:\n  # one\n  a: { url: "http://127.0.0.1:1/" } # far\ndata: ./data\n'
  writeFileSync(file, yaml)
  await atTerminal(gate.data)
  const { command } = fixture('echo')
  const added = await sluice(['server', 'add', 'b', ...at(gate), '--', ...command])
  expect(added.stdout).toContain('no gate runs')
  expect(readFileSync(file, 'utf8')).toBe(
    yaml.replace('# far\n', `# far\n  "b":\n    command: ${JSON.stringify(command)}\n`),
  )
  expect((await sluice(['server', 'add', 'b', ...at(gate), '--', 'x'])).stderr).toContain(
    '--replace',
  )
  expect((await sluice(['server', 'list', ...at(gate)])).stdout).toBe(
    `a: http://127.0.0.1:1/\nb: ${command.join(' ')}\n`,
  )
  expect((await sluice(['server', 'accept', 'b', ...at(gate)])).stderr).toContain('no gate runs')
  expect((await sluice(['server', 'remove', 'b', ...at(gate)])).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(yaml)
})
