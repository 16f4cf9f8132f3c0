// Who is let in, seen from outside: the real gate, the real commands, clients with and without
// tokens, over HTTP and over pipes.

import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { inspect } from 'node:util'
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Grants } from '../../packages/access/src/identity/callers/grants.ts'
import { OperationClient } from '../../packages/cli/src/connect/ask-operation.ts'
import { type AuthorisationServer, serveAuthorisation } from '../servers/authorisation.ts'
import { pipeTo } from '../support/line-pipe.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sendRaw } from '../support/raw-http.ts'
import { sluice as runHere } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { selfSigned } from '../support/self-signed.ts'
import {
  ALLOW_ALL,
  endGates,
  fixture,
  NODE,
  type RunningGate,
  type ServingGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'

/** For a machine that is busy; an answer ends it sooner. */
const PATIENCE_MS = 20_000

const READER = `
version: 1
default: deny
tools:
  office/read_file: allow
  office/write_note: { action: allow, rate_limit: { max: 2, window: 1h, per: principal } }
  office/send_mail: { action: allow, when: "'mail' in principal.groups" }
`
const HOUSE = `
version: 1
default: deny
guardrails: [{ name: nobody pays, match: { tools: ["*/create_payment"] }, action: deny, reason: the house says no }]
`

let gate: RunningGate

beforeAll(async () => {
  gate = await startGate({
    servers: { office: fixture('office'), echo: fixture('echo') },
    policy: ALLOW_ALL,
    config: { policies: { reader: './reader.yaml', house: './house.yaml' } },
    files: { 'reader.yaml': READER, 'house.yaml': HOUSE },
  })
  await atTerminal(gate.data)
})
afterAll(endGates)

/** A client of the SDK that begins OAuth by itself on a 401. */
const OAUTH_CLIENT: OAuthClientProvider = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation() {},
  tokens: () => undefined,
  saveTokens() {},
  redirectToAuthorization() {},
  saveCodeVerifier() {},
  codeVerifier: () => '',
}

async function sluice(
  args: string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(NODE, [SLUICE, ...args], {
    env: { ...process.env, ...env },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  if (input === undefined) child.stdin.end()
  else child.stdin.write(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

/** With the PIN of a person, who is at the terminal. */
async function grants(...args: string[]) {
  const command = ['grants', ...args, '--config', join(gate.folder, 'sluice.yaml')]
  const { code, stdout, stderr } = await runHere(command)
  return { code, out: stdout, err: stderr }
}

/** As the command would, without the half second it takes to start. */
function store<T>(work: (grants: Grants) => T): T {
  const grants = Grants.open(gate.data)
  try {
    return work(grants)
  } finally {
    grants.close()
  }
}

async function decisionOf(client: PlainClient, tool: string, args: object = {}) {
  const { answer } = await client.call(tool, args)
  return answer.result?._meta?.['sluice/decision'] ?? { decision: 'allow' }
}

const open = (token?: string, server = 'office') =>
  PlainClient.open(gate, server, '2025-11-25', token)

/** In the order they stand: the gate is one, and its grants grow. */
describe('who is let in', () => {
  let local: PlainClient
  let ann = ''
  let bob = ''

  test('the local user, while there is no grant; the house lies over all', async () => {
    local = await open()
    expect(await decisionOf(local, 'delete_all')).toEqual({ decision: 'allow' })
    expect(await decisionOf(local, 'create_payment')).toMatchObject({ reason: 'the house says no' })
  })

  test('nobody with a token that is not known, also then', async () => {
    for (const authorization of [
      `Bearer sluice_${'0'.repeat(64)}`,
      'Bearer x',
      'Bearer',
      'Basic YTpi',
      'Bearer a b',
      `Bearer ${'x'.repeat(15_000)}`,
    ]) {
      const { status, headers } = await local.post('{}', { authorization })
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(
        /^Bearer realm="sluice", error="invalid_token", error_description="[^"]+"$/,
      )
    }
  })

  test('nobody but grants from the first one on, and the local sessions end', async () => {
    const taken = await grants(
      'add',
      'ann',
      '--policy',
      'reader',
      '--groups',
      'mail,ops',
      '--prompt',
    )
    expect(taken.code).toBe(0)
    expect((await grants('list')).out).toMatch(/^ann .*groups mail,ops, prompt/m)
    ann = /sluice_[0-9a-f]{64}/.exec(taken.out)?.[0] ?? ''
    expect(taken.err).toContain('the local user needs one from now on')
    const { status, headers, answer } = await local.ask('ping')
    expect(status).toBe(401)
    // Without an authorisation server there is none to be found: a client must not look for one.
    expect(headers.get('www-authenticate')).toBe('Bearer realm="sluice"')
    expect(answer.error.message).toContain('every caller needs a token')
    expect(answer.error.message).toContain('`sluice grants add NAME --policy POLICY` makes a token')
    expect(answer.error.message).toContain('to be sent as `Authorization: Bearer TOKEN`')
    for (const of of ['', '/mcp', '/mcp/office', '/other']) {
      const { status } = await fetch(`${gate.url}/.well-known/oauth-protected-resource${of}`)
      expect([of, status]).toEqual([of, 404])
    }
    for (const authProvider of [undefined, OAUTH_CLIENT]) {
      const address = new URL(`${gate.url}/mcp/office`)
      const transport = new StreamableHTTPClientTransport(address, authProvider && { authProvider })
      const connected = new Client({ name: 'a client', version: '1' }).connect(transport)
      await expect(connected).rejects.toThrow('sluice grants add NAME')
    }
  })

  test('each is judged by its own document, with its groups, under its own name', async () => {
    const request = { name: 'bob', policy: 'policy', slots: 1, groups: [], explain: true }
    bob = store((kept) => kept.add(request, Date.now()).token)
    const [one, other] = [await open(ann), await open(bob)]
    expect(await decisionOf(one, 'send_mail')).toEqual({ decision: 'allow' })
    expect(await decisionOf(one, 'delete_all')).toMatchObject({ decision: 'deny' })
    expect(await decisionOf(other, 'delete_all')).toEqual({ decision: 'allow' })
    expect(await decisionOf(other, 'create_payment')).toMatchObject({ reason: 'the house says no' })
    const listed = (await one.ask('tools/list')).text
    expect(listed).toContain('read_file')
    expect(listed).not.toContain('delete_all')
    const calls = recordsOf(gate).filter((record) => 'callId' in record)
    expect(
      calls.map(
        ({ principal, policy }) => `${principal.id} ${principal.kind} ${policy.split(' ')[0]}`,
      ),
    ).toEqual(
      expect.arrayContaining(['local local policy', 'ann grant reader', 'bob grant policy']),
    )
  })

  test('another policy is tried on the past with the groups that the caller had', async () => {
    const tried = join(gate.folder, 'tried.yaml')
    const place = ['--data', gate.data, '--for', 'reader', '--policy', tried]
    const replayed = async (group: string) => {
      writeFileSync(tried, READER.replace("'mail'", `'${group}'`))
      return runHere(['policy', 'replay', ...place, '--json'])
    }
    expect(JSON.parse((await replayed('ops')).stdout)).toMatchObject({ unknown: 0, flips: [] })
    const { flips, unknown } = JSON.parse((await replayed('post')).stdout)
    expect(unknown).toBe(0)
    expect(flips).toMatchObject([{ tool: 'office/send_mail', from: 'allow', to: 'deny' }])
  })

  test("a limit a principal is the grant's, whatever sessions it opens", async () => {
    for (const expected of ['allow', 'allow', 'deny'])
      expect(await decisionOf(await open(ann), 'write_note')).toMatchObject({ decision: expected })
  })

  test('the rule is told to whom it is to be explained, and to nobody else', async () => {
    expect(await decisionOf(await open(ann), 'write_note')).not.toHaveProperty('rule')
    expect(await decisionOf(await open(bob), 'create_payment')).toMatchObject({
      rule: 'house:/guardrails/0',
    })
  })

  test("another principal's session is none", async () => {
    const client = await open(ann)
    client.token = bob
    expect((await client.ask('ping')).status).toBe(404)
    await client.end()
    client.token = ann
    expect((await client.ask('ping')).status).toBe(200)
  })

  test('a pipe by the same rule: only with the token in SLUICE_TOKEN', async () => {
    const args = ['stdio', '--server', 'echo', '--config', join(gate.folder, 'sluice.yaml')]
    const [none, wrong] = await Promise.all([
      sluice(args),
      sluice(args, { SLUICE_TOKEN: `sluice_${'0'.repeat(64)}` }),
    ])
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('needs a token')])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('not known here')])
    expect(wrong.err + wrong.out).not.toContain('00000000')
    const child = spawn(NODE, [SLUICE, ...args], {
      env: { ...process.env, SLUICE_TOKEN: bob },
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await until(() => out.includes('"id":1'))
    store((kept) => kept.revoke('bob', Date.now()))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code).toBe(1)
  })

  test('a revoked grant is refused at once, and its open streams end', async () => {
    const client = await open(ann)
    const stream = await fetch(client.url, {
      headers: { 'mcp-session-id': client.session ?? '', authorization: `Bearer ${ann}` },
    })
    const ended = stream.text()
    expect((await grants('revoke', 'ann')).code).toBe(0)
    expect((await client.ask('ping')).status).toBe(401)
    await ended
    // Nothing opens because the last one is gone.
    client.token = undefined
    expect((await client.initialize()).status).toBe(401)
    expect(store((kept) => kept.revoke('ann', Date.now()))).toBeUndefined()
    expect((await grants('list')).out).toContain('every grant is revoked')
  })

  test('a grant that ends is refused with the reason; its open streams and pipes end', async () => {
    const untilMs = Date.now() + 1_500
    const terms = { policy: 'reader', slots: 2, groups: [], explain: false }
    const token = store((kept) => kept.add({ ...terms, name: 'guest', untilMs }, Date.now()).token)
    const client = await open(token)
    const headers = { 'mcp-session-id': client.session ?? '', authorization: `Bearer ${token}` }
    const stream = await fetch(client.url, { headers })
    const pipe = await pipeTo(gate, 'echo', token)
    pipe.say({ id: 1, method: 'ping' })
    expect(await pipe.answerTo(1)).toMatchObject({ result: {} })
    await stream.text()
    await pipe.ended
    expect(Date.now()).toBeGreaterThanOrEqual(untilMs)
    expect(gate.log).toContain('may no longer call')
    await expect(pipeTo(gate, 'echo', token)).rejects.toThrow('the grant `guest` ended at 20')
    const refused = await client.ask('ping')
    expect(refused.status).toBe(401)
    expect(refused.answer.error.message).toContain('the grant `guest` ended at 20')
    expect((await grants('list', '--all')).out).toMatch(/^guest .*ended 20/m)
    const events = recordsOf(gate).filter((one) => 'detail' in one && one.name === 'grants')
    expect(events.at(-1)).toMatchObject({ detail: { hold: [] } })
  })

  test('the local user again, once every grant is forgotten', async () => {
    expect((await grants('revoke', 'ann', '--forget')).code).toBe(0)
    expect(store((kept) => kept.forget('bob') + kept.forget('guest'))).toBe(2)
    expect((await open()).session).toBeDefined()
  })

  test('nothing of a token is in the log, the record or the list', async () => {
    const { out } = await grants('list', '--all', '--json')
    const record = inspect(recordsOf(gate), { depth: null, maxArrayLength: null })
    for (const text of [gate.log, record, out])
      for (const token of [ann, bob]) expect(text).not.toContain(token.slice(7, 40))
  })
})

describe('grants add', () => {
  test('says no with 1, and what it cannot read with 2', async () => {
    const cases: [number, string, string[]][] = [
      [1, 'no policy is called `house`', ['ann', '--policy', 'house']],
      [2, 'is not a valid grant name', ['local', '--policy', 'reader']],
      [2, 'required option `--policy <name>` not specified', ['ann']],
      [2, '--slots is `0`', ['ann', '--policy', 'reader', '--slots', '0']],
      [2, '--until is `soon`', ['ann', '--policy', 'reader', '--until', 'soon']],
      [2, 'which is over', ['ann', '--policy', 'reader', '--until', '2020-01-01']],
      [2, 'is not a valid group name', ['ann', '--policy', 'reader', '--groups', 'a,,b']],
    ]
    const answers = []
    for (const [, , args] of cases) answers.push(await grants('add', ...args))
    expect(answers.map(({ code, err }) => [code, err])).toEqual(
      cases.map(([code, message]) => [code, expect.stringContaining(message)]),
    )
  })

  test('import: one PIN, a token for each, and what is wrong before anything is added', async () => {
    const folder = scratchDirectory()
    const [file, tokens] = [join(folder, 'agents.yaml'), join(folder, 'tokens')]
    const importFrom = (text: string) => {
      writeFileSync(file, text)
      return grants('import', file, '--tokens', tokens)
    }
    const missing = await importFrom('b1: { policy: reader }\nb2: { policy: none }\n')
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('b2: no policy')])
    const wrong = await importFrom('b1: { polcy: reader }\n')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('`polcy`')])
    expect(existsSync(tokens)).toBe(false)
    expect((await grants('list')).out).not.toContain('b1')
    await atTerminal(gate.data)
    const text = 'b1: { policy: reader }\nb2: { policy: reader, slots: 2, groups: [ops] }\n'
    expect((await importFrom(text)).code).toBe(0)
    expect(statSync(tokens).mode & 0o777).toBe(0o600)
    const lines = readFileSync(tokens, 'utf8').trim().split('\n')
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['b1', 'b2'])
    for (const line of lines) expect((await open(line.split(' ')[1])).session).toBeDefined()
    // Once more: nothing is left to do, and nobody is asked.
    const again = await importFrom(text)
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('2 names had a grant')])
    for (const name of ['b1', 'b2']) {
      await atTerminal(gate.data)
      expect((await grants('revoke', name, '--forget')).code).toBe(0)
    }
  })

  test('finding: an import that stops says what was made, and loses no token unsaid', async () => {
    const folder = scratchDirectory()
    const [file, tokens] = [join(folder, 'agents.yaml'), join(folder, 'tokens')]
    writeFileSync(file, 'c1: { policy: reader }\nc2: { policy: reader }\nc3: { policy: reader }\n')
    const importTo = (to: string) => grants('import', file, '--tokens', to)
    const { ask } = OperationClient.prototype
    const asking = vi.spyOn(OperationClient.prototype, 'ask')
    onTestFinished(() => asking.mockRestore())

    // Before anybody is asked for a PIN.
    writeFileSync(tokens, 'of somebody else\n')
    const there = await importTo(tokens)
    expect([there.code, there.err]).toEqual([2, expect.stringContaining('is there already')])
    expect(asking).not.toHaveBeenCalled()
    rmSync(tokens)

    // Nothing was made: the same command may be run again.
    asking.mockRejectedValueOnce(new Error('the gate ended the connection'))
    await atTerminal(gate.data)
    const none = await importTo(tokens)
    expect([none.code, none.err]).toEqual([2, expect.not.stringContaining('made')])
    expect(existsSync(tokens)).toBe(false)

    // The second is made, and its answer is lost.
    asking.mockImplementation(async function (this: OperationClient, row, input) {
      const answer = await ask.call(this, row, input)
      if (input.name === 'c2') throw new Error('the gate ended the connection')
      return answer
    })
    await atTerminal(gate.data)
    const stopped = await importTo(tokens)
    expect(stopped.code).toBe(2)
    expect(stopped.err).toContain(`with tokens in ${tokens}: c1; made without a token: c2`)
    expect(stopped.err).toContain('sluice grants revoke c2 --forget')
    expect(readFileSync(tokens, 'utf8')).toMatch(/^c1 \S+\n$/)
    asking.mockRestore()

    const rest = `${tokens}.rest`
    await atTerminal(gate.data)
    expect((await grants('revoke', 'c2', '--forget')).code).toBe(0)
    await atTerminal(gate.data)
    expect((await importTo(rest)).code).toBe(0)
    expect(readFileSync(rest, 'utf8')).toMatch(/^c2 \S+\nc3 \S+\n$/)
    for (const name of ['c1', 'c2', 'c3']) {
      await atTerminal(gate.data)
      expect((await grants('revoke', name, '--forget')).code).toBe(0)
    }
  })

  test('--fixed prints what sluice.yaml takes', async () => {
    const { out } = await grants(
      'add',
      'eve',
      '--policy',
      'reader',
      '--prompt',
      '--fixed',
      '--until',
      '1d',
      '--json',
    )
    const { grants: fixed, token } = JSON.parse(out)
    expect(fixed.eve).toMatchObject({ prompt: true, until: expect.stringMatching(/^20.*Z$/) })
    const second = await serveGate({
      servers: { echo: fixture('echo') },
      config: { policies: { reader: './reader.yaml' }, grants: fixed },
      files: { 'reader.yaml': READER },
    })
    expect((await new PlainClient(second, 'echo').initialize()).status).toBe(401)
    expect((await PlainClient.open(second, 'echo', '2025-11-25', token)).session).toBeDefined()
  })
})

describe('tokens of an authorisation server', () => {
  let authorisation: AuthorisationServer
  let guarded: ServingGate

  beforeAll(async () => {
    authorisation = await serveAuthorisation()
    const { issuer } = authorisation
    guarded = await serveGate({
      servers: { office: fixture('office'), echo: fixture('echo') },
      config: {
        policies: { machines: './machines.yaml' },
        auth: { issuers: { corp: { issuer, policy: 'machines', scopes: ['mcp'] } } },
      },
      files: {
        'machines.yaml':
          "version: 1\ndefault: deny\ntools: { office/read_file: { action: allow, when: \"principal.claims.client_id == 'machine' && principal.id == 'corp:machine'\" } }\n",
      },
    })
  })
  afterAll(() => authorisation.close())

  test('are found by the metadata, taken for what they are for, and judged by their claims', async () => {
    const refused = await new PlainClient(guarded, 'office').initialize()
    expect(refused.status).toBe(401)
    const where = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')
    const metadata = (await (await fetch(where?.[1] ?? '')).json()) as {
      resource: string
      authorization_servers: string[]
    }
    expect(metadata.authorization_servers).toEqual([authorisation.issuer])
    const token = await authorisation.tokenFor(metadata.resource)
    const client = await PlainClient.open(guarded, 'office', '2025-11-25', token)
    expect(await decisionOf(client, 'read_file')).toEqual({ decision: 'allow' })
    expect(await decisionOf(client, 'write_note')).toMatchObject({ decision: 'deny' })
    const elsewhere = new PlainClient(guarded, 'echo')
    elsewhere.token = token
    const other = await elsewhere.initialize()
    expect([other.status, other.text]).toEqual([401, expect.stringContaining('for another')])
    elsewhere.token = await authorisation.tokenFor(`${guarded.url}/mcp`)
    expect((await elsewhere.initialize()).status).toBe(200)
  })

  test('without the scope are refused with 403', async () => {
    const client = new PlainClient(guarded, 'office')
    client.token = await authorisation.tokenFor(`${guarded.url}/mcp/office`, '')
    const missing = await new PlainClient(guarded, 'office').initialize()
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([
      401,
      // F8: a client that has no token yet learns what to ask for.
      expect.stringMatching(/^Bearer resource_metadata="[^"]+", scope="[^"]+"$/),
    ])
    const { status, headers } = await client.initialize()
    expect([status, headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope"'),
    ])
  })
})

describe('beyond loopback', () => {
  test('over TLS, and nobody is local: names of the certificate are the gate, others are not', async () => {
    const { cert, key } = selfSigned()
    const far = await serveGate({
      servers: { echo: fixture('echo') },
      config: { listen: '0.0.0.0:0', tls: { cert: './cert.pem', key: './key.pem' } },
      files: { 'cert.pem': cert, 'key.pem': key },
    })
    const { port } = new URL(far.url)
    expect(far.url).toBe(`https://0.0.0.0:${port}`)
    const ask = (host: string, path = '/mcp/echo'): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = {
          servername: 'localhost',
          ca: cert,
          host: '127.0.0.1',
          port,
          path,
          method: 'GET',
          headers: { host },
        }
        get({ ...options, agent: false }, (response) => {
          response.resume()
          resolve(response.statusCode)
        }).once('error', reject)
      })
    expect(await ask(`localhost:${port}`, '/healthz')).toBe(200)
    expect(await ask(`localhost:${port}`)).toBe(401)
    expect(await ask(`127.0.0.1:${port}`)).toBe(401)
    expect(await ask(`evil.example:${port}`)).toBe(403)

    // A renewed certificate, the key after it; a pair that does not fit; and a name it is not for.
    const served = () => servedBy(Number(port))
    const write = (name: string, text: string) => writeFileSync(join(far.folder, name), text)
    const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256
    expect(await served()).toBe(fingerprint(cert))
    const newer = selfSigned()
    write('cert.pem', newer.cert)
    write('key.pem', newer.key)
    await until(async () => (await served()) === fingerprint(newer.cert))
    write('key.pem', key)
    await until(() => far.log.includes('the certificate is as it was: the key'))
    expect(await served()).toBe(fingerprint(newer.cert))
    write('key.pem', newer.key)
    write('cert.pem', 'nonsense')
    await until(() => far.log.includes('the certificate is as it was: `tls` cannot be used'))
    expect(await served()).toBe(fingerprint(newer.cert))
  })

  test('behind a proxy: its address is the gate, and nobody is local', async () => {
    const far = await serveGate({
      servers: { echo: fixture('echo') },
      config: { public_url: 'https://gate.example.com' },
    })
    const ask = async (host: string, ...more: string[]): Promise<string> =>
      sendRaw(
        far.url,
        ['GET /mcp/echo HTTP/1.1', `host: ${host}`, ...more, 'connection: close', '', ''].join(
          '\r\n',
        ),
        PATIENCE_MS,
      )
    for (const host of ['gate.example.com', 'gate.example.com:443', new URL(far.url).host]) {
      const answer = await ask(host)
      expect(answer).toMatch(/^HTTP\/1.1 401 /)
      expect(answer).toContain('Bearer realm="sluice"\r\n')
    }
    expect(await ask('gate.example.com', 'origin: https://gate.example.com')).toMatch(
      /^HTTP\/1.1 401 /,
    )
    for (const origin of [
      'http://gate.example.com',
      'http://localhost:3000',
      'https://evil.example',
    ])
      expect(await ask('gate.example.com', `origin: ${origin}`)).toMatch(/^HTTP\/1.1 403 /)
    expect(await ask('gate.example.com:80')).toMatch(/^HTTP\/1.1 403 /)
    expect(await ask('evil.example')).toMatch(/^HTTP\/1.1 403 /)
  })
})

/** The certificate that a new connection is shown. */
function servedBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
    const socket = connectTls(options, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '')
      socket.destroy()
    }).once('error', reject)
  })
}
