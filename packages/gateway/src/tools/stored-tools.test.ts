import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { expect, test, vi } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { openGateStore } from '../data/gate-store.ts'
import { KEPT_TOOLS_PER_TURN } from './limits.ts'
import { NewTools } from './new-tools.ts'
import { StoredTools } from './stored-tools.ts'

function define(name: string): KnownTool {
  const definition = { server: 'shop', name, description: 'Gets an item', inputSchema: {} }
  return { definition, category: 'Read', risk: 'low' }
}

test('definitions that wait are stored in turns when somebody asks for them', async () => {
  const store = openGateStore(scratchDirectory())
  const tools = new StoredTools(store, () => {})
  for (let n = 0; n < 3 * KEPT_TOOLS_PER_TURN; n++) tools.learn(define(`tool_${n}`))
  // A count does not write them all at once.
  expect(tools.counts().get('shop')).toBeUndefined()
  const flushed = tools.flushInTurns()
  expect(tools.counts().get('shop')).toBe(KEPT_TOOLS_PER_TURN)
  await flushed
  expect(tools.counts().get('shop')).toBe(3 * KEPT_TOOLS_PER_TURN)
  store.close()
})

test('new tools of a list are stored in one transaction', async () => {
  const store = openGateStore(scratchDirectory())
  const exec = vi.spyOn(store, 'exec')
  const event = vi.fn(async () => 1)
  const newTools = new NewTools({ store, ledger: { event }, log: () => {}, nowMs: () => 10 ** 12 })
  for (let n = 0; n < 300; n++) newTools.add(define(`tool_${n}`))
  newTools.flush()
  await nextTurn()
  expect(exec.mock.calls.flat()).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
  expect(newTools.list()).toHaveLength(300)
  expect(event).toHaveBeenCalledOnce()
  store.close()
})
