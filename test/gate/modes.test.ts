// Tool modes at a real gate: published clients of both protocol generations list, search and call; what `call_tool`
// does is in every respect what the direct call does, under random policies; hidden tools do not exist.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import type { LedgerRecord } from '../../packages/ledger/src/records/record.ts'
import { inspect } from '../support/inspect.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { PlainClient, type Reply, recordsOf } from '../support/plain-client.ts'
import { straight, throughGate } from '../support/real-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { forms, IS_FULL, runs } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  fixture,
  NODE,
  published,
  type RunningGate,
  SLUICE,
  startGate,
} from '../support/start-gate.ts'
import { postStateless, statelessClient } from '../support/stateless-client.ts'

const SEARCH = '?mode=search'
const MODE_TOOLS = ['search_tools', 'describe_tools', 'call_tool']
const PROGRAM = 'return await tools.counter.read({ n: 1 })'
const ENDED = { status: 'completed', result: 'read {"n":1}' }
const folder = fileScratchDirectory()
const POLICY = `
version: 1
default: allow
tools:
  everything/get-env: hide
  everything/echo: { action: allow, rate_limit: { max: 2, window: 1h, per: session } }
`

let gate: RunningGate

beforeAll(async () => {
  const servers = {
    code: { builtin: 'code' as const },
    everything: published('everything'),
    counter: fixture('counter', join(folder, 'calls')),
  }
  gate = await startGate({ servers, policy: POLICY })
}, 180_000)
afterAll(async () => {
  await endGates()
  await endOwnGates()
})

interface ToolCaller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
}

async function textOf(client: ToolCaller, name: string, args: Record<string, unknown>) {
  const result = (await client.callTool({ name, arguments: args })) as {
    content: { text: string }[]
  }
  return result.content[0]?.text ?? ''
}

describe('a published client', { timeout: 180_000 }, () => {
  test('of sessions lists the tools of the mode, finds, reads and calls', async () => {
    const { client, close } = await throughGate(gate, SEARCH)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(MODE_TOOLS)
    expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(250)
    const found = await textOf(client, 'search_tools', { query: 'add two numbers' })
    expect(found).toMatch(/^everything__get-sum\(\{a:number,b:number\}\) \/\/ /)
    const read = await textOf(client, 'describe_tools', { names: ['everything__get-sum'] })
    expect(JSON.parse(read)).toMatchObject({ name: 'everything__get-sum' })
    const call = { name: 'everything__get-sum', arguments: { a: 40, b: 2 } }
    expect(await textOf(client, 'call_tool', call)).toContain('42')
    await close()
  })

  test('of the stateless generation does the same', async () => {
    const client = await statelessClient(gate, SEARCH)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(MODE_TOOLS)
    const found = await textOf(client, 'search_tools', { query: 'add two numbers' })
    expect(found).toContain('everything__get-sum(')
    const call = { name: 'everything__get-sum', arguments: { a: 40, b: 2 } }
    expect(await textOf(client, 'call_tool', call)).toContain('42')
    await client.close()
    const all = await statelessClient(gate, '')
    expect((await all.listTools()).tools.length).toBeGreaterThan(3)
    await all.close()
  })

  // test/gate/servers.test.ts has that program, too.
  test.runIf(IS_FULL)('on the command line of the inspector', async () => {
    const url = `${gate.url}/mcp${SEARCH}`
    const run = ['--tool-name', 'run_code', '--tool-arg', `code=${PROGRAM}`]
    const code = `${gate.url}/mcp?mode=code`
    const ran = await inspect(folder, code, '--method', 'tools/call', ...run)
    expect(JSON.parse(ran.content[0].text)).toMatchObject(ENDED)
    const { tools } = await inspect(folder, url, '--method', 'tools/list')
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(MODE_TOOLS)
    const options = ['--tool-name', 'search_tools', '--tool-arg', 'query=tiny image']
    const found = await inspect(folder, url, '--method', 'tools/call', ...options)
    expect(JSON.stringify(found)).toContain('everything__get-tiny-image')
  })

  test.each(forms(['code', 'search']))('behind a pipe in the mode %s', async (mode) => {
    const config = join(gate.folder, 'sluice.yaml')
    const command = [NODE, SLUICE, 'stdio', '--config', config, '--mode', mode]
    const { client, close } = await straight(command)
    const { tools } = await client.listTools()
    const caller = mode === 'code' ? 'run_code' : 'call_tool'
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', caller])
    const found = await textOf(client, 'search_tools', { query: 'add two numbers' })
    expect(found).toMatch(mode === 'code' ? /^tools\.everything/ : /^everything__/)
    if (mode === 'code')
      expect(JSON.parse(await textOf(client, 'run_code', { code: PROGRAM }))).toMatchObject(ENDED)
    await close()
  })
})

test('the doctor warns of a mode whose policy only observes', async () => {
  const home = mkdtempSync(join(folder, 'doctor-'))
  writeFileSync(join(home, 'policy.yaml'), 'version: 1\nmode: shadow\ndefault: allow\n')
  const servers = { counter: fixture('counter', join(home, 'calls')) }
  const config = { version: 1, servers, policy: './policy.yaml', mcp: { mode: 'search' } }
  writeFileSync(join(home, 'sluice.yaml'), JSON.stringify(config))
  const { stdout } = await sluice(['doctor', '--config', join(home, 'sluice.yaml')])
  expect(stdout).toContain('with `mcp.mode` clients ask once for all tools')
})

test('the configuration sets the mode of clients that name none', async () => {
  const servers = { counter: fixture('counter', join(folder, 'played')) }
  const own = await ownGate({ servers, config: { mcp: { mode: 'search' } } })
  const namesAt = async (address: string): Promise<string[]> => {
    const client = await PlainClient.open(own as unknown as RunningGate, address)
    const { answer } = await client.ask('tools/list')
    return answer.result.tools.map(({ name }: { name: string }) => name)
  }
  expect(await namesAt('')).toEqual(MODE_TOOLS)
  expect(await namesAt('?mode=all')).toContain('counter__write')
})

test('a hidden tool does not exist: not found, not described, not called', async () => {
  const client = await PlainClient.open(gate, SEARCH)
  const ask = async (name: string, args: object) => (await client.call(name, args)).answer
  const found = await ask('search_tools', { query: 'environment variables', limit: 50 })
  expect(found.result.content[0].text).not.toContain('get-env')
  for (const [tool, args] of [
    ['describe_tools', (name: string) => ({ names: [name] })],
    ['call_tool', (name: string) => ({ name })],
  ] as const) {
    const hidden = await ask(tool, args('everything__get-env'))
    const invented = await ask(tool, args('everything__get-abc'))
    const plain = (answer: object) => JSON.stringify({ ...answer, id: 0 })
    expect(plain(hidden).replace('get-env', 'get-abc')).toBe(plain(invented))
  }
})

describe('a search uses the lists that it has', () => {
  async function openSearch(policy: string) {
    const home = mkdtempSync(join(folder, 'lists-'))
    const logs = ['near', 'far'].map((name) => join(home, name))
    for (const log of logs) writeFileSync(log, '')
    const [near = '', far = ''] = logs
    const servers = { near: fixture('lister', near), far: fixture('lister', far) }
    const own = await ownGate({ servers, policy })
    const client = await PlainClient.open(own as unknown as RunningGate, SEARCH)
    const search = async (query: string): Promise<string> =>
      (await client.call('search_tools', { query })).answer.result.content[0].text
    /** How often each server was asked since the last look. */
    const takeListed = () =>
      logs.map((log) => {
        const count = readFileSync(log, 'utf8').split('\n').length - 1
        writeFileSync(log, '')
        return count
      })
    return { own, client, search, takeListed }
  }

  test('and asks a server again only if that server says that its tools changed', async () => {
    const { client, search, takeListed } = await openSearch('version: 1\ndefault: allow\n')
    expect(await search('weather')).toContain('near__read_weather')
    expect(takeListed()).toEqual([1, 1])
    expect(await search('weather')).toContain('far__read_weather')
    await client.call('describe_tools', { names: ['near__read_weather'] })
    expect(takeListed()).toEqual([0, 0])
    await client.call('call_tool', { name: 'near__add_tool', arguments: {} })
    // The call makes the gate look the tool up; what counts is what the searches ask.
    await expect.poll(() => search('tides')).toContain('near__read_tides')
    const [, far] = takeListed()
    expect(far).toBe(0)
    await search('tides')
    expect(takeListed()).toEqual([0, 0])
  })

  test('until the policy, or what the session has read, changes what it may see', async () => {
    const policy = `
version: 1
default: allow
labels: { far/read_weather: [untrusted] }
tools:
  near/read_weather: { action: hide, when: session.saw.untrusted, otherwise: allow }
`
    const { own, client, search } = await openSearch(policy)
    expect(await search('weather')).toContain('near__read_weather')
    await client.call('far__read_weather', {})
    await expect.poll(() => search('weather')).not.toContain('near__read_weather')
    expect(await search('weather')).toContain('far__read_weather')
    own.write(`${policy}  far/read_weather: hide\n`)
    await expect.poll(() => search('weather'), { timeout: 10_000 }).toContain('No tool found')
  })
})

test('limits of the session count calls by either name once', async () => {
  const client = await PlainClient.open(gate, SEARCH)
  const args = { message: 'x' }
  await client.call('everything__echo', args)
  await client.call('call_tool', { name: 'everything__echo', arguments: args })
  const { answer } = await client.call('call_tool', { name: 'everything__echo', arguments: args })
  expect(answer.result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
})

test.each([
  ['?mode=magic', '`magic` is not a tool mode: modes are all, search, code'],
  [
    'everything?mode=search',
    'the server `everything` alone has no tool modes: use /mcp?mode=search',
  ],
])('the address %s is refused with what to do', async (address, why) => {
  const reply = await new PlainClient(gate, address).initialize()
  expect(reply.status).toBe(400)
  expect(reply.answer.error.message).toContain(why)
  const stateless = await postStateless(gate, address, 'server/discover')
  expect(stateless.status).toBe(400)
})

test('the mode `code` is refused without the server that runs programs, with what to do', async () => {
  const own = await ownGate({ servers: { counter: fixture('counter', join(folder, 'none')) } })
  const reply = await new PlainClient(own as unknown as RunningGate, '?mode=code').initialize()
  expect(reply.status).toBe(400)
  const why = 'add `code: { builtin: code }` to `servers` in sluice.yaml'
  expect(reply.answer.error.message).toContain(why)
})

const ACTIONS = [
  'allow',
  'deny',
  'hide',
  { action: 'require_approval', reason: 'a person decides' },
  { action: 'allow', rate_limit: { max: 1, window: '1h', per: 'session' } },
  { action: 'allow', when: 'args.n > 2', otherwise: 'deny' },
]
const TOOLS = ['read', 'write', 'fail', 'no_such'] as const
const arbitraryRules = fc.record(
  Object.fromEntries(TOOLS.map((name) => [`counter/${name}`, fc.constantFrom(...ACTIONS)])),
)
const arbitraryCalls = fc.array(
  fc.record({ tool: fc.constantFrom(...TOOLS), n: fc.nat(5), approved: fc.boolean() }),
  { minLength: 3, maxLength: 6 },
)
type ModeCall = { tool: string; n: number; approved: boolean }

/** A program that makes one call; of a refusal it returns the code. */
const writeProgram = (tool: string, args: object): string =>
  `return await tools.counter.${tool}(${JSON.stringify(args)}).catch(({ code, message }) =>
    code === 'TOOL_FAILED' ? message : JSON.stringify({ code }))`

test('record, limits, approval and reply are those of the direct call', {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryRules, arbitraryCalls, async (tools, calls) => {
      const policy = JSON.stringify({ version: 1, default: 'allow', tools })
      const direct = await play(policy, calls, (tool, args) => [`counter__${tool}`, args])
      const byMode = await play(policy, calls, (tool, args) => [
        'call_tool',
        { name: `counter__${tool}`, arguments: args },
      ])
      expect(byMode).toEqual(direct)
      const byProgram = await play(
        policy,
        calls,
        (tool, args) => ['run_code', { code: writeProgram(tool, args) }],
        '?mode=code',
      )
      // The id of the request differs, and with it the length of the answer.
      const made = (records: string[]) =>
        records.filter(isMade).map((record) => record.replace(/"bytes":\d+/, ''))
      expect(made(byProgram.records)).toEqual(made(direct.records))
      expect(byProgram.said).toEqual(direct.said)
    }),
    { ...runs(4), endOnFailure: true },
  )
})

/** Replies and records of the calls at a gate of their own, without ids and times. */
async function play(
  policy: string,
  calls: readonly ModeCall[],
  toCall: (tool: string, args: object) => [string, object],
  mode = SEARCH,
) {
  const counter = fixture('counter', join(folder, 'played'))
  const servers = { counter, code: { builtin: 'code' as const } }
  const own = await ownGate({ servers, policy }, { agents: agentsFor })
  const client = await PlainClient.open(own as unknown as RunningGate, mode)
  const replies: string[] = []
  const said: string[] = []
  for (const { tool, n, approved } of calls) {
    const [name, args] = toCall(tool, { n })
    const { text, answer } = await decided(own, client.call(name, args), approved)
    replies.push(withoutIds(text))
    said.push(readSaid(answer))
  }
  await client.end()
  await own.stop()
  const all = recordsOf(own)
  const programs = all.flatMap((record) => (isProgramCall(record) ? [record.seq] : []))
  const records = all.filter(
    (record) =>
      record.kind !== 'event' &&
      !isProgramCall(record) &&
      !(record.kind === 'outcome' && programs.includes(record.intent)),
  )
  const texts = records.map((record) => withoutIds(writeJson(plain(record))))
  return { replies, said, records: numberDigests(texts) }
}

/** Each gate has a key of its own for digests: equal ones are still equal, and told apart from others. */
function numberDigests(texts: readonly string[]): string[] {
  const known = new Map<string, string>()
  return texts.map((text) =>
    text.replace(/hmac:[\w-]{43}/g, (digest) => {
      const number = known.get(digest) ?? `digest ${known.size}`
      known.set(digest, number)
      return number
    }),
  )
}

function isProgramCall(record: LedgerRecord): boolean {
  return 'server' in record && record.server === 'code'
}

/** A program is not kept waiting: that it was held, and that a person denied it, is told and not recorded alike. */
function isMade(record: string): boolean {
  return !/"code":"APPROVAL_(PENDING|DENIED)"/.test(record)
}

/** The code of a refusal, or what the tool said. */
function readSaid({ result, error }: Reply['answer']): string {
  const text = error?.message ?? result.content[0].text
  const said = text.startsWith('{"status"') ? String(JSON.parse(text).result) : text
  const code = result?._meta?.['sluice/decision']?.code ?? /"code":"(\w+)"/.exec(said)?.[1]
  return code ?? said.replace('counter__', '')
}

function plain(record: LedgerRecord): object {
  const { seq: _seq, atMs: _atMs, parent: _parent, ...rest } = { parent: '', ...record }
  return { ...rest, durationMs: 0, session: '' }
}

/** Charges are decimals of big integers. */
function writeJson(value: object): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each))
}

function withoutIds(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(
      /("(?:retryAfterMs|expiresAtMs|digest|policy|intent|approvalId|url)":)("[^"]*"|[\d.]+)/g,
      '$1_',
    )
    .replace(/\d+ (s|ms|min|minutes|seconds)\b/g, 'T')
    .replace(/\b[0-9a-f]{12}\b/g, 'ID')
    .replace(/localhost:\d+/g, 'HOST')
    .replace(/@\d{13}/g, '@T')
    .replace(/sluice-gate-\w+/g, 'FOLDER')
}

/** The answer of a call; if it is held, a person decides first. */
async function decided<Reply>(
  own: OwnGate,
  reply: Promise<Reply>,
  approved: boolean,
): Promise<Reply> {
  let isOver = false
  const ended = reply.finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (const { id } of await own.approvals.list({ states: ['pending'] }))
      await own.approvals.decide(id, { verdict: approved ? 'approve' : 'deny' }, ADA, 'console')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return ended
}
