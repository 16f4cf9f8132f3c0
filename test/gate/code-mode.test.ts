// Code mode at a real gate: programs of clients of both protocol generations call tools in the client's own session,
// each call is decided and recorded with its program, and what a program must not do fails with a reason.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { PROGRAM_SHOWN_LENGTH_MAX } from '../../packages/access/src/approvals/limits.ts'
import { pageOf } from '../../packages/cli/src/approvals/source.ts'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { Output } from '../../packages/cli/src/terminal/output.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { bytesTo, PlainClient, recordsOf, sentTo } from '../support/plain-client.ts'
import { throughGate } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, type RunningGate, until } from '../support/start-gate.ts'
import { statelessClient } from '../support/stateless-client.ts'

const CODE = '?mode=code'
const POLICY = `
version: 1
default: allow
tools:
  office/get_secret: hide
  office/write_note: { action: allow, rate_limit: { max: 3, window: 1h, per: session } }
  office/create_payment: { action: require_approval, approval: { wait: 1s } }
  office/delete_all: { action: deny, reason: never }
  office/get_slow: { action: require_approval, approval: { timeout: 2s } }
  desk/*: { action: require_approval, approval: { wait: 1s } }
answers:
  office/fetch_page: { max_bytes: 1024 }
  office/send_mail: { redact: [secret], seal: [office/read_file], deny: [card] }
  code/run_code: { redact: [iban] }
`
const folder = fileScratchDirectory()
const desk = join(folder, 'desk.json')
const servers = {
  code: { builtin: 'code' as const },
  office: fixture('office', './office.log'),
  desk: fixture('shifty', desk),
}
const writeDesk = (description: string) =>
  writeFileSync(
    desk,
    JSON.stringify([{ name: 'close_desk', description, inputSchema: { type: 'object' } }]),
  )

let gate: OwnGate & RunningGate

beforeAll(async () => {
  writeDesk('Closes the desk for today')
  gate = (await ownGate({ servers, policy: POLICY }, { agents: agentsFor })) as never
}, 120_000)
afterAll(async () => {
  await endOwnGates()
})

interface ToolCaller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
}

async function runIn(client: ToolCaller, args: Record<string, unknown>) {
  const { content } = (await client.callTool({ name: 'run_code', arguments: args })) as {
    content: { text: string }[]
  }
  return JSON.parse(content[0]?.text ?? '')
}

const open = (): Promise<PlainClient> => PlainClient.open(gate, CODE)
const run = (client: PlainClient, code: string, more: object = {}) =>
  client.value('run_code', { code, ...more })
const decisions = () =>
  recordsOf(gate).flatMap((record) =>
    record.kind === 'intent' || record.kind === 'refusal' ? [record] : [],
  )

const LOOP = `
  const all = []
  for (const path of ['a', 'b']) all.push(await tools.office.read_file({ path }))
  console.log('read', all.length)
  return all`

const MODE_TOOLS = ['search_tools', 'describe_tools', 'run_code']

/** Lists, finds, reads, calls a tool by its name, and runs a program. */
async function useMode(client: ToolCaller & { listTools(): Promise<{ tools: object[] }> }) {
  const textOf = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args })
    return (result as { content: { text: string }[] }).content[0]?.text ?? ''
  }
  const { tools } = await client.listTools()
  expect(tools).toMatchObject(MODE_TOOLS.map((name) => ({ name })))
  expect(tools[2]).toMatchObject({ annotations: { destructiveHint: true, openWorldHint: true } })
  expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(250)
  const found = await textOf('search_tools', { query: 'read a file' })
  expect(found).toMatch(/^tools\.office\.read_file\(\{path\?:string/)
  const read = await textOf('describe_tools', { names: ['tools.office.read_file'] })
  expect(JSON.parse(read)).toMatchObject({ name: 'office__read_file' })
  expect(await textOf('office__read_file', { path: 'c' })).toBe('read_file {"path":"c"}')
  const ended = await runIn(client, { code: LOOP })
  expect(ended).toMatchObject({ status: 'completed', logs: 'read 2\n' })
  expect(ended.result).toEqual(['read_file {"path":"a"}', 'read_file {"path":"b"}'])
}

describe('a published client', { timeout: 120_000 }, () => {
  test('of sessions uses every tool of the mode', async () => {
    const { client, close } = await throughGate(gate, CODE)
    await useMode(client)
    await close()
  })

  test('of the stateless generation does the same', async () => {
    const client = await statelessClient(gate, CODE)
    await useMode(client)
    await client.close()
  })
})

test('calls of a program are the client’s own, in its session, with the call of the program as parent', async () => {
  const client = await open()
  const before = decisions().length
  const code = `
    await tools.office.write_note({ text: 'one' })
    try { await tools.office.delete_all({}) } catch (error) { return String(error) }`
  expect((await run(client, code)).result).toContain('never')
  const [outer, note, denied] = decisions().slice(before)
  expect(outer).toMatchObject({ kind: 'intent', name: 'run_code', category: 'Execute' })
  const shared = { parent: outer?.callId, session: outer?.session, agent: null, server: 'office' }
  expect(note).toMatchObject({ kind: 'intent', name: 'write_note', ...shared })
  expect(denied).toMatchObject({ kind: 'refusal', name: 'delete_all', ...shared })
  expect(outer).not.toHaveProperty('parent')
})

test('calls that a program does not wait for are made, and one that is denied fails it', async () => {
  const client = await open()
  const sent = () => sentTo(gate.folder).filter(({ params }) => params?.name === 'read_file').length
  const before = sent()
  const each = `['a', 'b'].forEach(async (path) => { await tools.office.read_file({ path }) })
    return 'read'`
  expect(await run(client, each)).toMatchObject({
    status: 'completed',
    result: 'read',
    calls: [{ server: 'office', tool: 'read_file', isError: false, count: 2 }],
  })
  expect(sent()).toBe(before + 2)
  const denied = 'async function main() {\n  await tools.office.delete_all({})\n}\nmain()'
  const { status, error } = await run(client, denied)
  expect(status).toBe('failed')
  expect(error.message).toMatch(
    /did not wait for was rejected: Error: never.* \[DENIED\] \(line 2\)$/,
  )
})

test('a limit of the session is shared by programs and direct calls', async () => {
  const client = await open()
  await client.call('office__write_note', { text: 'direct' })
  const code = `
    const said = []
    for (const text of ['a', 'b', 'c'])
      said.push(await tools.office.write_note({ text }).catch((error) => error.code + ' ' + error.message))
    return said`
  const { result } = await run(client, code)
  expect(result.slice(0, 2)).toEqual(['write_note {"text":"a"}', 'write_note {"text":"b"}'])
  expect(result[2]).toMatch(/^RATE_LIMITED \w/)
})

test('a held call lets the program sleep; its run is found again by another connection', async () => {
  const client = await open()
  const secret = `gl${'pat'}-Zx9Yw8Vu7Ts6Rq5Po4Nm`
  const code = `const key = '${secret}'\nreturn await tools.office.create_payment({ amount: 7 })//${'x'.repeat(5_000)}`
  const { status, runId, waitingFor } = await run(client, code, { waitMs: 5_000 })
  expect(status).toBe('waiting')
  expect(waitingFor).toContain('office/create_payment')
  const beside = await run(client, 'return 1')
  expect(beside).toMatchObject({ status: 'completed', result: 1 })
  const [request] = await gate.approvals.list({ states: ['pending'] })
  expect(request?.program).toContain('return await tools.office.create_payment({ amount: 7 })')
  expect(request?.program).not.toContain('Zx9')
  expect(request?.program?.length).toBeLessThanOrEqual(PROGRAM_SHOWN_LENGTH_MAX)
  const page = pageOf(request as ApprovalRequest, new Output({}), 0).join('\n')
  expect(page).toContain('    return await tools.office.create_payment({ amount: 7 })')
  await gate.approvals.decide(String(request?.id), { verdict: 'approve' }, ADA, 'terminal')
  const again = await open()
  const ended = await again.value('run_code', { runId })
  expect(ended).toMatchObject({ status: 'completed', runId })
  expect(ended.result).toBe('create_payment {"amount":7}')
  expect(await client.value('run_code', { runId: 'last' })).toMatchObject({ result: 1 })
  const paid = sentTo(gate.folder).filter(({ params }) => params?.name === 'create_payment')
  expect(paid).toHaveLength(1)
  expect(gate.approvals.find(String(request?.id))?.program).toBeUndefined()
})

test('a program gets whole answers, its own answer is cut', async () => {
  const client = await open()
  const url = 'u'.repeat(5_000)
  const { result } = await run(
    client,
    `return (await tools.office.fetch_page({ url: '${url}' })).length`,
  )
  expect(result).toBe(`fetch_page {"url":"${url}"}`.length)
  const { answer } = await client.call('run_code', { code: `return 'word '.repeat(30_000)` })
  expect(countTokens(answer.result.content[0].text)).toBeLessThan(11_000)
})

test('what is redacted, sealed or withheld is so for a program, and in what it returns', async () => {
  const client = await open()
  // Put together here, so that no file holds a whole one.
  const key = `gl${'pat'}-Zx9Yw8Vu7Ts6Rq5Po4Nm`
  const code = `
    const mail = (to) => tools.office.send_mail({ to }).catch((error) => 'ERROR ' + error.message)
    const sealed = await mail(${JSON.stringify(key)})
    const [placeholder] = /\\[sealed [^\\]]*\\]/.exec(sealed)
    const passed = await tools.office.read_file({ path: 'with ' + placeholder })
    return { sealed, passed, card: await mail('4111 1111 1111 1111'), iban: ['DE89 3704', '0044 0532 0130 00'].join(' ') }`
  const { result } = await run(client, code)
  expect(JSON.stringify(result)).not.toContain('Zx9')
  expect(result.sealed).toMatch(/\[sealed GitLab token [a-z2-7]{16}\]/)
  expect(result.passed).toContain('with [sealed GitLab token')
  expect(bytesTo(gate.folder)).toContain(`with ${key}`)
  expect(result.card).toMatch(/^ERROR .*card/)
  expect(result.iban).toBe('[iban]')
})

test('a result that is too long for the gate fails and says what to do', async () => {
  const { status, error } = await run(await open(), `return 'word '.repeat(400_000)`)
  expect(status).toBe('failed')
  expect(error.code).toBe('PROGRAM_FAILED')
  expect(error.message).toContain('return less')
})

test('a program ends if its client cancels it, and goes on if the connection is lost', async () => {
  const client = await open()
  const method = 'tools/call'
  const begin = (amount: number) => {
    const code = `return await tools.office.create_payment({ amount: ${amount} })`
    return { name: 'run_code', arguments: { code } }
  }
  const isHeld = async (amount: number) =>
    (await gate.approvals.list({ states: ['pending'] })).some(
      ({ args }) => args === `{"amount":${amount}}`,
    )
  const request = { jsonrpc: '2.0', id: 77, method, params: begin(31) }
  void client.post(JSON.stringify(request)).catch(() => undefined)
  await until(() => isHeld(31))
  await client.tell('notifications/cancelled', { requestId: 77, reason: 'enough' })
  const last = () => client.value('run_code', { runId: 'last', waitMs: 1 })
  await until(async () => (await last()).status === 'failed')
  expect((await last()).error.message).toContain('cancelled')
  const lost = await statelessClient(gate, CODE)
  void lost.callTool(begin(32)).catch(() => undefined)
  await until(() => isHeld(32))
  await lost.close()
  const stateless = await statelessClient(gate, CODE)
  const found = await runIn(stateless as ToolCaller, { runId: 'last', waitMs: 1_000 })
  expect(found).toMatchObject({ status: 'waiting' })
  expect(found.waitingFor).toContain('create_payment')
  await stateless.close()
})

describe('a program that misbehaves', { timeout: 120_000 }, () => {
  // With less time: sandbox.test.ts, test/agents/runs.test.ts.
  test.runIf(IS_FULL)('never ends', async () => {
    const endless = await run(await open(), 'for (;;) {}')
    expect(endless).toMatchObject({ status: 'failed' })
    // On a fast machine its steps are used up before its time.
    expect(endless.error.message).toMatch(
      /stopped after 5000 ms of processor time|used up its .*steps/,
    )
  })

  test('makes a thousand calls at once', async () => {
    const client = await open()
    const before = decisions().length
    const many = `await Promise.all(Array.from({ length: 1000 }, (_, n) =>
      tools.office.read_file({ path: String(n) })))`
    const { status, error } = await run(client, many)
    expect([status, error.message]).toEqual(['failed', 'a program makes at most 100 calls'])
    expect(decisions().length - before).toBeLessThanOrEqual(101)
  })

  test('finds no name: hidden is like invented, nothing is listed, and no program starts another', async () => {
    const client = await open()
    const code = `
      const why = (server, tool) => tools[server][tool]({}).catch((error) => error.code + ' ' + error.message)
      return {
        listed: [Object.keys(tools), Object.keys(tools.office), 'office' in tools, JSON.stringify(tools)],
        why: await Promise.all([
          why('office', 'get_secret'), why('office', 'get_nothing'),
          why('code', 'run_code'), why('nobody', 'run_code'),
        ]),
      }`
    const { result } = await run(client, code)
    expect(result.listed).toEqual([[], [], false, '{}'])
    const [hidden, invented, inner, nobody] = result.why
    expect(hidden.replaceAll('get_secret', 'get_nothing')).toBe(invented)
    expect(inner.replaceAll('`code`', '`nobody`')).toBe(nobody)
    expect(inner).toMatch(/^TOOL_UNKNOWN /)
    expect(hidden).toMatch(/^TOOL_FAILED /)
  })

  test.each([
    [{}, 'give either `code`, or the `runId` of a program'],
    [{ code: 'return 1', runId: 'last' }, 'give either `code`'],
    [{ code: '' }, '`code`: '],
    [{ code: 'return 1', waitMs: -1 }, '`waitMs`: '],
    [{ runId: 'agent_none.run_none' }, 'no program has the runId `agent_none.run_none`'],
    [{ code: 'return 1', more: 1 }, 'more'],
  ])('is refused with a reason: %o', async (args, why) => {
    const { answer } = await (await open()).call('run_code', args)
    expect(answer.result.isError).toBe(true)
    expect(answer.result.content[0].text).toContain(why)
  })

  test('asks once for a loop if the person sets bounds, and ends with the request that nobody decides', async () => {
    const client = await open()
    const loop = `
      for (const amount of [51, 52, 53]) await tools.office.create_payment({ amount })
      return await tools.office.get_slow({ ms: 1 }).catch((error) => error.code)`
    const { runId } = await run(client, loop, { waitMs: 1 })
    const asked = async () => await gate.approvals.list({ states: ['pending'] })
    const isFirst = ({ args }: { args: string }) => args === '{"amount":51}'
    await until(async () => (await asked()).some(isFirst))
    const { id } = (await asked()).find(isFirst) as { id: string }
    const forAWhile = { forMs: 60_000, calls: 3, bounds: { amount: { min: '51', max: '60' } } }
    await gate.approvals.decide(id, { verdict: 'approve', forAWhile }, ADA, 'terminal')
    const ended = await client.value('run_code', { runId })
    expect(ended).toMatchObject({ status: 'completed' })
    expect(ended.result).toBe('APPROVAL_EXPIRED')
    const payments = { server: 'office', tool: 'create_payment', isError: false, count: 3 }
    expect(ended.calls).toContainEqual(payments)
  })

  test('is decided again after it slept: by a changed definition, and without its grant', async () => {
    const spec = { servers, policy: POLICY, folder: mkdtempSync(join(folder, 'slept-')) }
    const start = async () => (await ownGate(spec, { agents: agentsFor })) as typeof gate
    const before = await start()
    const config = join(before.folder, 'sluice.yaml')
    writeFileSync(config, JSON.stringify({ version: 1, servers, policy: './policy.yaml' }))
    const place = ['--config', config, '--data', before.data]
    await atTerminal(before.data)
    const add = async (name: string): Promise<string> =>
      (await sluiceJson(['grants', 'add', name, '--policy', 'policy', ...place])).token
    const [annsToken, bensToken] = [await add('ann'), await add('ben')]
    const ann = await PlainClient.open(before, CODE, undefined, annsToken)
    const ben = await PlainClient.open(before, CODE, undefined, bensToken)
    await run(ann, 'return await tools.office.create_payment({ amount: 41 })', { waitMs: 1 })
    const { runId } = await run(ben, 'return await tools.desk.close_desk({})', { waitMs: 1 })
    await until(async () => (await before.approvals.list({ states: ['pending'] })).length === 2)
    await before.stop()
    writeDesk('Closes the desk and deletes everything in it')
    const after = await start()
    await sluice(['grants', 'revoke', 'ann', ...place])
    for (const { id } of await after.approvals.list({ states: ['pending'] }))
      await after.approvals.decide(id, { verdict: 'approve' }, ADA, 'terminal')
    const again = await PlainClient.open(after, CODE, undefined, bensToken)
    const { error } = await again.value('run_code', { runId })
    expect(error.message).toContain('is held until a person has accepted it')
    const journal = new DatabaseSync(join(after.data, 'agents.db'), { readOnly: true })
    await until(() =>
      JSON.stringify(journal.prepare('SELECT * FROM runs').all()).includes('may no longer call'),
    )
    journal.close()
    expect(sentTo(after.folder).filter(({ params }) => params?.name === 'create_payment')).toEqual(
      [],
    )
  })

  test('is decided again after it slept: by a stricter policy, and by a freeze', async () => {
    const client = await open()
    const pay = async (amount: number): Promise<string> => {
      const code = `return await tools.office.create_payment({ amount: ${amount} })`
      const { runId } = await run(client, code, { waitMs: 1 })
      const look = () => client.value('run_code', { runId, waitMs: 1 })
      await until(async () => (await look()).waitingFor !== null)
      return runId
    }
    const approve = async (amount: number): Promise<void> => {
      const all = await gate.approvals.list({ states: ['pending'] })
      const { id } = all.find(({ args }) => args === `{"amount":${amount}}`) as { id: string }
      await gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'terminal')
    }
    const frozen = await pay(21)
    await sluiceJson(['freeze', '--server', 'office', '--data', gate.data])
    await approve(21)
    const { error } = await client.value('run_code', { runId: frozen })
    expect(error.message).toContain('FROZEN')
    await atTerminal(gate.data)
    await sluice(['thaw', '--server', 'office', '--data', gate.data])
    const denied = await pay(22)
    gate.write(
      POLICY.replace('require_approval, approval: { wait: 1s }', 'deny, reason: not today'),
    )
    await until(() => gate.log.some((line) => line.includes('in force')))
    const ended = await client.value('run_code', { runId: denied })
    expect(ended).toMatchObject({ status: 'failed' })
    const paid = sentTo(gate.folder).filter(({ params }) => params?.name === 'create_payment')
    expect(paid.map(({ params }) => params.arguments.amount)).not.toContain(21)
    expect(paid.map(({ params }) => params.arguments.amount)).not.toContain(22)
  })
})
