// An agent moved between two installations by the command line: exports are the same to the byte, a
// trusted key restores memory, and the journal replays on both sides.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atTerminal, PIN, type } from '../support/person.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

test('a trusted installation moves an agent with its memory, another one as JSON', {
  timeout: 120_000,
}, async () => {
  const scratch = scratchDirectory()
  const [here, there] = [join(scratch, 'here'), join(scratch, 'there')]
  const agents = (command: string, data: string, ...args: string[]) =>
    sluice(['agents', command, '--data', data, ...args])
  const made = await agents('create', here, '--model', 'script:none', '--instructions', 'be good')
  const id = made.stdout.trim()
  expect((await agents('show', here, id)).stdout).toMatch(
    /idle {2}script:none.*\n.*\n.*maxTurns 50/,
  )
  const told = await agents(
    'create',
    here,
    '--model',
    'script:none',
    '--instructions',
    'be good\n\n  and brief',
  )
  expect((await agents('show', here, told.stdout.trim())).stdout).toContain(
    'told    be good and brief\n',
  )
  const created = /1 {2}\S+ {2}turn 0 {2}create {2}model/
  expect((await agents('logs', here, id)).stdout).toMatch(created)
  expect((await agents('logs', here, id, '--from', '2')).stdout).not.toMatch(created)
  expect((await agents('create', here, '--tools', 'none/*')).stderr).toContain('TOOL_UNKNOWN')
  expect((await agents('create', here, '--max-cost', '0')).stderr).toContain('a number above 0')
  const [one, two] = [join(scratch, 'one'), join(scratch, 'two')]
  for (const file of [one, two])
    await agents('export', here, id, '--bundle', '--keep-secrets', '--out', file)
  expect(readFileSync(one).equals(readFileSync(two))).toBe(true)
  const json = async () => (await agents('export', here, id)).stdout
  expect(await json()).toBe(await json())

  expect((await agents('import', there, one)).stdout).toContain('restored from JSON')
  for (const option of ['--tools', '--tool'])
    expect((await agents('import', there, one, option, 'none/*')).stderr).toContain('TOOL_UNKNOWN')
  const oldName = await agents('import', there, one, '--tool', 'none/*')
  expect(oldName.stderr).toContain('`--tool` is `--tools` now; the old name goes with the next')
  const { key } = await sluiceJson(['agents', 'trust', '--data', here])
  await atTerminal(there)
  type('not the PIN')
  expect((await agents('trust', there, key)).stderr).toMatch(/PIN/)
  expect((await agents('import', there, one)).stdout).toContain('restored from JSON')
  type(PIN)
  expect((await agents('trust', there, 'abc')).stderr).toContain('64 hexadecimal digits')
  expect(await agents('trust', there, key)).toMatchObject({ code: 0 })
  const imported = await agents('import', there, one)
  expect(imported.stdout).toContain('restored from its memory')
  const [moved = ''] = imported.stdout.split(' ')
  expect(await agents('replay', there, moved)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^same: events 1 to 1/),
  })
  expect(await agents('replay', here, id, '--to', '0')).toMatchObject({ code: 0 })
  const { trusted } = await sluiceJson(['agents', 'trust', '--data', there])
  expect(trusted).toMatchObject([{ key, by: 'ann' }])
  expect((await sluice(['ledger', 'query', '--data', there, '--json'])).stderr).not.toMatch(/error/)
  await agents('trust', there, key, '--remove')
  expect((await agents('import', there, one)).stdout).toContain('restored from JSON')
})
