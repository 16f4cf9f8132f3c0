import { expect, test } from 'vitest'
import { TEXT_PIECE_LENGTH_MAX } from '../shared/limits.ts'
import { TextPieces } from './text-pieces.ts'

test('no piece ends within a character, and half a one at the end is mended', () => {
  const sent: string[] = []
  const pieces = new TextPieces((text) => void sent.push(text))
  const long = 'x'.repeat(TEXT_PIECE_LENGTH_MAX)
  pieces.add(`${long}\ud83d`)
  pieces.add('\ude00')
  pieces.flush()
  pieces.add('a\ud83d')
  pieces.flush()
  pieces.flush()
  expect(sent).toEqual([long, '😀', 'a', '\ufffd'])
})
