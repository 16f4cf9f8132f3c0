// `shell()` and the pack `coding-agent` on labelled command lines of coding agents. The lines were written
// before the pack was tried on them; docs/benchmarks/hooks.md has the figures from then.

import { expect, test } from 'vitest'
import { judgeLines, type LineScore, readLines, scoreLines } from '../support/shell-lines.ts'

const scores = scoreLines(judgeLines(readLines()))
const share = ({ found, of }: LineScore) => found / of

test('no change is called a read', () => {
  expect(scores.mistaken).toMatchObject({ found: 0, of: 896 })
})

test('of 1,276 lines 99 % are certain, and 88 % of the reads are recognised', () => {
  expect(scores.certain.of).toBe(1_276)
  expect(share(scores.certain)).toBeGreaterThan(0.99)
  expect(share(scores.recognised)).toBeGreaterThan(0.88)
})

test('the pack holds 2 % of what is not to be asked, and 99 % of what is', () => {
  expect(share(scores.needless)).toBeLessThan(0.02)
  expect(share(scores.caught)).toBeGreaterThan(0.99)
})

test('a line of 1,400 characters is decided', () => {
  const command = `git commit -m '${'word '.repeat(280)}'`
  const line = { command, cwd: '/srv/app', label: 'changes', ask: false } as const
  expect(judgeLines([line])).toMatchObject([{ action: 'allow' }])
})
