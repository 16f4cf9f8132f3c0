// A `.sluice` that came with a cloned project, as its victim meets it: no command believes it.

import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { CliError } from '../../packages/cli/src/terminal/errors.ts'
import { terminal } from '../../packages/cli/src/terminal/terminal.ts'
import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import { checkDataFolder } from '../../packages/ledger/src/store/files/private-folder.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

test('Review F1: a .sluice of a cloned project decides neither policy nor approvers', async () => {
  const project = scratchDirectory()
  const data = join(project, '.sluice')
  const config = join(project, 'sluice.yaml')
  // Made by the attacker's own gate, with the attacker's own key.
  vi.stubEnv('XDG_STATE_HOME', join(scratchDirectory(), 'attacker'))
  openGateStore(data).close()
  InstallationKey.at(data)
  vi.unstubAllEnvs()
  for (const name of readdirSync(data)) chmodSync(join(data, name), 0o644)
  chmodSync(data, 0o755)
  const init = await sluice(['init', '--yes', '--config', config])
  expect(init.code).toBe(2)
  expect(init.stderr).toContain('STORE_FOREIGN')
  expect(existsSync(config)).toBe(false)
  writeFileSync(config, 'version: 1\nservers: { s: { command: [node, x.js] } }\npolicy: ./p.yaml\n')
  writeFileSync(join(project, 'p.yaml'), 'version: 1\ndefault: deny\n')
  const before = readdirSync(data)
  for (const command of [
    ['up', '--port', '0'],
    ['freeze'],
    ['policy', 'apply'],
    ['scan'],
    ['stdio', '--server', 's'],
  ]) {
    const { code, stderr } = await sluice([...command, '--config', config])
    expect(code, command.join(' ')).toBe(2)
    expect(stderr, command.join(' ')).toContain('was not made by you')
  }
  // Only a person at the terminal, who types the word, makes it theirs.
  const typed = vi.spyOn(terminal, 'ask')
  const trust = () => sluice(['up', '--port', '0', '--trust-data', '--no-pin', '--config', config])
  for (const answer of [undefined, '', 'y', 'yes']) {
    typed.mockResolvedValueOnce(answer)
    expect((await trust()).stderr).toContain('the data directory was not confirmed')
  }
  typed.mockRejectedValueOnce(new CliError('CLI_TERMINAL', 'there is none', ''))
  expect((await trust()).stderr).toContain('CLI_TERMINAL')
  expect(readdirSync(data)).toEqual(before)
  expect(() => checkDataFolder(data)).toThrow('was not made by you')
  typed.mockResolvedValueOnce('trust')
  expect((await trust()).stderr).toContain('others may read the key')
  checkDataFolder(data)
})
