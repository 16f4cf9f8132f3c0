import { describe, expect, test } from 'vitest'
import { UndecidableError } from './undecidable-error.ts'

describe('Undecided', () => {
  test('states what could not be decided, with the value in backticks', () => {
    const error = new UndecidableError('a port out of range', 'http://x:99999')
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe('Undecided')
    expect(error.message).toBe('a port out of range: `http://x:99999`')
  })

  test('needs no value', () => {
    expect(new UndecidableError('an argument is missing').message).toBe('an argument is missing')
  })

  test('truncates the value to 80 characters', () => {
    expect(new UndecidableError('long', 'x'.repeat(80)).message).toBe(`long: \`${'x'.repeat(80)}\``)
    expect(new UndecidableError('long', 'x'.repeat(81)).message).toBe(
      `long: \`${'x'.repeat(79)}…\``,
    )
  })

  test('a value cannot forge lines, reverse text or close its quotes', () => {
    const { message } = new UndecidableError('odd', 'a\nb\u001b[31m\u202e`c\ud800')
    expect(message).toBe('odd: `a\ufffdb\ufffd[31m\ufffd\ufffdc\ufffd`')
  })
})
