// Rows of `npm run eval -- features` about the gate: servers, rules, limits, approvals, pins, labels,
// identity, the ledger, and both generations of the protocol.

import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { makePerson } from '../../../test/support/person.ts'
import { PlainClient } from '../../../test/support/plain-client.ts'
import { findPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { fixture, type RunningGate, startGate } from '../../../test/support/start-gate.ts'
import { statelessClient } from '../../../test/support/stateless-client.ts'
import {
  askAsPerson,
  callText,
  command,
  decisionOn,
  list,
  type Place,
  says,
  tools,
  WINDOW_SECONDS,
} from './place.ts'

const IN = ['--config', 'sluice.yaml']

export async function proxy({ up }: Place): Promise<boolean> {
  return (await tools(up)).includes('read')
}

export async function denyWithReason({ up }: Place): Promise<boolean> {
  return (await callText(up, 'slow')).includes('not by an agent')
}

export async function enforcedBefore({ log }: Place): Promise<boolean> {
  return !readFileSync(log, 'utf8').includes('slow')
}

export async function rateLimit({ up, gate }: Place): Promise<boolean> {
  const texts: string[] = []
  for (let at = 0; at < 4; at += 1) texts.push(await callText(up, 'read', { at }))
  const isLimited = texts[2]?.startsWith('read') === true && !texts[3]?.startsWith('read')
  // The neighbour has a counter of its own.
  const other = await PlainClient.open(gate, 'up')
  const isFree = (await callText(other, 'read')).startsWith('read')
  await sleep(WINDOW_SECONDS * 1_000 + 300)
  return isLimited && isFree && (await callText(up, 'read')).startsWith('read')
}

/** Held, approved with the PIN, passed once. */
export async function approval(place: Place): Promise<boolean> {
  const office = await PlainClient.open(place.gate, 'office')
  const args = { all: true }
  const decision = await decisionOn(office, 'delete_all', args)
  if (decision?.code !== 'APPROVAL_PENDING') return false
  await decide(place, decision.approvalId)
  const passed = (await callText(office, 'delete_all', args)).startsWith('delete_all')
  return passed && (await decisionOn(office, 'delete_all', args)) !== undefined
}

/** An approval is for these arguments and no others. */
export async function approvalBound(place: Place): Promise<boolean> {
  const office = await PlainClient.open(place.gate, 'office')
  const decision = await decisionOn(office, 'delete_all', { all: false })
  await decide(place, decision?.approvalId)
  const other = await decisionOn(office, 'delete_all', { all: false, more: 1 })
  const isAsked = other?.code === 'APPROVAL_PENDING' && other.approvalId !== decision?.approvalId
  return isAsked && (await decisionOn(office, 'delete_all', { all: false })) === undefined
}

function decide(place: Place, id: string | undefined): Promise<unknown> {
  const request = { do: 'approval-decide', id: id ?? '', verdict: 'approve' }
  return askAsPerson(place.gate, request)
}

export async function conditions({ up }: Place): Promise<boolean> {
  const [small, large] = [
    await callText(up, 'write', { n: 2 }),
    await callText(up, 'write', { n: 12 }),
  ]
  return small.startsWith('write') && !large.startsWith('write')
}

/** What a session has read decides what it may send; another session is free. */
export async function labels({ gate }: Place): Promise<boolean> {
  const [reader, other] = [
    await PlainClient.open(gate, 'office'),
    await PlainClient.open(gate, 'office'),
  ]
  const isFree = (await decisionOn(reader, 'send_mail')) === undefined
  await callText(reader, 'read_file', { path: 'a.txt' })
  const isHeld = (await decisionOn(reader, 'send_mail'))?.code === 'DENIED'
  return isFree && isHeld && (await decisionOn(other, 'send_mail')) === undefined
}

export async function shadow(place: Place): Promise<boolean> {
  const reads = ['query', 'report', 'tail']
  const results = await Promise.all(
    reads.map((word) => says(place, ['ledger', word, ...IN], /deny by \/guardrails\/0/)),
  )
  return results.every(Boolean)
}

/** A definition that changes is held with the difference until a person accepts it. */
export async function pins(place: Place): Promise<boolean> {
  const client = await PlainClient.open(place.gate, 'shifty')
  await tools(client)
  list(place.shifty, 'Drops every item')
  await tools(client)
  const refused = await callText(client, 'drop_items')
  const { held } = await askAsPerson(place.gate, { do: 'pin-held' })
  // The agent is told that it waits, the person what has changed.
  const isTold = JSON.stringify(held[0]).includes('Drops every item')
  const isHeld = isTold && !refused.includes('Drops') && refused !== 'drop_items'
  const digest: string = held[0]?.digest
  const accept = { do: 'pin-accept', server: 'shifty', name: 'drop_items', digest }
  await askAsPerson(place.gate, accept)
  return isHeld && (await callText(client, 'drop_items')) === 'drop_items'
}

/** A key in an answer is found, and what depends on it is denied from then on; if the policy says so it
 * is redacted, and so is a card. */
export async function inspection({ gate }: Place): Promise<boolean> {
  const client = await PlainClient.open(gate, 'office')
  const isFree = (await decisionOn(client, 'fetch_page')) === undefined
  const key = `sk_${'live'}_${'4eC39HqLyjWDarjtT1zdp7dc'}`
  await callText(client, 'get_slow', { note: key })
  const isHeld = (await decisionOn(client, 'fetch_page'))?.code === 'DENIED'
  const secrets = [key, '4111 1111 1111 1111', 'ada@example.com']
  const answer = await callText(client, 'list_odd', { note: secrets.join(', ') })
  return isFree && isHeld && !secrets.some((secret) => answer.includes(secret))
}

/** Two gates with one PostgreSQL charge one counter. */
export async function scaleOut({ log }: Place): Promise<boolean> {
  const file = findPostgres()
  if (file === undefined) throw new Error('PostgreSQL is not installed here')
  const postgres = await startPostgres(file)
  const gates: RunningGate[] = []
  try {
    const limit = '{ action: allow, rate_limit: { max: 4, window: 1h, per: principal } }'
    const policy = `version: 1\ndefault: allow\ntools:\n  up/read: ${limit}\n`
    let passed = 0
    for (const name of ['one', 'two']) {
      const cluster = { name, key: 'a key of the cluster that nobody guesses' }
      const config = { store: postgres.url(), cluster }
      const gate = await startGate({ servers: { up: fixture('counter', log) }, policy, config })
      gates.push(gate)
      const client = await PlainClient.open(gate, 'up')
      for (let at = 0; at < 3; at += 1)
        passed += (await callText(client, 'read')).startsWith('read') ? 1 : 0
    }
    return passed === 4
  } finally {
    await Promise.all(gates.map((gate) => gate.stop()))
    await postgres.stop()
  }
}

/** A grant has a token and counters of its own, and is gone when it is revoked. At a gate of its own: where
 * there is a grant, everybody needs a token. */
export async function identity({ log }: Place): Promise<boolean> {
  const policy =
    'version: 1\ndefault: allow\ntools:\n  up/read: { action: allow, rate_limit: { max: 3, window: 1h } }\n'
  const gate = await startGate({ servers: { up: fixture('counter', log) }, policy })
  await makePerson(gate.data)
  const ask = (request: { do: string }) => askAsPerson(gate, request)
  const grant = { do: 'grant-add', name: 'ci', policy: 'policy' }
  const { token } = await ask(grant)
  const client = await PlainClient.open(gate, 'up', '2025-11-25', token)
  let passed = 0
  for (let at = 0; at < 5; at += 1)
    passed += (await callText(client, 'read')).startsWith('read') ? 1 : 0
  const statusOf = async (token: string): Promise<number> => {
    const caller = new PlainClient(gate, 'up')
    caller.token = token
    return (await caller.initialize()).status
  }
  const isForgeryRefused = (await statusOf(`${token.slice(0, -3)}abc`)) === 401
  const revoke = { do: 'grant-revoke', name: 'ci' }
  await ask(revoke)
  return passed === 3 && isForgeryRefused && (await statusOf(token)) === 401
}

/** The chain verifies, and a changed byte of a copy is found. */
export async function auditLog(place: Place): Promise<boolean> {
  if (!(await says(place, ['ledger', 'verify', ...IN], /\d+ records?\b/))) return false
  const copy = join(place.gate.folder, 'copy')
  cpSync(place.gate.data, copy, { recursive: true, filter: (from) => !from.endsWith('.sock') })
  const ledger = new DatabaseSync(join(copy, 'ledger.db'))
  const { seq, data } = ledger.prepare('SELECT seq, data FROM blocks LIMIT 1').get() as {
    seq: number
    data: Uint8Array
  }
  const half = data.length >> 1
  data[half] = (data[half] ?? 0) ^ 1
  ledger.prepare('UPDATE blocks SET data = ? WHERE seq = ?').run(data, seq)
  ledger.close()
  return (await command(place, 'ledger', 'verify', '--data', copy)).code !== 0
}

export async function generations({ gate, up }: Place): Promise<boolean> {
  const client = await statelessClient(gate, 'up')
  const { tools: listed } = await client.listTools()
  const result = await client.callTool({ name: 'write', arguments: { n: 3 } })
  await client.close()
  const isCalled = JSON.stringify(result.content).includes('write')
  return (
    listed.length > 0 && isCalled && (await callText(up, 'write', { n: 3 })).startsWith('write')
  )
}

/** A stateless client at a server with sessions, and a client with sessions at a stateless server. */
export async function bridge({ gate }: Place): Promise<boolean> {
  const stateless = await statelessClient(gate, 'office')
  const one = await stateless.callTool({ name: 'write_note', arguments: { text: 'a' } })
  await stateless.close()
  const session = await PlainClient.open(gate, 'newer')
  const two = await callText(session, 'test_simple_text')
  return JSON.stringify(one.content).includes('write_note') && two.length > 0
}
