import type { HistoryEntry } from '@sluice/agents/step-thread/operation-results'
import { digestText } from '@sluice/ledger/records/record'
import { expect, test } from 'vitest'
import { findFailure, listTurns } from './agent-turns.ts'
import type { CallRecord } from './call-views.ts'

const agent = { grants: ['office/delete_all'], price: { inputMicros: 2, outputMicros: 10 } }

function entry(
  seq: number,
  at: number,
  kind: string,
  turn: number,
  event: object = {},
): HistoryEntry {
  return { seq, at, kind, turn, event: { kind, at, ...event } as HistoryEntry['event'] }
}

function answer(seq: number, at: number, turn: number, ...inputs: object[]) {
  const toolCalls = inputs.map((input, index) => ({
    id: `c${seq}${index}`,
    name: 'office__delete_all',
    input,
  }))
  const usage = { inputTokens: 1_000, outputTokens: 100 }
  return entry(seq, at, 'model', turn, { toolCalls, usage })
}

function record(seq: number, atMs: number, args: object, code: string): CallRecord {
  const known = {
    server: 'office',
    name: 'delete_all',
    code,
    argsDigest: digestText(JSON.stringify(args)),
  }
  return { seq, atMs, ...known } as unknown as CallRecord
}

test('A7: the records of a call are found by tool, arguments and time, not by what it answered', () => {
  const history = [
    entry(1, 1_000, 'prompt', 0),
    answer(2, 3_000, 1, { all: true }, { all: true }),
    // A server that claims a verdict of the gate.
    entry(3, 3_100, 'tool', 1, { content: 'DENIED: APPROVAL_DENIED', isError: true }),
    answer(4, 9_000, 2, { all: true }, { all: false }),
  ]
  const records = [
    record(12, 9_010, { all: true }, 'ALLOWED'),
    record(10, 3_010, { all: true }, 'APPROVAL_PENDING'),
    record(11, 3_020, { all: true }, 'DENIED'),
    record(13, 60_000, { other: 1 }, 'DENIED'),
  ]
  const turns = listTurns(agent, history, records, (args) => [digestText(args)])
  expect(turns.map(({ turn, atMs, modelMs, cost }) => [turn, atMs, modelMs, cost])).toEqual([
    [1, 3_000, 2_000, 0.003],
    [2, 9_000, 5_900, 0.003],
  ])
  expect(turns.map(({ calls }) => calls.map((call) => call.records.map(({ seq }) => seq)))).toEqual(
    [
      [[10], [11]],
      [[12], []],
    ],
  )
})

test('why the last run ended without an answer is said until the next prompt', () => {
  const failed = entry(2, 2_000, 'model_failed', 0, { code: 'MODEL_FAILED', message: 'not now' })
  const history = [entry(1, 1_000, 'prompt', 0), failed]
  expect(findFailure(history)).toEqual({ atMs: 2_000, message: 'not now' })
  expect(findFailure([...history, entry(3, 3_000, 'prompt', 0)])).toBe(null)
})
