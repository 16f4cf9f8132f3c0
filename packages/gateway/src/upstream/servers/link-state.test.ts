// The table of a link's states has no dead end but the closed one, and a closed link stays closed.

import { expect, test } from 'vitest'
import { LINK_TRANSITIONS, type LinkState } from './link-state.ts'

const states = Object.keys(LINK_TRANSITIONS) as LinkState[]

function reachableFrom(first: LinkState): Set<LinkState> {
  const found = new Set([first])
  for (const state of found)
    for (const next of Object.values(LINK_TRANSITIONS[state])) found.add(next)
  return found
}

test('a link can be closed in every state, and nothing happens to a closed one', () => {
  for (const state of states.filter((each) => each !== 'closed'))
    expect(LINK_TRANSITIONS[state].close, state).toBe('closed')
  expect(LINK_TRANSITIONS.closed).toEqual({})
})

test.each(['asleep', 'awake'] as const)(
  'a link that begins %s can reach every state, and is awake again from each but the closed one',
  (first) => {
    expect([...reachableFrom(first)].sort()).toEqual(states.toSorted())
    for (const state of states.filter((each) => each !== 'closed'))
      expect(reachableFrom(state), state).toContain('awake')
  },
)
