// A data directory that came with a project is refused, and so are links in one.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../sqlite/open.ts'
import { checkDataFolder, makePrivateFolder, trustDataFolder } from './private-folder.ts'

let folder: string
let data: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-mark-')))
  data = join(folder, '.sluice')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** As extracted from an archive: owned by the user, with the right modes. */
function bring(name: string, text = 'x'): void {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(join(data, name), text, { mode: 0o600 })
}

const refusal = () => expect.objectContaining({ code: 'STORE_FOREIGN' })

describe('Review F1: a data directory', () => {
  test.each([
    'gate.db',
    'identity.db',
    'identity.key',
    'gate-state.json',
    'version',
    'ledger.db-wal',
  ])('Review F1: a .sluice that came with a project is refused: %s', (name) => {
    bring(name)
    for (const take of [makePrivateFolder, checkDataFolder])
      expect(() => take(data)).toThrow(refusal())
    expect(() => openDatabase({ directory: data, name: 'gate.db', migrations: [] })).toThrow(
      refusal(),
    )
  })

  test('Review F1: what this user created is accepted again, and files of the user may exist before', () => {
    mkdirSync(data)
    writeFileSync(join(data, 'sluice.yaml'), 'version: 1')
    checkDataFolder(data)
    expect(existsSync(join(data, 'owner.mark'))).toBe(false)
    makePrivateFolder(data)
    bring('gate.db')
    makePrivateFolder(data)
    checkDataFolder(data)
  })

  test('Review F1: a mark of another user, of another path or made by the attacker is invalid', () => {
    vi.stubEnv('XDG_STATE_HOME', join(folder, 'of another'))
    makePrivateFolder(data)
    bring('gate.db')
    vi.unstubAllEnvs()
    expect(() => makePrivateFolder(data)).toThrow(refusal())
    const own = join(folder, 'own')
    makePrivateFolder(own)
    cpSync(join(own, 'owner.mark'), join(data, 'owner.mark'))
    expect(() => makePrivateFolder(data)).toThrow(refusal())
    for (const text of ['', '\n', 'f'.repeat(64), 'f'.repeat(1_000_000)]) {
      bring('owner.mark', text)
      expect(() => makePrivateFolder(data)).toThrow(refusal())
    }
    // What a client started, which leaves XDG_STATE_HOME out, is this user's too.
    vi.stubEnv('HOME', join(folder, 'home'))
    vi.stubEnv('XDG_STATE_HOME', '')
    const started = join(folder, 'started')
    makePrivateFolder(started)
    writeFileSync(join(started, 'gate.db'), '')
    vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'))
    makePrivateFolder(started)
    // A key in the project, by a relative state folder or home.
    vi.stubEnv('HOME', 'home')
    vi.stubEnv('XDG_STATE_HOME', 'state')
    expect(() => makePrivateFolder(join(folder, 'fourth'))).toThrow('no place for your key')
    vi.stubEnv('XDG_STATE_HOME', 'state')
    vi.stubEnv('HOME', join(folder, 'home'))
    makePrivateFolder(join(folder, 'third'))
    expect(existsSync(join(folder, 'home', '.local', 'state', 'sluice', 'init.key'))).toBe(true)
  })

  test('Review F1: a moved or older directory is confirmed once, by a person or by the operator', () => {
    makePrivateFolder(data)
    bring('gate.db')
    const moved = join(folder, 'moved')
    renameSync(data, moved)
    expect(() => makePrivateFolder(moved)).toThrow(refusal())
    vi.stubEnv('SLUICE_TRUST_DATA', `${folder}:relative`)
    expect(() => makePrivateFolder(moved)).toThrow(refusal())
    vi.stubEnv('SLUICE_TRUST_DATA', `/nowhere:${moved}`)
    makePrivateFolder(moved)
    vi.unstubAllEnvs()
    expect(() => makePrivateFolder(moved)).toThrow(refusal())
    trustDataFolder(moved)
    makePrivateFolder(moved)
  })
})

test.each([
  'gate.pid',
  'ledger.reserve',
  'ledger-checkpoints.jsonl',
  'owner.mark',
  'servers/notes',
])('Review F4: the gate does not write through a link in its data directory: %s', (name) => {
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'precious')
  makePrivateFolder(data)
  mkdirSync(join(data, 'servers'))
  rmSync(join(data, name), { force: true })
  symlinkSync(victim, join(data, name))
  for (const take of [makePrivateFolder, trustDataFolder])
    expect(() => take(data)).toThrow(`\`${join(data, name)}\` in the data directory is a link`)
  expect(readFileSync(victim, 'utf8')).toBe('precious')
})
