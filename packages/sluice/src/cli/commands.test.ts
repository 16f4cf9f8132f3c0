// Help lists commands by the names and summaries of a table, without loading them: each entry loads the
// command of its name.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { CLI_PAGE, cliPage } from '../../../../scripts/cli-page.ts'
import { addLoaded, type LazyCommands } from '../terminal/lazy-commands.ts'
import { COMMANDS } from './commands.ts'
import { POLICY_COMMANDS } from './policy/commands.ts'

test('docs/reference/cli.md lists them; `node scripts/cli-page.ts` writes it', async () => {
  expect(readFileSync(CLI_PAGE, 'utf8')).toBe(await cliPage())
})

describe.each([
  ['sluice', COMMANDS],
  ['sluice policy', POLICY_COMMANDS],
])('%s', (_, commands: LazyCommands) => {
  test.each(Object.entries(commands))('%s adds itself, and nothing else', async (name, command) => {
    const parent = new Command()
    await addLoaded(parent, command, () => {}, [])
    expect(parent.commands.map((each) => [each.name(), each.description()])).toEqual([
      [name, command.summary],
    ])
  })
})
