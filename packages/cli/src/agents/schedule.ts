// `sluice agents schedule`: prompts that come by themselves, at a time or with a webhook. They need a gate, or
// `agents serve`, that runs when they are due. `schedules` and `unschedule` are old names of calls of tools.

import type { ScheduleView } from '@sluice/agents/tools/schedule-tools'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { printable } from '../terminal/output.ts'
import { defineAgentsCommand } from './open-agents.ts'

interface MadeView {
  readonly schedule: ScheduleView
  readonly secret?: string
  readonly note?: string
}

const EXAMPLES = `
Examples:
  sluice agents schedule agent_… tickets --cron "0 7 * * 1-5" "sum up yesterday's tickets"
  sluice agents schedule agent_… report --at 2027-01-31T09:00 --zone Europe/Berlin "write the report"
  sluice agents schedule agent_… issue --webhook --fresh "label this issue"
  sluice call agents/wasm_agent_schedules        all of them: next time, and what became of the last
  sluice call agents/wasm_agent_unschedule '{"agentId": "agent_…", "name": "tickets"}'

Each prompt is a call of wasm_agent_prompt, which the policy decides. A time that passed while nothing ran comes
once, late; one that comes while the last run goes on is skipped. A schedule of the same name is replaced.`

export const addAgentsSchedule = defineAgentsCommand({
  name: 'schedule',
  description: 'prompt an agent at set times, or when a signed webhook comes',
  args: { '<agent>': '', '<name>': 'a-z, 0-9 and -', '<text>': 'what it is to do' },
  options: {
    '--cron <pattern>': 'minute, hour, day, month and day of the week, such as "0 7 * * 1-5"',
    '--at <time>': 'once, such as 2027-01-31T09:00',
    '--webhook': 'when a signed webhook comes; its secret is shown once',
    '--zone <name>': 'time zone (default: that of this machine)',
    '--fresh': 'reset the agent before each prompt; its files stay',
  },
  examples: EXAMPLES,
  run: async (agents, { agent: agentId, name, text: input, ...options }, output) => {
    const { cron, at, webhook, fresh } = options
    const zone = options.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
    const given = { agentId, name, input, ...pickDefined({ cron, at, webhook, fresh }), zone }
    const made = await agents.call<MadeView>('wasm_agent_schedule', given)
    const { schedule, secret, note } = made
    output.value(made)
    if (secret === undefined) output.line(`${name}  next ${schedule.next}`)
    else {
      output.line(`${name}  POST ${printable(schedule.webhook ?? '')}`)
      output.line(`${' '.repeat(name.length)}  secret ${secret} (shown once)`)
    }
    if (note !== undefined) output.remark(note)
    if (agents.service !== undefined)
      output.remark('no gate runs here: it comes while a gate or `agents serve` has this directory')
  },
})

export const addAgentsSchedules = defineAgentsCommand({
  name: 'schedules',
  description: 'the schedules of all agents: next time, and what became of the last',
  replacedBy: 'call agents/wasm_agent_schedules',
  run: async (agents, _options, output) => {
    const view = await agents.call<{ schedules: readonly ScheduleView[] }>(
      'wasm_agent_schedules',
      {},
    )
    output.value(view)
    for (const schedule of view.schedules) output.line(scheduleLine(schedule))
    if (view.schedules.length === 0) output.line('no schedules')
  },
})

export const addAgentsUnschedule = defineAgentsCommand({
  name: 'unschedule',
  description: 'remove a schedule of an agent',
  replacedBy: 'call agents/wasm_agent_unschedule \'{"agentId": "…", "name": "…"}\'',
  args: { '<agent>': '', '<name>': '' },
  run: async (agents, { agent: agentId, name }, output) => {
    output.value(await agents.call<object>('wasm_agent_unschedule', { agentId, name }))
    output.line(`removed ${name}`)
  },
})

function scheduleLine({ agentId, name, last, ...schedule }: ScheduleView): string {
  const { cron, zone, at, fresh, next } = schedule
  const plan = cron === undefined ? (at ?? 'webhook') : `${cron} ${zone}`
  const became = last === null ? '-' : `${last.at}, ${last.runId ?? ''} ${printable(last.outcome)}`
  const how = fresh ? `${plan} fresh` : plan
  return `${agentId}  ${name}  ${how}  next ${next ?? '-'}  last ${became.replace(/ +/g, ' ')}`
}
