// The words of a run are shown once, however far the model is ahead of what was read of the journal.

import { expect, test } from 'vitest'
import { type AcpAgents, AcpConnection, type AcpWatch } from './connection.ts'

/** Agents whose model says three things, all of them before an event of the journal is read. */
function createAgents(): AcpAgents {
  const said = ['one ', 'two ', 'three ']
  const events = [
    { seq: 2, kind: 'prompt', turn: 0, input: 'go' },
    { seq: 3, kind: 'model', turn: 1, text: 'one ' },
    { seq: 4, kind: 'model', turn: 2, text: 'two ' },
    // The conversation is summed up, which is no turn.
    { seq: 5, kind: 'model', turn: 2, text: 'a summary' },
    { seq: 6, kind: 'model', turn: 3, text: 'three ' },
  ]
  const answers: Readonly<Record<string, (args: { from?: number }) => object>> = {
    wasm_agent_tools: () => ({ tools: [] }),
    wasm_agent_todos: () => ({ todos: [] }),
    wasm_agent_turn_count: () => ({ turnCount: 0 }),
    wasm_agent_history: ({ from = 1 }) => ({
      events: events.filter(({ seq }) => seq >= from),
      nextCursor: null,
      lastSeq: 1,
    }),
  }
  const call = async (tool: string, args: object, watch?: AcpWatch): Promise<unknown> => {
    if (tool !== 'wasm_agent_prompt') return answers[tool]?.(args)
    for (const text of said) {
      watch?.onText(text)
      watch?.onProgress('turn')
    }
    return { stop: { reason: 'answered', detail: '' } }
  }
  return { call: call as AcpAgents['call'] }
}

test('words that came as they were said are not told again', async () => {
  const sent: string[] = []
  const connection = new AcpConnection({
    agents: createAgents(),
    create: {},
    version: '1',
    send: (message) => sent.push(JSON.stringify(message)),
  })
  const prompt = [{ type: 'text', text: 'go' }]
  const params = { sessionId: 'agent_1', prompt }
  await connection.receive(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params }),
  )
  const words = sent.flatMap((line) => /"text":"([^"]*)"/.exec(line)?.[1] ?? [])
  expect(words).toEqual(['one ', 'two ', 'three '])
})
