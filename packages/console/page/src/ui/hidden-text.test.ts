import { expect, test } from 'vitest'
import { hasHidden, splitHiddenText } from './hidden-text.ts'

test('every hidden character is a mark, including the first, on every call', () => {
  const text = 'a\u202Eb\u200Bc\u{E0069}\u0007'
  for (let look = 0; look < 3; look++) {
    expect(hasHidden(text)).toBe(true)
    expect(splitHiddenText(text)).toEqual([
      { text: 'a' },
      { hidden: 'RLO', code: 'U+202E' },
      { text: 'b' },
      { hidden: 'ZWSP', code: 'U+200B' },
      { text: 'c' },
      { hidden: 'tag i', code: 'U+E0069' },
      { hidden: 'BEL', code: 'U+0007' },
    ])
    // A selector behind a letter belongs to nothing that is drawn.
    expect(hasHidden('a\ufe0f')).toBe(true)
  }
})

test('text in any script is unchanged', () => {
  for (const text of [
    '',
    'plain',
    'línea\n\ttab',
    '日本語',
    'עברית',
    '👩‍💻'.replaceAll('\u200d', ''),
    '\u2764\ufe0f 1\ufe0f\u20e3',
  ]) {
    expect(hasHidden(text)).toBe(false)
    expect(splitHiddenText(text)).toEqual(text === '' ? [] : [{ text }])
  }
})
