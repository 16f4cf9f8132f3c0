// Questions of locked servers: well-formed ones, and packets that are anything else.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readQuestion, writeAnswer } from './dns-answer.ts'

function ask(name: string, type = 1): Uint8Array {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)])
  return new Uint8Array([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, type, 0, 1])
}

test('a name is read, and answered with its address, none of the type, or no such name', () => {
  const packet = ask('API.Notes.example')
  const question = readQuestion(packet)
  expect(question).toEqual({ name: 'api.notes.example', type: 1, end: packet.length })
  if (question === undefined) return
  const answer = Buffer.from(writeAnswer(packet, question, '127.1.0.7'))
  expect([answer.readUInt16BE(0), answer.readUInt16BE(2), answer.readUInt16BE(6)]).toEqual([
    0x1234, 0x8180, 1,
  ])
  expect([...answer.subarray(-4)]).toEqual([127, 1, 0, 7])
  const refused = Buffer.from(writeAnswer(packet, question, undefined))
  expect([refused.readUInt16BE(2) & 15, refused.readUInt16BE(6)]).toEqual([3, 0])
  const six = ask('api.notes.example', 28)
  const none = Buffer.from(writeAnswer(six, readQuestion(six) ?? question, '127.1.0.7'))
  expect([none.readUInt16BE(2) & 15, none.readUInt16BE(6)]).toEqual([0, 0])
})

test('what is no question is not read: answers, pointers, odd letters, long names', () => {
  const odd = [
    new Uint8Array(0),
    ask('x').subarray(0, 14),
    Uint8Array.from(ask('x'), (byte, at) => (at === 2 ? 0x80 : byte)),
    Uint8Array.from(ask('x'), (byte, at) => (at === 12 ? 0xc0 : byte)),
    ask('a b'),
    ask('a\nb'),
    ask(Array(60).fill('abcdef').join('.')),
  ]
  for (const packet of odd) expect(readQuestion(packet)).toBe(undefined)
})

test('no packet makes it throw, and a name that is read is one', () => {
  const packets = fc.uint8Array({ maxLength: 600 })
  fc.assert(
    fc.property(packets, fc.boolean(), (bytes, headed) => {
      const packet = headed ? new Uint8Array([...ask('x').subarray(0, 12), ...bytes]) : bytes
      const question = readQuestion(packet)
      if (question === undefined) return
      expect(question.name).toMatch(/^[a-z0-9_.-]{1,253}$/)
      expect(writeAnswer(packet, question, '127.1.0.1').length).toBeGreaterThan(12)
    }),
  )
})
