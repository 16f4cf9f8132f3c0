// An agent with a shell on the same machine, as the same user: it has the command line, the log, the
// gate's socket and its HTTP port, and may start terminals of its own. What it does not have is the PIN
// or the passkey; so it cannot approve, loosen, grant, thaw or become an approver. One gate for all.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ApprovalLinks } from '../../packages/access/src/identity/keys/approval-links.ts'
import { createGateToken } from '../../packages/access/src/identity/keys/gate-tokens.ts'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { ROOT } from '../support/modules.ts'
import { makePerson, PIN, runAtTerminal } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sendRaw } from '../support/raw-http.ts'
import {
  endGates,
  NODE,
  published,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

const FIRST_PIN = 'horse battery'
const folder = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
const mail = join(folder, 'mail')
const servers = { files: published('filesystem', mail) }
const POLICY = `version: 1
default: allow
tools: { files/move_file: deny, files/create_directory: require_approval }
`
let gate: RunningGate
const place = () => ['--config', join(folder, 'sluice.yaml')]
const start = (policy = POLICY) => startGate({ servers, folder, policy })

beforeAll(async () => {
  mkdirSync(mail)
  gate = await start()
})
afterAll(endGates)

/** As an agent's tool would run it: no terminal, whatever it likes on stdin and in the environment. */
function inShell(args: string[], stdin = '') {
  const env = { ...process.env, PIN: FIRST_PIN, SLUICE_PIN: FIRST_PIN, SLUICE_TOKEN: FIRST_PIN }
  const command = [NODE, SLUICE, ...args]
  const ran = spawnSync('setsid', ['--wait', ...command], { input: stdin, env, encoding: 'utf8' })
  return { code: ran.status, text: ran.stdout + ran.stderr }
}

const say = (request: { do: string } & Record<string, unknown>) =>
  askGate(gate.data, request as never).catch((error: Error) => error.message)

const events = (name: string) =>
  recordsOf(gate).flatMap((record) =>
    record.kind === 'event' && record.name === name ? [record.detail as never] : [],
  )

describe('the first PIN', () => {
  test('is not there at first, and everybody is told', async () => {
    expect(gate.log).toContain('nobody can approve anything yet')
    expect(await say({ do: 'thaw', proof: { pin: FIRST_PIN } })).toContain(
      'there is no approver yet',
    )
  })

  test('is set at a terminal alone, and is on record and in the status', async () => {
    const piped = inShell(['approvers', 'pin', ...place()], `${FIRST_PIN}\n${FIRST_PIN}\n`)
    expect([piped.code, piped.text]).toEqual([2, expect.stringContaining('CLI_TERMINAL')])
    const odd = await runAtTerminal(
      ['approvers', 'pin', ...place()],
      ['123456', FIRST_PIN, 'another one', '111111'],
    )
    expect([odd.code, odd.text]).toEqual([2, expect.stringContaining('too common')])
    expect(odd.text).toContain('the two PINs differ; try again')
    const set = await runAtTerminal(['approvers', 'pin', ...place()], [FIRST_PIN, FIRST_PIN])
    expect(set.code).toBe(0)
    expect(set.text).not.toContain(FIRST_PIN)
    expect(events('approver')).toMatchObject([
      { how: 'first PIN set', at: expect.stringContaining('/dev/pts/') },
    ])
    const status = inShell(['status', ...place()])
    expect(status.text).toMatch(
      /^approver \S+ \(person: viewer, approver, policy-manager, admin\): PIN since/m,
    )
    expect(gate.log).toContain('the first PIN was set at /dev/pts/')
    // Where the tests run at a terminal, the second; else the first.
    expect(await say({ do: 'first-pin', name: 'eve', pin: 'eve was here', at: 'x' })).toMatch(
      /has no terminal|an approver exists already/,
    )
  })

  test('is asked for at the terminal, and thaws', async () => {
    await say({ do: 'freeze', server: 'files' })
    const thawed = await runAtTerminal(['thaw', '--server', 'files', ...place()], [FIRST_PIN])
    expect([thawed.code, thawed.text]).toEqual([0, expect.stringContaining(': the server `files`')])
    expect(events('thaw')).toMatchObject([{ by: { kind: 'person', proof: 'pin' } }])
  })
})

describe('an agent with a shell', () => {
  test('gets nothing from the command line without the PIN', async () => {
    await say({ do: 'freeze' })
    for (const args of [
      ['thaw'],
      ['grants', 'add', 'me', '--policy', 'policy'],
      ['approvers', 'add', 'me'],
      ['console'],
    ]) {
      const { code, text } = inShell([...args, ...place()], `${FIRST_PIN}\n`.repeat(3))
      expect([args[0], code, text]).toEqual([args[0], 2, expect.stringContaining('CLI_TERMINAL')])
    }
    // A terminal of its own, where it guesses.
    const guessed = await runAtTerminal(['thaw', ...place()], ['guess 1'])
    expect([guessed.code, guessed.text]).toEqual([2, expect.stringContaining('wrong PIN')])
    expect(await say({ do: 'status' })).toMatchObject({ frozen: [{ scope: 'all' }] })
  })

  test('gets nothing from the socket, whatever it puts beside its request', async () => {
    const requests = [
      { do: 'thaw' },
      { do: 'apply', digest: 'x' },
      { do: 'pin-accept', server: 'files' },
      { do: 'grant-add', name: 'me', policy: 'policy' },
      { do: 'grant-revoke', name: 'me' },
      { do: 'change-pin', pin: 'mine for ever' },
      { do: 'approver-add', name: 'me', roles: ['admin'] },
      { do: 'approver-add', name: 'me', token: true },
      { do: 'approver-remove', name: 'me' },
      { do: 'prove', what: 'login x', may: 'login' },
      { do: 'console' },
      { do: 'invite', name: 'me' },
    ]
    for (const request of requests) {
      for (const proof of [undefined, {}, { pin: 7 }, 'pin', { name: 'me' }])
        expect([
          request.do,
          await say(proof === undefined ? request : { ...request, proof }),
        ]).toEqual([request.do, expect.stringContaining('needs the proof of a person')])
      expect(await say({ ...request, proof: { name: 'nobody', pin: FIRST_PIN } })).toContain(
        'no approver is called `nobody`',
      )
    }
    expect(events('grant')).toEqual([])
    expect(events('approver')).toHaveLength(1)
  })

  test('gets nothing over HTTP: no sign-in, another origin, another host, no metrics', async () => {
    const origin = gate.url.replace('127.0.0.1', 'localhost')
    const page = new Page(origin)
    for (const path of [
      '/api/me',
      '/api/approvals',
      '/api/grants',
      '/api/people',
      '/api/openapi.json',
    ])
      expect([path, (await page.ask('GET', path)).status]).toEqual([path, 401])
    for (const path of ['/api/thaw', '/api/grants', '/api/people', '/api/approvals/x/verdict'])
      expect([path, (await page.ask('POST', path, {})).status]).toEqual([path, 401])
    page.token = createGateToken('in')
    expect((await page.ask('GET', '/api/me')).status).toBe(401)
    const elsewhere = { origin: 'http://localhost:1' }
    expect((await page.ask('GET', '/api/sign-in', undefined, elsewhere)).status).toBe(403)
    const evil = 'GET /api/sign-in HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'
    const foreign = await sendRaw(gate.url, evil, 20_000)
    expect(foreign).toMatch(/^HTTP\/1\.1 403 /)
    expect((await fetch(`${gate.url}/metrics`)).status).toBe(404)
  })

  test('gains no tries by a restart, nor by working on the files while no gate runs', async () => {
    const wrong = (pin: string) => say({ do: 'thaw', proof: { pin } })
    await until(async () => String(await wrong('guess again')).includes('wrong PINs'))
    const { people } = (await say({ do: 'people' })) as unknown as {
      people: { wrongPins: number }[]
    }
    expect(people[0]?.wrongPins).toBe(5)
    expect(await wrong(FIRST_PIN)).toMatch(/5 wrong PINs of .*: no more tries for \d+ s/)
    await gate.kill()
    const alone = await runAtTerminal(['thaw', ...place()], [FIRST_PIN])
    expect([alone.code, alone.text]).toEqual([2, expect.stringContaining('no more tries')])
    gate = await start()
    expect(gate.log).toMatch(/may decide: .*5 wrong PINs since the last right one/)
    expect(await wrong(FIRST_PIN)).toContain('no more tries')
    expect(await say({ do: 'status' })).toMatchObject({ frozen: [{ scope: 'all' }] })
  })

  test('loosens nothing by editing the policy, nor by naming another in sluice.yaml', async () => {
    await gate.stop()
    const looser = 'version: 1\ndefault: allow\n'
    const files = { 'other.yaml': looser }
    gate = await startGate({
      servers,
      folder,
      files,
      policy: looser,
      config: { policy: './other.yaml' },
    })
    expect(await (await fetch(`${gate.url}/readyz`)).text()).toContain('`sluice policy apply`')
    const { code, text } = inShell(['policy', 'apply', ...place()], `${FIRST_PIN}\n`)
    expect([code, text]).toEqual([2, expect.stringContaining('CLI_TERMINAL')])
    await gate.stop()
    gate = await start()
  })

  test('finds no PIN in the log, the record, or any file', () => {
    const kept = readdirSync(gate.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(kept.length).toBeGreaterThan(3)
    for (const text of [gate.log, ...kept])
      for (const pin of [FIRST_PIN, 'guess again', 'mine for ever']) expect(text).not.toContain(pin)
  })
})

test('N16: Ctrl-C at the question for the first PIN ends the start', async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  writeFileSync(join(fresh, 'sluice.yaml'), 'version: 1\nservers: {}\ndata: ./data\n')
  const config = ['--config', join(fresh, 'sluice.yaml')]
  const up = await runAtTerminal(['up', '--port', '0', ...config], ['\u0003'], (text) => {
    if (text.includes('sluice ready'))
      process.kill(Number(readFileSync(join(fresh, 'data', 'gate.pid'), 'utf8')))
  })
  expect(up.code).toBe(2)
  expect(up.text).toContain('given up')
  expect(up.text).not.toContain('sluice ready')
  rmSync(fresh, { recursive: true })
})

test('the first start on a terminal asks for the PIN before it serves', async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  writeFileSync(join(fresh, 'sluice.yaml'), 'version: 1\nservers: {}\ndata: ./data\n')
  const config = ['--config', join(fresh, 'sluice.yaml')]
  const typed: string[] = []
  const up = await runAtTerminal(
    ['up', '--port', '0', ...config],
    [FIRST_PIN, FIRST_PIN],
    (text) => {
      if (!text.includes('sluice ready') || typed.length > 0) return
      typed.push(text)
      process.kill(Number(readFileSync(join(fresh, 'data', 'gate.pid'), 'utf8')))
    },
  )
  expect(up.code).toBe(0)
  expect(up.text).toMatch(/Nobody can approve any yet.*the PIN is set.*sluice ready/s)
  const people = People.open(join(fresh, 'data'))
  expect(people.list()).toMatchObject([
    { roles: ['viewer', 'approver', 'policy-manager', 'admin'] },
  ])
  people.close()
  rmSync(fresh, { recursive: true })
})

test('a person signs in with a one-time code, adds a passkey and thaws with it', async () => {
  // The first one's PIN rests: another person, as if added before.
  await makePerson(gate.data, 'bea')
  const opened = await runAtTerminal(['console', '--no-open', '--as', 'bea', ...place()], [PIN])
  const [, base = '', code = ''] =
    /(http:\/\/localhost:\d+)\/#code=(sluice_code_[\w-]+)/.exec(opened.text) ?? []
  const page = new Page(base)
  expect((await page.signIn(code)).body.me).toMatchObject({ name: 'bea', proof: 'pin' })
  expect((await new Page(base).signIn(code)).status).toBe(401)
  expect((await page.ask('POST', '/api/thaw', {})).body.error.code).toBe('API_PROOF')
  expect((await page.addPasskey()).body.error.code).toBe('API_PROOF')
  expect((await page.addPasskey(PIN)).status).toBe(200)
  expect((await page.prove('POST', '/api/thaw', {})).body.thawed).toMatchObject({ scope: 'all' })
  const made = await page.prove('POST', '/api/people', { name: 'bot', token: true })
  expect(made.body.token).toMatch(/^sluice_sys_/)
  const bot = new Page(base)
  bot.token = made.body.token
  expect((await bot.ask('GET', '/api/approvals')).body).toEqual({ requests: [], total: 0 })
  expect((await bot.ask('POST', '/api/thaw', {})).status).toBe(403)
  const { paths } = (await page.ask('GET', '/api/openapi.json')).body
  expect(paths['/api/approvals/{id}/verdict'].post['x-proof']).toBe(true)
  const table = readFileSync(join(ROOT, 'docs/reference/api.md'), 'utf8')
  const missing = Object.entries<Record<string, { readonly 'x-role': string }>>(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, row]) => `| \`${method.toUpperCase()} ${path}\` | ${row['x-role']} |`,
      ),
    )
    .filter((row) => !table.includes(row))
  expect(missing, 'rows that docs/reference/api.md lacks').toEqual([])
})

test('a held call passes by the word of an approver, and by nothing an agent has', async () => {
  const people = People.open(gate.data)
  const bot = { name: 'judge', kind: 'system', roles: ['approver'], groups: [], owns: [] } as const
  const { token } = await people.add(bot, { token: true }, Date.now())
  const viewer = { ...bot, name: 'camera', roles: ['viewer'] } as const
  const camera = await people.add(viewer, { token: true }, Date.now())
  people.close()
  const base = gate.url.replace('127.0.0.1', 'localhost')
  const [judge, looker, agent] = [new Page(base), new Page(base), new Page(base)]
  judge.token = token ?? ''
  looker.token = camera.token ?? ''
  const client = await PlainClient.open(gate, 'files')
  const call = client.call('create_directory', { path: join(mail, 'sent') })
  let id = ''
  await until(async () => {
    const { requests } = (await looker.ask('GET', '/api/approvals?states=pending')).body
    id = requests[0]?.id ?? ''
    return id !== ''
  })
  const path = `/api/approvals/${id}/verdict`
  const yes = { verdict: 'approve', comment: 'fine' }
  expect((await agent.ask('POST', path, yes)).status).toBe(401)
  expect((await looker.ask('POST', path, yes)).body.error.code).toBe('API_ROLE')
  for (const kind of ['in', 'sys', 'code'] as const) {
    agent.token = createGateToken(kind)
    expect((await agent.ask('POST', path, yes)).status).toBe(401)
  }
  expect(existsSync(join(mail, 'sent'))).toBe(false)
  const decided = await judge.ask('POST', path, yes)
  expect(decided.body).toMatchObject({
    votes: [{ by: 'judge', kind: 'system', proof: 'token', channel: 'console', comment: 'fine' }],
  })
  expect((await call).answer.result.isError).toBeUndefined()
  expect(existsSync(join(mail, 'sent'))).toBe(true)
  expect((await judge.ask('POST', path, yes)).body.error.code).toBe('API_REFUSED')
})

test('links and tokens of the gate are gone from what is read through it', async () => {
  const links = new ApprovalLinks(InstallationKey.at(gate.data))
  const link = { approval: 'r1', approver: 'bea', untilMs: Date.now() + 60_000 }
  const secrets = [
    links.address('https://gate.example', link) ?? '',
    `sluice_${'0123456789abcdef'.repeat(4)}`,
    createGateToken('sys'),
    createGateToken('code'),
  ]
  const text = `Dear Bea,\n${secrets.join('\n')}\nNote: sluice_case is a name, sluice_removed too\n`
  writeFileSync(join(mail, 'inbox.txt'), text)
  const client = await PlainClient.open(gate, 'files')
  const { text: answer } = await client.call('read_text_file', { path: join(mail, 'inbox.txt') })
  expect(answer).toContain('Dear Bea')
  expect(answer).toContain('https://gate.example/approvals/r1#link=sluice_removed')
  expect(answer).toContain('sluice_case is a name')
  for (const secret of secrets) expect(answer).not.toContain(secret.slice(-20))
})
