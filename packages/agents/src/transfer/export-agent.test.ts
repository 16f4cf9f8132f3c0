// What an export costs: a small agent is neither copied nor sent to the transfer thread.

import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { bench, configOf } from '../agents.test-support.ts'
import { Instance } from '../sandbox/instance.ts'
import { Thread } from '../sandbox/thread.ts'
import { SEALED_HERE_BYTES_MAX } from '../shared/limits.ts'
import { runWhole } from '../shared/sliced.ts'
import { Transfers } from './transfer-client.ts'

test('a small agent is exported without a copy of it and without a thread', async () => {
  const b = await bench()
  await b.create('a', configOf())
  await b.model('a', await b.prompt('a'), 'said')
  const saved = vi.spyOn(Instance.prototype, 'save')
  const { memory, ...pieces } = runWhole(b.operations.takeExport('me', 'a', b.now, false))
  expect(saved).not.toHaveBeenCalled()
  expect(memory).toBeUndefined()
  const options = { secrets: 'redact', nowMs: b.now, installation: 'here' } as const
  const request = { kind: 'export', pieces, options, isBundle: false, memory } as const
  const asked = vi.spyOn(Thread.prototype, 'ask')
  const transfers = new Transfers({ keySource: randomBytes(32), core: new Uint8Array() })
  const here = await transfers.seal('me', async () => request)
  expect(asked).not.toHaveBeenCalled()
  const large = { ...pieces, bytes: new Uint8Array(SEALED_HERE_BYTES_MAX) }
  const there = await transfers.seal('me', async () => ({ ...request, pieces: large }))
  expect(asked).toHaveBeenCalledTimes(1)
  expect(JSON.stringify(there.exported)).toBe(JSON.stringify(here.exported))
  expect(here.exported.agentState.messages.at(-1)).toMatchObject({ content: 'said' })
  await transfers.close()
})
