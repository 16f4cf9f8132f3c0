// The two log formats: text from a server must not create another line, nor a field of the gate's
// own.

import { expect, test } from 'vitest'
import { makeLog } from './log-lines.ts'

test('JSON: one object per line, for any text', () => {
  const lines: string[] = []
  const log = makeLog('json', (line) => lines.push(line))
  log('warn', 'said:\n{"level":"info"}\u001b[31m', { server: 'a', level: 'info', why: 'x\ny' })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.match(/\n/g)).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'warn',
    msg: 'said:\\u{a}{"level":"info"}\\u{1b}[31m',
    server: 'a',
    why: 'x\ny',
  })
})

test('text: level, message, fields; nothing that controls a terminal', () => {
  const lines: string[] = []
  makeLog('text', (line) => lines.push(line))('info', 'ready\u001b', { server: 'a', why: '' })
  expect(lines).toEqual(['info  ready\\u{1b} server=a\n'])
})

test('text for a file begins with the time', () => {
  const lines: string[] = []
  makeLog('text', (line) => lines.push(line), { hasTime: true })('warn', 'late')
  expect(lines).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z warn {2}late\n$/)])
})
