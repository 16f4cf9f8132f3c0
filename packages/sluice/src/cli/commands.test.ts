// Help lists commands by the summaries of a table, without loading them: each summary is what the
// command says of itself.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { CLI_PAGE, cliPage } from '../../../../scripts/cli-page.ts'
import type { LazyCommands } from '../terminal/lazy-commands.ts'
import { COMMANDS } from './commands.ts'
import { POLICY_COMMANDS } from './policy/commands.ts'

test('docs/reference/cli.md lists them; `node scripts/cli-page.ts` writes it', async () => {
  expect(readFileSync(CLI_PAGE, 'utf8')).toBe(await cliPage())
})

describe.each([
  ['sluice', COMMANDS],
  ['sluice policy', POLICY_COMMANDS],
])('%s', (_, commands: LazyCommands) => {
  test.each(Object.entries(commands))(
    '%s is summarised as it describes itself',
    async (name, command) => {
      const parent = new Command()
      const add = await command.load()
      await add(parent, () => {}, [])
      expect(parent.commands.map((each) => [each.name(), each.description()])).toEqual([
        [name, command.summary],
      ])
    },
  )
})
