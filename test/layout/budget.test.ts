// Code of each module against its budget. A change that needs more lowers another budget in the same commit,
// or raises the total in a commit of its own that says why (CONTRIBUTING.md, "Size").

import { expect, test } from 'vitest'
import { countCode, measureModules } from '../support/code-lines.ts'

const TOTAL_MAX = 110_000

const sizes = measureModules()

test('no module has more code than its budget', () => {
  const over = sizes
    .filter(({ lines, budget = 0 }) => lines > budget)
    .map(
      ({ module, lines, budget = 0 }) =>
        `${module} has ${lines} lines of code, its budget is ${budget}`,
    )
  expect(over).toEqual([])
})

test('a budget is not more than 2 % above the code: what was saved stays saved', () => {
  const loose = sizes.filter(({ lines, budget = 0 }) => budget > Math.ceil(lines * 1.02) + 20)
  expect(loose.map(({ module, lines }) => `lower the budget of ${module} to ${lines}`)).toEqual([])
})

test('the budgets together are at most the total', () => {
  const total = sizes.reduce((sum, { budget = 0 }) => sum + budget, 0)
  expect(total).toBeLessThanOrEqual(TOTAL_MAX)
})

test('blank lines, comments and imports are not counted', () => {
  const text = "// a\nimport {\n  b,\n} from 'b'\n\n/**\n * c\n */\nexport const d = 1 // e\n"
  expect(countCode(text)).toBe(1)
})
