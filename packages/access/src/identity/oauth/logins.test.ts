// Logins: what one process stores another reads, and no one can move one to another's place or read
// it without the key.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Logins } from './logins.ts'

const OF = { server: 'desk', principal: '' }
const LOGIN = {
  url: 'https://desk.example.com/mcp',
  resource: 'https://desk.example.com/mcp',
  issuer: 'https://id.example.com',
  tokenEndpoint: 'https://id.example.com/token',
  clientId: 'c',
  clientAuth: 'none',
  accessToken: 'an-access-token',
  refreshToken: 'a-refresh-token',
} as const

let folder = ''
let logins: Logins

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-logins-'))
  logins = Logins.open(folder)
})
afterEach(() => {
  logins.close()
  rmSync(folder, { recursive: true })
})

test('a login is seen by another process at the next refresh, and gone when it is removed', () => {
  const gate = Logins.open(folder)
  expect(gate.get(OF)).toBeUndefined()
  logins.put(OF, LOGIN, 1)
  expect(gate.get(OF)).toEqual(LOGIN)
  expect(gate.get({ server: 'desk', principal: 'ann' })).toBeUndefined()
  expect(logins.remove(OF)).toBe(true)
  expect(logins.remove(OF)).toBe(false)
  expect(gate.get(OF)).toBeUndefined()
  gate.close()
})

test("a login moved to another's place in the file does not open there", () => {
  logins.put(OF, LOGIN, 1)
  const file = new DatabaseSync(join(folder, 'identity.db'))
  file.exec("UPDATE logins SET principal = 'ann'")
  expect(logins.get({ server: 'desk', principal: 'ann' })).toBeUndefined()
  file.exec("UPDATE logins SET principal = '', server = 'evil'")
  expect(logins.get({ server: 'evil', principal: '' })).toBeUndefined()
  file.exec("UPDATE logins SET server = 'desk', sealed = zeroblob(10)")
  expect(logins.get(OF)).toBeUndefined()
  file.close()
})

test('without the key of the installation there is no login', () => {
  logins.put(OF, LOGIN, 1)
  writeFileSync(join(folder, 'identity.key'), Buffer.alloc(32, 1))
  const other = Logins.open(folder)
  expect(other.get(OF)).toBeUndefined()
  other.close()
})
