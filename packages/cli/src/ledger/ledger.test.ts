// The ledger commands, as a person runs them on a data directory.

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey } from '@sluice/access/identity/keys/signing-key'
import { decisionEntry, denied } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Output } from '../terminal/output.ts'
import { add as addLedger } from './commands.ts'
import { recordLine } from './lines.ts'
import { addLedgerTail } from './tail.ts'

let data = ''
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'sluice-cli-ledger-'))
  const ledger = Ledger.open({ directory: data })
  await ledger.event({ atMs: 1_800_000_000_000, name: 'start', detail: { version: '1' } })
  const seq = await ledger.intent(decisionEntry(1))
  ledger.outcome(seq, { atMs: 1_800_000_000_050, status: 'answered', durationMs: 12.34, bytes: 99 })
  await ledger.refuse(decisionEntry(2, { decision: { ...denied, reason: 'no \u001b[31m way' } }))
  await ledger.intent(decisionEntry(3, { principal: { id: 'ben', kind: 'grant' } }))
  ledger.close()
})
afterAll(() => rmSync(data, { recursive: true }))

async function sluice(...args: string[]): Promise<{ code: number; text: string }> {
  let text = ''
  let code = -1
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  const remarks = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  const program = new Command('sluice').exitOverride()
  addLedger(program, (answer) => {
    code = answer
  })
  try {
    const isPlaced = args.includes('--data') || args.includes('--config')
    const named = isPlaced ? args : [...args, '--data', data]
    await program.parseAsync(['ledger', ...named], { from: 'user' })
  } finally {
    spy.mockRestore()
    remarks.mockRestore()
  }
  return { code, text }
}

const rows = (text: string) => text.trim().split('\n')

test('the configuration says where the record is, as for every command', async () => {
  const file = join(data, 'sluice.yaml')
  writeFileSync(file, JSON.stringify({ version: 1, servers: {}, data }))
  expect((await sluice('verify', '--config', file)).text).toContain('ok: 5 records')
  await expect(sluice('tail', '--config', join(data, 'none.yaml'))).rejects.toThrow('was not found')
})

describe('tail', () => {
  test('shows the last records, without letting them drive the terminal', async () => {
    const { code, text } = await sluice('tail')
    expect(code).toBe(0)
    expect(rows(text)).toHaveLength(5)
    expect(rows(text)[0]).toContain('start version 1')
    expect(rows(text)[1]).toMatch(/2 {2}2027-01-15T08:00:00.001Z {2}allow {2}stripe\/create_refund/)
    expect(rows(text)[2]).toContain('of 2: answered 12.3 ms, 99 bytes')
    expect(rows(text)[3]).toContain('DENIED: no \\u{1b}[31m way')
  })

  test('an event says which call, by whom, and what is plain; the rest is in --json', () => {
    const detail = {
      request: '7725b8a11914',
      call: '33e83af9',
      principal: 'local',
      agent: null,
      ok: true,
      server: 'memory',
      name: 'delete_\u001b[2Jentities',
      asks: [{ rule: '/x' }],
      signedBy: '4Xr2oylnTut45t24mxnDVMnvi6nTMIZZk2whb7WzXDU',
    }
    const record = { kind: 'event', seq: 7, atMs: 0, name: 'approval-proposed', detail } as const
    expect(recordLine(record, new Output({}))).toBe(
      '      7  1970-01-01T00:00:00.000Z  approval-proposed memory/delete_\\u{1b}[2Jentities, for local, ' +
        'request 7725b8a11914, rule /x, signed by 4Xr2oyln…',
    )
  })

  test('as JSON, so many', async () => {
    const { text } = await sluice('tail', '-n', '2', '--json')
    expect(rows(text).map((row) => JSON.parse(row))).toMatchObject([
      { seq: 4, kind: 'refusal', at: '2027-01-15T08:00:00.002Z' },
      { seq: 5, kind: 'intent', decision: { limits: [{ amount: '1', max: '30' }] } },
    ])
  })

  test('follows', async () => {
    let text = ''
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      text += chunk
      return true
    })
    const program = new Command('ledger').exitOverride()
    addLedgerTail(program, () => {})
    const directory = mkdtempSync(join(tmpdir(), 'sluice-cli-follow-'))
    const ledger = Ledger.open({ directory })
    const args = ['tail', '--follow', '--data', directory]
    const ended = program.parseAsync(args, { from: 'user' }).catch((error) => error)
    await pause(50)
    await ledger.event({ atMs: 5, name: 'freeze', detail: null })
    await vi.waitFor(() => expect(text).toContain('freeze'), { timeout: 60_000 })
    await ledger.event({ atMs: 6, name: 'thaw', detail: null })
    await vi.waitFor(() => expect(text).toContain('thaw'), { timeout: 60_000 })
    expect(text.match(/freeze/g)).toHaveLength(1)
    ledger.close()
    // A damaged ledger ends the command, and so this test.
    const database = new DatabaseSync(join(directory, 'ledger.db'))
    database.exec('INSERT INTO blocks VALUES (3, 1, 1, 1, zeroblob(33))')
    database.close()
    expect(await ended).toMatchObject({ code: 'LEDGER_BROKEN' })
    spy.mockRestore()
    rmSync(directory, { recursive: true })
  })
})

describe('query', () => {
  test('finds', async () => {
    const { code, text } = await sluice(
      'query',
      '--tool',
      'stripe/create_refund',
      '--action',
      'allow',
    )
    expect(code).toBe(0)
    expect(rows(text)).toHaveLength(2)
    expect(rows(text)[0]).toContain('answered')
    expect(rows(text)[1]).toContain('ben')
  })

  test('as JSON, page after page', async () => {
    const first = JSON.parse((await sluice('query', '--limit', '2', '--json')).text)
    expect(first).toMatchObject({ calls: [{ seq: 5, outcome: null }, { seq: 4 }], next: 4 })
    const next = await sluice('query', '--before', String(first.next), '--json')
    expect(JSON.parse(next.text)).toMatchObject({
      calls: [{ seq: 2, outcome: { status: 'answered' } }],
      next: null,
    })
  })

  test('finds nothing', async () => {
    expect(await sluice('query', '--since', '1s', '--until', '2027-01-01')).toMatchObject({
      code: 1,
      text: 'no calls\n',
    })
  })

  test.each([
    ['--since', 'yesterday'],
    ['--limit', '0'],
    ['--tool', '/refund'],
    ['--data', join(tmpdir(), 'sluice-nowhere')],
  ])('%s %s cannot run', async (...args) => {
    await expect(sluice('query', ...args)).rejects.toMatchObject({ help: expect.any(String) })
  })
})

describe('export', () => {
  test('writes a line a record, with its hash', async () => {
    const { code, text } = await sluice('export', '--encoded', '--from', '2')
    expect(code).toBe(0)
    const lines = rows(text).map((row) => JSON.parse(row))
    expect(lines.map(({ seq }) => seq)).toEqual([2, 3, 4, 5])
    expect(lines[0]).toMatchObject({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      kind: 'intent',
    })
    expect(JSON.parse(lines[0].encoded).slice(0, 3)).toEqual([1, 2, 1])
  })

  test('into a file that is not there yet', async () => {
    const out = join(data, 'out.jsonl')
    await sluice('export', '--out', out)
    expect(rows(readFileSync(out, 'utf8'))).toHaveLength(5)
    await expect(sluice('export', '--out', out)).rejects.toMatchObject({ code: 'CLI_FILE' })
  })
})

describe('export in other forms', () => {
  async function recorded(): Promise<string> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-cli-forms-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const ledger = Ledger.open({ directory })
    const decision = { ...denied, reason: 'a=b|c\\d\nCEF:0|x' }
    await ledger.refuse(decisionEntry(1, { name: '=cmd|calc,"x"\n', decision }))
    await ledger.event({ atMs: 1_800_000_000_000, name: 'freeze', detail: { why: 'x=y' } })
    ledger.close()
    return directory
  }

  test('CSV has a row a record, and no cell is a formula', async () => {
    const { text } = await sluice('export', '--format', 'csv', '--data', await recorded())
    expect(text).toContain(`"'=cmd|calc,""x""\n"`)
    expect(text.split('\r\n')).toHaveLength(4)
    expect(text.split('\r\n')[0]).toContain('seq,kind,time,call,principal')
  })

  test('CEF has a line a record, whatever agents named', async () => {
    const { text } = await sluice('export', '--format', 'cef', '--data', await recorded())
    const lines = rows(text)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^CEF:0\|Sluice\|sluice\|[^|]+\|DENIED\|refusal: deny\|6\|rt=/)
    expect(lines[0]).toContain('reason=a\\=b|c\\\\d\\nCEF:0|x')
    expect(lines[1]).toContain('msg={"why":"x\\=y"}')
  })

  test('OpenTelemetry logs go into a file, and to a collector', async () => {
    const directory = await recorded()
    const { text } = await sluice('export', '--format', 'otlp', '--data', directory)
    const [line = ''] = rows(text)
    const { logRecords } = JSON.parse(line).resourceLogs[0].scopeLogs[0]
    expect(logRecords).toMatchObject([
      { severityText: 'WARN', timeUnixNano: '1800000000001000000' },
      { body: { stringValue: 'gate: freeze' } },
    ])
    const got: { url: string; body: string }[] = []
    const collector = createServer(async (asked, answer) => {
      let body = ''
      for await (const part of asked) body += part
      got.push({ url: asked.url ?? '', body })
      answer.end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void collector.close())
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
    expect((await sluice('export', '--otlp', url, '--data', directory)).code).toBe(0)
    expect(got.map((each) => each.url)).toEqual(['/v1/logs'])
    expect(got[0]?.body.trim()).toBe(line)
    await expect(sluice('export', '--otlp', 'nowhere')).rejects.toMatchObject({
      code: 'CLI_ARGUMENT',
    })
  })
})

describe('SQL', () => {
  const sql = (select: string, ...more: string[]) => sluice('query', '--sql', select, ...more)

  test('asks what the flags do not', async () => {
    const { code, text } = await sql(
      'select principal, count(*) n, max(status) s from calls group by principal order by 1',
      '--json',
    )
    expect(code).toBe(0)
    expect(JSON.parse(text)).toMatchObject({
      columns: ['principal', 'n', 's'],
      rows: [
        ['ann', 2, 'answered'],
        ['ben', 1, null],
      ],
    })
    const table = await sql("select reason from calls where action = 'deny'")
    expect(rows(table.text).at(-1)).toBe('no \\u{1b}[31m way')
    expect((await sql('select 1 where 0')).code).toBe(1)
  })

  test.each([
    'delete from words',
    "attach '/tmp/x.db' as x",
    'pragma journal_mode = delete',
    "select load_extension('x')",
    'select 1; select 2',
    'create temp table x (a)',
    "vacuum into '/tmp/x.db'",
    'select nothing from calls',
  ])('%s is refused', async (select) => {
    await expect(sql(select)).rejects.toMatchObject({
      code: 'LEDGER_QUERY',
    })
  })

  test('that never ends is ended', async () => {
    const endless =
      'with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t'
    await expect(sql(endless, '--timeout', '1')).rejects.toMatchObject({
      message: expect.stringContaining('longer than 1000 ms'),
    })
  })

  test('flags: who, agent, denied', async () => {
    expect(rows((await sluice('query', '--who', 'ben')).text)).toHaveLength(1)
    expect(rows((await sluice('query', '--denied')).text)[0]).toContain('DENIED')
    expect((await sluice('query', '--agent', 'nobody')).code).toBe(1)
  })
})

describe('verify', () => {
  test('says yes, and the head', async () => {
    const { code, text } = await sluice('verify')
    expect(code).toBe(0)
    expect(text).toMatch(/^ok: 5 records\nno checkpoint: .*\nhead 5:[0-9a-f]{64}\n$/)
    const head = /head (\S+)/.exec(text)?.[1] as string
    expect((await sluice('verify', '--head', head)).code).toBe(0)
    expect((await sluice('verify', '--head', head.replace('5:', '4:'))).code).toBe(1)
    await expect(sluice('verify', '--head', '5')).rejects.toMatchObject({ code: 'CLI_ARGUMENT' })
  })

  test('says no, and where', async () => {
    const database = new DatabaseSync(join(data, 'ledger.db'))
    const { data: block } = database.prepare('SELECT data FROM blocks WHERE seq = 2').get() as {
      data: Uint8Array
    }
    const edited = Uint8Array.from(block)
    edited[60] = (edited[60] as number) ^ 1
    database.prepare('UPDATE blocks SET data = ? WHERE seq = 2').run(edited)
    const { code, text } = await sluice('verify', '--json')
    database.prepare('UPDATE blocks SET data = ? WHERE seq = 2').run(block)
    database.close()
    expect(code).toBe(1)
    expect(JSON.parse(text)).toMatchObject({ ok: false, problems: [{ seq: 2, kind: 'edited' }] })
  })
})

describe('signed', () => {
  let signed = ''
  beforeAll(async () => {
    signed = mkdtempSync(join(tmpdir(), 'sluice-cli-signed-'))
    const signer = deriveSigningKey(InstallationKey.at(signed))
    const ledger = Ledger.open({ directory: signed, checkpoints: { signer } })
    await ledger.event({ atMs: 1, name: 'start', detail: { signedBy: signer.publicKey } })
    for (let n = 0; n < 20; n++) await ledger.intent(decisionEntry(n))
    ledger.close()
  })
  afterAll(() => rmSync(signed, { recursive: true }))
  const path = (name: string) => join(signed, name)
  const checkpoints = () => path('ledger-checkpoints.jsonl')

  test('verify says how far, and that checkpoints are missing', async () => {
    const { code, text } = await sluice('verify', '--data', signed)
    expect(code).toBe(0)
    expect(text).toContain('signed up to record 21')
    const twice = await sluice('verify', '--data', signed, '--checkpoint', checkpoints())
    expect(twice.text).toBe(text)
    renameSync(checkpoints(), path('moved.jsonl'))
    const without = await sluice('verify', '--data', signed)
    expect(without).toMatchObject({ code: 1, text: expect.stringContaining('are missing') })
    const elsewhere = ['--checkpoint', path('moved.jsonl')]
    expect((await sluice('verify', '--data', signed, ...elsewhere)).code).toBe(0)
    renameSync(path('moved.jsonl'), checkpoints())
  })

  test('verify says that the key is gone, and takes any signature only then', async () => {
    const { keys } = JSON.parse((await sluice('verify', '--json', '--data', signed)).text)
    expect(keys).toHaveLength(1)
    renameSync(path('identity.key'), path('away'))
    onTestFinished(() => renameSync(path('away'), path('identity.key')))
    const { text } = await sluice('verify', '--data', signed)
    expect(text).toContain('the data directory has no key: anybody may have signed it')
    const asJson = await sluice('verify', '--json', '--data', signed)
    expect(JSON.parse(asJson.text)).toMatchObject({ ok: true, keys: null })
    const named = await sluice('verify', '--data', signed, '--key', keys[0])
    expect(named.text).not.toContain('anybody may have signed')
  })

  test('verify says which line of the checkpoints cannot be read, and goes on', async () => {
    const lines = readFileSync(checkpoints(), 'utf8')
    writeFileSync(checkpoints(), `nonsense\n${lines}`)
    const { code, text } = await sluice('verify', '--data', signed)
    writeFileSync(checkpoints(), lines)
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('jsonl`:1') })
    expect(text).toContain('signed up to record 21')
  })

  test('one record is proven without the ledger, to whom the key is known', async () => {
    const key = (await sluice('key', '--data', signed)).text.trim()
    await sluice('prove', '7', '--data', signed, '--out', path('proof.json'))
    const asked = ['verify', '--proof', path('proof.json'), '--checkpoint', checkpoints()]
    const proven = await sluice(...asked, '--key', key, '--data', '/nowhere')
    expect(proven).toMatchObject({ code: 0, text: expect.stringContaining('proven: record 7') })
    const other = `${key.startsWith('A') ? 'B' : 'A'}${key.slice(1)}`
    expect((await sluice(...asked, '--key', other)).code).toBe(1)
    const edited = readFileSync(path('proof.json'), 'utf8').replace('stripe', 'strife')
    writeFileSync(path('edited.json'), edited)
    expect(await sluice(...asked.with(2, path('edited.json')), '--key', key)).toMatchObject({
      code: 1,
      text: expect.stringContaining('not proven'),
    })
    await expect(sluice('prove', '99', '--data', signed)).rejects.toMatchObject({
      code: 'CLI_ARGUMENT',
    })
    await expect(sluice(...asked, '--key', 'x')).rejects.toMatchObject({ code: 'CLI_ARGUMENT' })
  })
})

describe('query by what the arguments were', () => {
  let own = ''
  beforeAll(async () => {
    own = mkdtempSync(join(tmpdir(), 'sluice-cli-values-'))
    const ledger = Ledger.open({ directory: own })
    const refund = { name: 'create_refund', category: 'Financial' as const }
    for (const [server, amount] of [
      ['shop', 50],
      ['shop', 250],
      ['desk', 300],
    ] as const)
      await ledger.intent(
        decisionEntry(1, { ...refund, server, judged: { 'args.amount': amount } }),
      )
    const refused = { ...refund, server: 'shop', judged: { 'args.amount': 900 }, decision: denied }
    await ledger.refuse(decisionEntry(2, refused))
    await ledger.intent(decisionEntry(3, { server: 'shop', name: 'get_order' }))
    ledger.close()
  })
  afterAll(() => rmSync(own, { recursive: true }))
  const query = (...args: string[]) => sluice('query', ...args, '--data', own)
  const amounts = async (...args: string[]) => {
    const { calls } = JSON.parse((await query(...args, '--json')).text)
    return calls.map(({ judged }: { judged: object }) => Object.values(judged)[0]).reverse()
  }

  test('a condition, and a tool at any server', async () => {
    expect(await amounts('--where', 'args.amount > 200')).toEqual([250, 300, 900])
    expect(await amounts('--where', 'args.amount == 250')).toEqual([250])
    expect(await amounts('--tool', 'create_refund')).toEqual([50, 250, 300, 900])
    expect(await amounts('--tool', 'shop/create_refund')).toEqual([50, 250, 900])
    expect(await amounts('--tool', 'create_refund', '--server', 'desk')).toEqual([300])
    const where = ['--where', 'args.amount >= 250; args.amount < 900']
    expect(await amounts('--tool', 'create_refund', ...where)).toEqual([250, 300])
  })

  test('sums, as the API has them', async () => {
    const sum = ['--sum', 'args.amount', '--tool', 'create_refund']
    expect(JSON.parse((await query(...sum, '--json')).text)).toEqual({
      value: 'args.amount',
      currencies: [
        { currency: '', calls: 4, sum: 1500, allowed: 3, allowedSum: 600, min: 50, max: 900 },
      ],
    })
    expect((await query(...sum, '--where', 'args.amount < 300')).text).toContain(
      'args.amount of 2 calls without a currency on record: sum 300, smallest 50, largest 250; allowed 2, sum 300',
    )
    expect(await query('--sum', 'args.total')).toMatchObject({ code: 1 })
  })

  test('recorded values in SQL', async () => {
    const sql =
      'select tool, value from recorded join calls using (seq) where value > 250 order by seq'
    expect(JSON.parse((await query('--sql', sql, '--json')).text).rows).toEqual([
      ['desk/create_refund', 300],
      ['shop/create_refund', 900],
    ])
  })

  test.each([
    [['--where', 'amount > 200'], '`amount > 200` is no condition'],
    [['--where', 'args.amount != 200'], '`args.amount != 200` is no condition'],
    [['--where', 'args.amount!=200'], '`args.amount!=200` is no condition'],
    [['--where', ''], '--where is empty'],
    [['--sum', 'amount'], '--sum is `amount`'],
    [['--tool', '/create_refund'], 'is not of the form'],
  ])('%j is refused', async (args, message) => {
    await expect(query(...args)).rejects.toThrow(message)
  })
})
