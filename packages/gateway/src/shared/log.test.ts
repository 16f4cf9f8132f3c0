import { expect, test } from 'vitest'
import { LOGGED_MESSAGE_LENGTH_MAX, MESSAGE_LOG_LINES_PER_SECOND } from './limits.ts'
import { limitLog } from './log.ts'

test('messages that do not pass are logged at a rate, with how many were left out', () => {
  let nowMs = 0
  const lines: [string, unknown][] = []
  const log = limitLog(
    (_level, text, fields) => void lines.push([text, fields]),
    () => nowMs,
  )
  for (let n = 0; n < 100_000; n++) log(`a response to no open request: id ${n}`)
  expect(lines).toHaveLength(MESSAGE_LOG_LINES_PER_SECOND)
  nowMs += 1_000
  log('next')
  log('and next')
  expect(lines.slice(MESSAGE_LOG_LINES_PER_SECOND)).toEqual([
    ['next', { leftOut: 100_000 - MESSAGE_LOG_LINES_PER_SECOND }],
    ['and next', {}],
  ])
})

test('a name that a server chose is cut, and drives no terminal', () => {
  const lines: string[] = []
  limitLog((_level, text) => void lines.push(text))(`\u001b[31m\n${'x'.repeat(1e6)}`)
  expect(lines[0]?.length).toBeLessThan(LOGGED_MESSAGE_LENGTH_MAX + 50)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  expect(lines[0]).not.toMatch(/[\u0000-\u001f]/)
})
