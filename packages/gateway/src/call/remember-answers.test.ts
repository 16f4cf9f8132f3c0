// Answers of one text are read without a parser: what is remembered of them is the same.

import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rememberMessage } from './remember-answers.ts'

function remembered(text: string) {
  const memory = new SessionProvenance({ low: 7, high: 11 })
  rememberMessage(memory, { text, server: 's', answered: undefined, trust: [] })
  return memory.toStored()
}

test('an answer of one text is remembered like any other form of it', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a"b@example.com', 'a\\u0040example.com', 'ann@example.com\nbob@example.com'),
  )
  fc.assert(
    fc.property(text, fc.boolean(), (said, isError) => {
      const result = { content: [{ type: 'text', text: said }], isError }
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, result })
      // The space is read by the parser alone.
      expect(remembered(message)).toEqual(remembered(` ${message}`))
    }),
    { numRuns: 40 },
  )
})
