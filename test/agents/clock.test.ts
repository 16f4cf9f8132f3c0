// Agents of a real gate whose clock is set by a year: a limit of time that is reached stays reached, and a run that
// began while the clock was ahead is stopped in its time after a restart with the right one.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { askAgents } from '../support/cluster-in-full.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { HOUR_MS, SetClock, YEAR_MS } from '../support/set-clock.ts'
import { endGates, fixture, until, writeScript } from '../support/start-gate.ts'

/** Far more than fit into the time of a run. */
const CALLS = 300
const RUN_MS = 4_000
const TURNS = Array.from({ length: CALLS }, (_, n) => ({
  toolCalls: [{ name: 'count__slow', input: { n } }],
}))

afterEach(endGates)

test('limits of time hold whatever the clock does, also over kill -9', async () => {
  const clock = new SetClock()
  const log = join(scratchDirectory(), 'calls')
  const servers = { agents: { builtin: 'agents' as const }, count: fixture('counter', log) }
  clock.set(YEAR_MS)
  const gate = await clock.start({ servers })
  writeScript(gate.data, 'story', TURNS)
  const create = (limits: object) =>
    askAgents(gate, 'wasm_agent_create', {
      model: 'script:story',
      tools: ['count/*'],
      limits: { maxTurns: CALLS, ...limits },
    })
  const { id: agentId } = (await create({ runMs: RUN_MS })).agent
  const { runId } = await askAgents(gate, 'wasm_agent_prompt', { agentId, input: 'go', waitMs: 0 })
  const made = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0)
  await until(() => made() > 1)
  await gate.kill()
  clock.set(0)
  const next = await clock.start({ servers, folder: gate.folder })
  const ended = await askAgents(next, 'wasm_agent_wait', { agentId, runId, waitMs: 60_000 })
  expect(ended.stop?.reason, JSON.stringify(ended)).toMatch(/^(host_limit|run_time)$/)
  expect(made()).toBeLessThan(CALLS / 2)
  // One that has ended by a clock that was ahead has ended.
  const expiresAt = new Date(Date.now() + HOUR_MS / 2).toISOString()
  const given = { model: 'script:story', tools: [], limits: { expiresAt } }
  const other = await askAgents(next, 'wasm_agent_create', given)
  const go = { agentId: other.agent.id, input: 'go', waitMs: 0 }
  for (const ahead of [HOUR_MS, 0]) {
    clock.set(ahead)
    expect(await askAgents(next, 'wasm_agent_prompt', go)).toMatchObject({ code: 'AGENT_STOPPED' })
  }
})
