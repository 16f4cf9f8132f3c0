// A nightly agent of a whole gate whose days pass by its clock: a time that passed while nothing ran comes once, one
// that a limit refuses begins nothing, the next day goes on, and a kill in between begins nothing twice. `npm test` has
// each of these by itself, in schedules.test.ts, schedule-kills.test.ts and clock.test.ts.

import { afterEach, expect, test } from 'vitest'
import { askAgents } from '../support/cluster-in-full.ts'
import { IS_FULL } from '../support/runs.ts'
import { HOUR_MS, SetClock } from '../support/set-clock.ts'
import { endGates, type RunningGate, until, writeScript } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools:
  agents/wasm_agent_prompt: { action: allow, rate_limit: { max: 1, window: 20h } }
`

afterEach(endGates)

test.runIf(IS_FULL)(
  'a nightly agent is refused by its limit and goes on the next day',
  async () => {
    const clock = new SetClock()
    const servers = { agents: { builtin: 'agents' as const } }
    let gate: RunningGate = await clock.start({ servers, policy: POLICY })
    const { folder } = gate
    writeScript(gate.data, 'ok', [{ text: 'one' }, { text: 'two' }])
    const { id: agentId } = (await askAgents(gate, 'wasm_agent_create', { model: 'script:ok' }))
      .agent
    const hourly = { agentId, name: 'nightly', input: 'sum up', cron: '0 * * * *' }
    await askAgents(gate, 'wasm_agent_schedule', hourly)

    /** The gate is killed and comes back later: what became of the time that has passed. */
    async function comeBack(hours: number, outcome: RegExp) {
      await gate.kill()
      clock.set(hours * HOUR_MS)
      gate = await clock.start({ servers, policy: POLICY, folder })
      const read = async () => (await askAgents(gate, 'wasm_agent_schedules', {})).schedules[0]
      const since = Date.now() + hours * HOUR_MS - HOUR_MS
      await until(async () => {
        const { last } = await read()
        return last !== null && Date.parse(last.at) > since && outcome.test(last.outcome)
      })
      return read()
    }

    const first = await comeBack(5, /answered/)
    expect(Date.parse(first.last.at) - Date.parse(first.last.due)).toBeGreaterThan(HOUR_MS)
    expect(Date.parse(first.next)).toBeGreaterThan(Date.parse(first.last.at))
    const refused = await comeBack(7, /RATE_LIMITED/)
    expect(refused.last.runId).toBe(first.last.runId)
    const second = await comeBack(30, /answered/)
    expect(second.last.runId).not.toBe(first.last.runId)
    const { events } = await askAgents(gate, 'wasm_agent_history', { agentId })
    expect(events.filter(({ kind }: { kind: string }) => kind === 'prompt')).toHaveLength(2)
  },
)
