// README, quickstart and the skill are run: files with a name in their fence are written, every `sh` fence that a `text` fence
// follows is executed, and that text is what must be printed.

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { SLUICE } from '../support/start-gate.ts'

interface Fence {
  language: string
  file: string | undefined
  text: string
}

const PAGES = ['README.md', 'docs/quickstart/README.md', 'skills/sluice-policy/SKILL.md']

describe.each(PAGES)('%s', (page) => {
  const fences: Fence[] = [
    ...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms),
  ].map(([, language = '', file, text = '']) => ({ language, file, text }))
  const stories = fences.flatMap((fence, index) => {
    const after = fences[index + 1]
    return fence.language === 'sh' && after?.language === 'text'
      ? [{ command: fence.text.trim(), output: after.text }]
      : []
  })
  let folder = ''

  beforeAll(() => {
    folder = fileScratchDirectory()
    for (const { file, text } of fences)
      if (file !== undefined) writeFileSync(join(folder, file), text)
  })

  test('tells a story of at least three commands', () => {
    expect(stories.length).toBeGreaterThanOrEqual(3)
  })

  test.each(stories)('$command', ({ command, output }) => {
    const script = `sluice() { "${process.execPath}" "${SLUICE}" "$@"; }\n${command}`
    const { NO_COLOR: _, ...env } = process.env
    const { stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env })
    expect(stdout).toBe(output)
  })
})
