import { expect, test } from 'vitest'
import { countCode } from './code-size.ts'

test('blank lines, comments and imports are not counted', () => {
  const text = "// a\nimport {\n  b,\n} from 'b'\n\n/**\n * c\n */\nexport const d = 1 // e\n"
  expect(countCode(text)).toBe(1)
})
