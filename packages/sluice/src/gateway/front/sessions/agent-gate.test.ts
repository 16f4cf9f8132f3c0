// The classes of tools as agents see them: a call that only reads is made again after a crash, so a class
// that is wrong repeats an effect. The hints of a built-in server hold; those of others are only weighed.

import { expect, test } from 'vitest'
import type { Caller } from '../../../identity/callers/caller.ts'
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

test('the hints of a built-in server are its classes, those of another server are not', async () => {
  const gate = new AgentGate({
    servers: () => ['agents', 'other'],
    isOwn: (server) => server === 'agents',
    approvals: { find: () => undefined, watch: () => () => {} },
    callerOf: () => ({}) as Caller,
    labelsOf: () => ({ saw: () => [], see() {} }),
    open: (_server, link) => serve(link),
  })
  const listed = await gate.list('local')
  gate.close()
  const classes = (server: string) =>
    listed.filter((tool) => tool.server === server).map(({ category }) => category)
  expect(classes('agents')).toEqual(['Read', 'Destructive'])
  expect(classes('other')).not.toEqual(classes('agents'))
})
