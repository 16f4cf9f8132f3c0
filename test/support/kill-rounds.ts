// kill -9 of the gate under load, a given number of times: by kill.test.ts a few times, by
// `npm run soak -- kill` many. Every round starts the gate on the data that the last one left,
// calls servers over stdio and over HTTP, and kills it in the middle. Reports violated invariants.

import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { deriveRecordKey } from '../../packages/gateway/src/data/open-ledger.ts'
import { openLedgerReadOnly } from '../../packages/ledger/src/chain/read.ts'
import { KeyedDigest } from '../../packages/ledger/src/records/keyed-digest.ts'
import { digestText } from '../../packages/ledger/src/records/record.ts'
import { verifyLedger } from '../../packages/ledger/src/verify/verify.ts'
import { serveHttp } from '../servers/http.ts'
import { bytesTo, PlainClient, recordsOf, sentTo } from './plain-client.ts'
import { childrenOf, isAlive } from './processes.ts'
import { fixture, type RunningGate, startGate, until } from './start-gate.ts'

export interface KillReport {
  /** Violated invariants, as text; empty if all hold. */
  readonly wrong: string[]
  /** Calls that reached a server. */
  readonly arrived: number
}

/** Mails that the policy allows, over all rounds. */
const MAILS_MAX = 2
const POLICY = `
version: 1
default: allow
tools:
  office/send_mail: { action: allow, rate_limit: { max: ${MAILS_MAX}, window: 1d, per: principal } }
`
/** Calls of a round before it is killed, at least. */
const CALLS = 30

export async function killRounds(times: number): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  const desk = await serveHttp()
  const servers = { office: fixture('office', './office.log'), desk: { url: desk.url } }
  const start = () => startGate({ servers, folder, policy: POLICY })
  const written = (): string[] => argumentsIn(sentTo(folder), 'write_note')
  const echoed = (): string[] =>
    argumentsIn(
      desk.seen.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body)])),
      'echo',
    )
  const wrong: string[] = []
  const before: { stdio?: string | undefined; http?: string | undefined } = {}
  const expect = (holds: boolean, round: number, what: string): void => {
    if (!holds) wrong.push(`round ${round}: ${what}`)
  }
  try {
    for (let round = 0; round < times; round++) {
      const gate = await start()
      const [clients, http] = await reconnectClients(gate, before, (holds, what) =>
        expect(holds, round, what),
      )
      before.stdio = clients[0]?.session
      before.http = http.session
      const mail = (await clients[0]?.call('send_mail', { to: `round ${round}` }))?.answer
      const isSent = mail?.result?.isError !== true
      expect(isSent === round < MAILS_MAX, round, `mail ${round + 1} of ${MAILS_MAX}: ${isSent}`)
      const [notes, echoes] = [bytesTo(folder).length, desk.seen.length]
      const isBusy = (): boolean =>
        count(bytesTo(folder).slice(notes), '"write_note"') > some &&
        desk.seen.length > echoes + some / 3
      const load = [
        ...clients.map((client, at) => callUntilDead(client, 'write_note', `${round}.${at}`)),
        callUntilDead(http, 'echo', `${round}.http`),
      ]
      const some = CALLS + 5 * (round % 7)
      await until(isBusy, 20_000)
      const children = childrenOf(gate)
      expect(children.length >= 3, round, `${children.length} children`)
      await gate.kill()
      await Promise.all(load)
      await until(() => !children.some(isAlive), 30_000).catch(() =>
        expect(false, round, `children left: ${children.filter(isAlive)}`),
      )
      // Torn in the middle of a line; what comes next starts on its own line.
      appendFileSync(join(folder, 'office.log'), '\n')
    }
    const last = await start()
    await last.stop()
    const mails = argumentsIn(sentTo(folder), 'send_mail').length
    if (mails !== Math.min(MAILS_MAX, times)) wrong.push(`${mails} mails arrived`)
    const begun = desk.seen.filter(({ body }) => body.includes('"initialize"')).length
    if (begun !== 1) wrong.push(`the server over HTTP saw ${begun} sessions`)
    const arrived = [...written(), ...echoed()]
    return { wrong: [...wrong, ...wrongIn(last, arrived)], arrived: arrived.length }
  } finally {
    await desk.close()
  }
}

/** The clients of one round; those of the last try to continue their sessions. */
async function reconnectClients(
  gate: RunningGate,
  before: { readonly stdio?: string | undefined; readonly http?: string | undefined },
  expect: (holds: boolean, what: string) => void,
): Promise<[PlainClient[], PlainClient]> {
  const stdio = new PlainClient(gate, 'office')
  if (before.stdio !== undefined) {
    stdio.session = before.stdio
    const { status } = await stdio.ask('ping')
    expect(status === 404, `a session with a process answers ${status}, not 404`)
    stdio.session = undefined
  }
  expect((await stdio.initialize()).status === 200, 'it does not begin again')
  const http = new PlainClient(gate, 'desk')
  http.session = before.http
  if (before.http === undefined) await http.initialize()
  const { status } = await http.call('echo', { comes: 'back' })
  expect(status === 200, `a session over HTTP answers ${status}`)
  if (status !== 200) {
    http.session = undefined
    await http.initialize()
  }
  return [[stdio, await PlainClient.open(gate, 'office')], http]
}

/** Compares the ledger with what arrived. */
function wrongIn(gate: RunningGate, arrived: readonly string[]): string[] {
  const digest = new KeyedDigest(deriveRecordKey(InstallationKey.at(gate.data)))
  const records = recordsOf(gate)
  const intents = new Set(
    records.flatMap((record) => (record.kind === 'intent' ? [record.argsDigest] : [])),
  )
  const ended = new Set(records.map((record) => record.kind === 'outcome' && record.intent))
  const open = records.filter(({ kind, seq }) => kind === 'intent' && !ended.has(seq))
  const unknown = arrived.filter((args) => !intents.has(digest.ofDigest(digestText(args))))
  const database = openLedgerReadOnly(gate.data)
  const { problems } = verifyLedger(database)
  database.close()
  return [
    ...unknown.map((args) => `arrived without an intent: ${args}`),
    ...open.map(({ seq }) => `intent ${seq} has no outcome`),
    ...problems.map((problem) => `the chain: ${JSON.stringify(problem)}`),
  ]
}

async function callUntilDead(client: PlainClient, tool: string, name: string): Promise<void> {
  try {
    for (let at = 0; ; at += 4)
      await Promise.all([0, 1, 2, 3].map((n) => client.call(tool, { text: `${name}.${at + n}` })))
  } catch {
    // The gate has exited.
  }
}

function count(text: string, word: string): number {
  return text.split(word).length - 1
}

/** The arguments of every call of a tool, as text. */
// biome-ignore lint/suspicious/noExplicitAny: whatever came
function argumentsIn(messages: any[], tool: string): string[] {
  return messages
    .filter(({ params }) => params?.name === tool)
    .map(({ params }) => JSON.stringify(params.arguments))
}
