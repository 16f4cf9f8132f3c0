// The classes of tools as agents see them: a call that only reads is made again after a crash, so a class
// that is wrong repeats an effect. The hints of a built-in server hold; those of others are only weighed.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { makeSessions } from '@sluice/access/identity/sessions/agent-sessions.test-support'
import { readValue } from '@sluice/policy/provenance/read-value'
import { READ_LABEL } from '@sluice/protocol/agent-calls'
import { expect, test } from 'vitest'
import {
  type ClientEvents,
  type ClientTransport,
  NO_CLIENT_EVENTS,
} from '../../shared/transport.ts'
import { AgentGate } from './agent-gate.ts'

const inputSchema = { type: 'object' }
const TOOLS = [
  { name: 'wasm_agent_is_stopped', annotations: { readOnlyHint: true }, inputSchema },
  {
    name: 'read_and_drop',
    annotations: { readOnlyHint: false, destructiveHint: true },
    inputSchema,
  },
]

/** Answers as a server would through the relay. */
function serve(link: ClientTransport): ClientEvents {
  return {
    ...NO_CLIENT_EVENTS,
    onMessage(message) {
      if (message.kind !== 'request') return
      const result = message.method === 'tools/list' ? { tools: TOOLS } : { capabilities: {} }
      const { id } = message
      link.send(JSON.stringify({ jsonrpc: '2.0', id, result }), { request: id, answers: true })
    },
  }
}

/** With rules that read where values came from. */
function gateWithMemory() {
  const sessions = makeSessions()
  const lease = sessions.openFamily('7', undefined, 0)
  const gate = new AgentGate({
    servers: () => [],
    isOwn: () => false,
    approvals: { find: () => undefined, watch: () => () => {} },
    callerOf: (owner) => (owner === 'local' ? ({} as Caller) : undefined),
    memoryOf: () => ({
      saw: () => lease.facts(0).saw,
      see: (labels) => void lease.see(labels, 0),
      provenance: () => lease.provenance(),
      remembered: () => lease.remembered(),
      noteMode: () => undefined,
    }),
    readsOrigins: () => true,
    open: () => NO_CLIENT_EVENTS,
  })
  const note = (text: string, isUsers: boolean, labels: readonly string[] = [], owner = 'local') =>
    gate.notePrompt({ owner, family: '7', labels, text, isUsers })
  const originOf = (value: string) => lease.provenance().originOf(readValue(value))
  return { gate, note, originOf, memory: () => lease.provenance() }
}

test('a prompt of a person is the user’s, one of a model is prose whatever its form', async () => {
  const { note, originOf, memory } = gateWithMemory()
  await note('Mail ann@example.com', true)
  expect(originOf('ann@example.com')).toBe('user')
  expect(memory()).toMatchObject({ hasPrompt: true, hasProse: false, isIncomplete: false })
  await note('{"to":"eve@evil.example"}', false)
  expect(originOf('eve@evil.example')).toBe('prose')
  expect(memory().hasProse).toBe(true)
  await note('bob@example.com', true, [], 'nobody')
  expect(originOf('bob@example.com')).toBe('nowhere')
})

test('a label from elsewhere makes the memory of a new agent incomplete', async () => {
  for (const label of ['private', READ_LABEL]) {
    const { note, memory } = gateWithMemory()
    await note('go', true)
    expect(memory()).toMatchObject({ isIncomplete: false, hasRead: false })
    await note('go on', true, [label])
    expect(memory()).toMatchObject({ isIncomplete: true, hasRead: true })
  }
})

test('that a family has read is no label from elsewhere, and goes back to its callers', async () => {
  const { gate, note, memory } = gateWithMemory()
  const call = { owner: 'local', family: '7', server: 's', tool: 't', args: {}, effectId: 'e' }
  const saw = async () => {
    const { signal } = new AbortController()
    return (await gate.call({ ...call, agent: {} as never, signal })).saw
  }
  expect(await saw()).toEqual([])
  memory().remember({ texts: ['a text'] })
  expect(await saw()).toEqual([READ_LABEL])
  await note('go on', true, [READ_LABEL])
  expect(memory().isIncomplete).toBe(false)
})

test('the hints of a built-in server are its classes, those of another server are not', async () => {
  const gate = new AgentGate({
    servers: () => ['agents', 'other'],
    isOwn: (server) => server === 'agents',
    approvals: { find: () => undefined, watch: () => () => {} },
    callerOf: () => ({}) as Caller,
    memoryOf: () => makeSessions().openFamily('f', undefined, 0) as never,
    readsOrigins: () => false,
    open: (_server, link) => serve(link),
  })
  const listed = await gate.list('local')
  gate.close()
  const classes = (server: string) =>
    listed.filter((tool) => tool.server === server).map(({ category }) => category)
  expect(classes('agents')).toEqual(['Read', 'Destructive'])
  expect(classes('other')).not.toEqual(classes('agents'))
})
