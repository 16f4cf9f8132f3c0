// Help lists commands by the names and summaries of a table, without loading them: each entry loads the
// command of its name.

import { readFileSync } from 'node:fs'
import { OPERATIONS } from '@sluice/gateway/operations/table'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { CLI_PAGE, cliPage } from '../../../scripts/cli-page.ts'
import { COMMANDS } from './commands.ts'
import { POLICY_COMMANDS } from './policy/commands.ts'
import { addLoaded, type LazyCommands } from './terminal/lazy-commands.ts'

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

/** Fields that a command fills in by itself, or asks a person for; and rows whose command is another's option. */
const NOT_TYPED: Readonly<Record<string, readonly string[]>> = {
  freeze: ['all'],
  thaw: ['all'],
  'approvals.list': ['states', 'before', 'limit'],
  'approvals.news': ['news'],
  'approvals.lift': ['server'],
  'people.set-first-pin': ['pin', 'at'],
  'people.change-pin': ['pin'],
  'people.add': ['pin'],
  'pins.accept': ['server', 'name', 'seen', 'digest'],
  'pins.refuse': ['server', 'name', 'seen', 'digest'],
  'servers.put': ['replaces', 'digest'],
  'servers.accept': ['digest'],
  'policy.apply': ['digest', 'lock'],
  'ledger.digest': ['digests'],
  'undo.list': ['project'],
  'undo.restore': ['project'],
}
/** Arguments with another name than their field. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'approvals.lift name': 'server/tool',
  'sessions.end session': 'id',
  'servers.put entry': 'command',
  'undo.list commit': 'line',
  'undo.restore commit': 'line',
}

describe('an operation with a command', async () => {
  const program = new Command('sluice')
  for (const command of Object.values(COMMANDS))
    await addLoaded(program, command, () => {}, ['all'])
  const rows = OPERATIONS.filter(({ command }) => typeof command === 'string')
  test.each(rows.map((row) => [row.name, row] as const))('%s', (name, row) => {
    const words = String(row.command).split(' ')
    const path = words.filter((word) => !word.startsWith('--'))
    const command = path.reduce<Command | undefined>(
      (parent, word) => parent?.commands.find((each) => each.name() === word),
      program,
    )
    expect(command?.name(), `sluice ${path.join(' ')} exists`).toBe(path.at(-1))
    const options = (command?.options ?? []).map((each) => [each.attributeName(), each.description])
    const args = (command?.registeredArguments ?? []).map((each) => [each.name(), each.description])
    const typed = new Map([...options, ...args] as [string, string][])
    for (const word of words.slice(path.length)) expect([...typed.keys()]).toContain(word.slice(2))
    const fields = Object.entries(row.input).filter(([field]) => !NOT_TYPED[name]?.includes(field))
    for (const [field, { doc }] of fields) {
      const said = typed.get(ARGUMENTS[`${name} ${field}`] ?? field) ?? `no option ${field}`
      if (!OWN_WORDS.has(name)) expect(said).toContain(doc)
    }
  })
})

/** Commands that are not made from their row, since they do more than ask for it. */
const OWN_WORDS = new Set([
  'people.set-first-pin',
  'people.change-pin',
  'pins.refuse',
  'agents.trust',
])
