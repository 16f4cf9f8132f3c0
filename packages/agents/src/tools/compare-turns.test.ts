import { expect, test } from 'vitest'
import { compareTurns } from './compare-turns.ts'

const model = (turn: number, text: string, more: object = {}) => ({
  kind: 'model',
  turn,
  text,
  toolCalls: [],
  usage: { inputTokens: 2, outputTokens: 1, cost: 0.5 },
  ...more,
})

test('the first turn that differs has both sides, and each has what it used since both are there', () => {
  const calls = [{ name: 'read_file', input: '{"path":"a"}' }]
  const one = [model(1, 'before'), model(2, 'same'), { kind: 'tool', turn: 2 }, model(3, 'a')]
  const other = [model(2, 'same'), model(3, 'a', { toolCalls: calls }), model(4, 'b')]
  expect(compareTurns(one, other)).toEqual({
    from: 2,
    turn: 3,
    sides: [
      { turns: 2, tokens: 6, cost: 1, at: { text: 'a', calls: [] } },
      { turns: 3, tokens: 9, cost: 1.5, at: { text: 'a', calls } },
    ],
  })
})

test('a side that ends earlier differs there; equal ones do not; a summary is no turn', () => {
  const one = [model(1, 'a'), model(1, 'a summary'), model(2, 'b', { usage: {} })]
  expect(compareTurns(one, [model(1, 'a')])).toMatchObject({
    turn: 2,
    sides: [
      { at: { text: 'b' }, cost: null },
      { at: null, cost: 0.5 },
    ],
  })
  expect(compareTurns(one, one)).toMatchObject({ from: 1, turn: null })
  expect(compareTurns([], [])).toMatchObject({ from: null, turn: null })
})
