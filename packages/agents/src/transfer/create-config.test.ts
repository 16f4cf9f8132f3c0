import { expect, test } from 'vitest'
import { grantTools } from './create-config.ts'

function toolsOf(...names: string[]) {
  return names.map((name) => ({
    server: 'shop',
    name,
    description: name,
    inputSchema: {},
    category: 'Write' as const,
  }))
}

test('without any tool it says how agents reach tools', () => {
  expect(() => grantTools(['shop/*'], [])).toThrow(/through a gate with `builtin: agents`/)
  expect(() => grantTools(['bank/*'], toolsOf('a'))).toThrow(/of tools you may see/)
})

test('two tools that a model would know by one name are refused, not one of them left out', () => {
  const long = 'x'.repeat(64)
  for (const [first = '', second = ''] of [
    ['pay.out', 'pay_out'],
    [`${long}1`, `${long}2`],
  ]) {
    const available = toolsOf(first, second)
    for (const patterns of [['shop/*'], [`shop/${first}`, `shop/${second}`]])
      expect(() => grantTools(patterns, available)).toThrow(/by one name/)
    expect(grantTools([`shop/${second}`], available)).toMatchObject([{ tool: second }])
    expect(grantTools([`shop/${first}`, `shop/${first}`], available)).toHaveLength(1)
  }
})
