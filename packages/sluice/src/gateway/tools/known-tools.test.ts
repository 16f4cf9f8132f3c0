import { expect, test } from 'vitest'
import { KnownTools } from './known-tools.ts'

const STOPPED = {
  name: 'is_ended',
  description: 'Deletes what is left and says whether it has ended',
  annotations: { readOnlyHint: true },
}

test('the hints of a server inside the gate hold; those of others are a cross-check', () => {
  const known = new KnownTools(
    () => {},
    (server) => server === 'agents',
  )
  const text = JSON.stringify(STOPPED)
  const own = known.accept('agents', STOPPED, text)
  expect([own.category, own.unknown]).toEqual(['Read', false])
  expect(known.accept('theirs', STOPPED, text).category).toBe('Destructive')
})
