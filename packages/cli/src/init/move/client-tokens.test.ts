// One token for each file of the user's, none for a project's, and no key for a dry run.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { SessionTokens } from '@sluice/access/identity/sessions/session-tokens'
import { expect, onTestFinished, test } from 'vitest'
import type { ClientFile } from '../files/client.ts'
import { ClientTokens } from './client-tokens.ts'

const from = (file: string, scope: ClientFile['scope'] = 'user'): ClientFile => ({
  client: 'cursor',
  file,
  format: 'json',
  scope,
  folder: '/u',
})

test('entries of one client are one session', () => {
  const data = join(mkdtempSync(join(tmpdir(), 'sluice-tokens-')), 'data')
  onTestFinished(() => rmSync(join(data, '..'), { recursive: true }))
  expect(new ClientTokens(data, true).tokenFor(from('/a'))).toBe('sluice_session_TOKEN')
  expect(existsSync(data)).toBe(false)
  const tokens = new ClientTokens(data, false)
  const [one, again, other] = ['/a', '/a', '/b'].map((file) => tokens.tokenFor(from(file)))
  expect(one).toBe(again)
  expect(other).not.toBe(one)
  expect(tokens.tokenFor(from('/a', 'project'))).toBeUndefined()
  const reader = new SessionTokens(InstallationKey.at(data))
  expect(reader.read(one ?? '')).toBeDefined()
  expect(reader.read(`${one}x`)).not.toBe(reader.read(one ?? ''))
  expect(reader.read('sluice_session_mine')).toBeUndefined()
})
