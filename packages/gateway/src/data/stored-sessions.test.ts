// Sessions in gate.db: what was saved is loaded, and a store that fails stops nothing.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openGateStore } from './gate-store.ts'
import { StoredSessions } from './stored-sessions.ts'

const SESSION = {
  id: 'ann#0@1000',
  principal: 'ann',
  keys: ['pipe a 1 2'],
  startedAtMs: 1_000,
  lastUsedMs: 2_000,
  isConnected: true,
  isEnded: false,
  calls: 3,
  saw: ['private'],
  client: 'a client',
  servers: ['notes'],
}

test('sessions and labels of principals are stored, by the wall clock, and removed', () => {
  const data = mkdtempSync(join(tmpdir(), 'sluice-stored-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  const logged: string[] = []
  const store = openGateStore(data)
  const memory = new StoredSessions(
    store,
    (_level, message) => logged.push(message),
    () => 500,
  )
  memory.save(SESSION)
  memory.save({ ...SESSION, calls: 4 })
  memory.saveLabels({ principal: 'ann', saw: ['private'], lastUsedMs: Number.NEGATIVE_INFINITY })
  expect(memory.load()).toEqual({
    sessions: [{ ...SESSION, calls: 4, lastUsedMs: 2_500 }],
    principals: [{ principal: 'ann', saw: ['private'], lastUsedMs: 0 }],
  })
  memory.remove(SESSION.id)
  memory.removeLabels('ann')
  expect(memory.load()).toEqual({ sessions: [], principals: [] })
  store.close()
  memory.save(SESSION)
  expect(logged).toEqual(['a session could not be stored'])
})
