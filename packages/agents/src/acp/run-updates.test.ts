// What an editor is told of an agent's events.

import { expect, test } from 'vitest'
import { RunUpdates, type ShownEvent } from './run-updates.ts'

const TOOLS = new Set(['write_file', 'run_code', 'shop__refund', 'shop__mail'])

function model(seq: number, turn: number, ...names: string[]): ShownEvent {
  const toolCalls = names.map((name) => ({ name, input: '{"a":1}' }))
  return { seq, kind: 'model', turn, effectId: `e${seq}`, text: '', toolCalls }
}

function statuses(updates: readonly object[]): unknown[] {
  return updates.map((update) => {
    const { toolCallId, status } = update as { toolCallId?: string; status?: string }
    return `${toolCallId} ${status}`
  })
}

test('results find their calls whatever order they come in', () => {
  const updates = new RunUpdates({ tools: TOOLS, turn: 0 })
  const begun = updates.ofEvent(model(10, 1, 'write_file', 'shop__refund', 'shop__mail'))
  expect(statuses(begun)).toEqual(['10.1 completed', '10.2 in_progress', '10.3 in_progress'])
  const result = { kind: 'tool', turn: 1, content: 'x' }
  expect(statuses(updates.ofEvent({ ...result, seq: 11, effectId: 'e12' }))).toEqual([
    '10.3 completed',
  ])
  const denied = { ...result, seq: 12, effectId: 'e11', isError: true }
  expect(statuses(updates.ofEvent(denied))).toEqual(['10.2 failed'])
  expect(updates.end()).toEqual([])
})

test('a call that waits is pending with what it waits for, and goes on after it', () => {
  const updates = new RunUpdates({ tools: TOOLS, turn: 0 })
  updates.ofEvent(model(10, 1, 'shop__refund'))
  const waiting = { seq: 11, kind: 'waiting', turn: 1, effectId: 'e11' }
  expect(updates.ofEvent({ ...waiting, on: 'dda7 at http://g/approvals/dda7' })).toEqual([
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: '10.1',
      status: 'pending',
      content: [
        {
          type: 'content',
          content: { type: 'text', text: 'waits for approval: dda7 at http://g/approvals/dda7' },
        },
      ],
    },
  ])
  expect(statuses(updates.ofEvent({ ...waiting, on: '' }))).toEqual(['10.1 in_progress'])
  expect(statuses(updates.end())).toEqual(['10.1 failed'])
})

test('a call that was refused inside sends nothing, and moves no other', () => {
  const updates = new RunUpdates({ tools: TOOLS, turn: 0 })
  const turn = model(10, 1, 'shop__refund', 'shop__mail', 'unknown')
  const [first, ...rest] = turn.toolCalls ?? []
  const refused = { name: 'shop__refund', input: '{}', ...first, refused: 'a number' }
  const begun = updates.ofEvent({ ...turn, toolCalls: [refused, ...rest] })
  expect(statuses(begun)).toEqual(['10.1 failed', '10.2 in_progress', '10.3 failed'])
  const result = { seq: 11, kind: 'tool', turn: 1, effectId: 'e11', content: 'sent' }
  expect(statuses(updates.ofEvent(result))).toEqual(['10.2 completed'])
})

test('what sums a conversation up is not part of the chat, and streamed words are not repeated', () => {
  const updates = new RunUpdates({ tools: TOOLS, turn: 3 })
  expect(updates.ofEvent({ ...model(10, 3), text: 'summary' })).toEqual([])
  const said = { ...model(11, 4), text: 'hello' }
  expect(updates.ofEvent(said, () => true)).toEqual([])
  expect(updates.ofEvent({ ...model(12, 5), text: 'again' })).toEqual([
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'again' } },
  ])
})

test('a result of a call that a person made directly is not shown', () => {
  const updates = new RunUpdates({ tools: TOOLS, turn: 0 })
  updates.ofEvent(model(10, 1, 'shop__refund'))
  const direct = { seq: 11, kind: 'tool', turn: 1, effectId: 'e99', content: 'x' }
  expect(updates.ofEvent(direct)).toEqual([])
})
