// The tools for schedules: prompts that come at a time or with a webhook. What they begin is in
// service/schedules.ts; here are arguments and answers.

import { z } from 'zod'
import type { SchedulePlan } from '../journal/schedule-plan.ts'
import type { MadeSchedule } from '../service/service-types.ts'
import type { ScheduleStatus } from '../step-thread/operation-results.ts'
import { findWriter } from './find-writer.ts'
import { visibleFamily } from './label-flow.ts'
import { agentId, success, type ToolEntry, text, tool } from './tool-table.ts'

const scheduleName = text
  .regex(/^[a-z0-9-]{1,32}$/, 'write 1 to 32 of a-z, 0-9 and `-`')
  .describe('its name; one of the same name is replaced')

/** The form of `ScheduleView` with some of its members: all of them would cost a model tokens in every list. */
const scheduleShape = z.looseObject({ agentId: text, name: text, next: text.nullable() })

/** A schedule as callers see it; times are ISO 8601. */
export type ScheduleView = {
  readonly agentId: string
  readonly name: string
  readonly cron?: string
  readonly zone?: string
  readonly at?: string
  /** Where the webhook goes; a path if the gate does not know its public address. */
  readonly webhook?: string
  readonly fresh: boolean
  readonly input: string
  readonly next: string | null
  readonly last: {
    readonly at: string
    /** The time that it was for; null for a webhook. */
    readonly due: string | null
    readonly runId: string | null
    /** Why the run stopped, that it goes on, or why none was begun. */
    readonly outcome: string
  } | null
}

export const SCHEDULE_TOOLS: readonly ToolEntry[] = [
  tool({
    name: 'wasm_agent_schedule',
    title: 'Schedule an agent',
    description:
      'Prompts a WASM agent by itself: at the times of `cron`, once at `at`, or whenever a signed webhook comes. Use it for work that begins when nobody asks. Each prompt is a call that the policy decides.',
    category: 'Execute',
    input: z.strictObject({
      agentId,
      name: scheduleName,
      input: text.min(1).describe('what it is to do'),
      cron: text.max(100).optional().describe('minute hour day month weekday: `0 7 * * 1-5`'),
      at: text.max(40).optional().describe('once: `2027-01-31T09:00`'),
      webhook: z.boolean().optional().describe('true: when one comes; the answer has its secret'),
      zone: text.max(64).optional().describe('time zone, such as Europe/Berlin; UTC without it'),
      fresh: z.boolean().optional().describe('reset it before each prompt; files stay'),
    }),
    output: z.strictObject({
      success,
      schedule: scheduleShape,
      secret: text.optional(),
      note: text.optional(),
    }),
    run: async ({ agentId: id, ...schedule }, setting) => {
      const { service, owner } = setting
      const writer = findWriter(schedule.input, setting)
      const made = await service.schedule(owner, id, schedule, writer)
      const { secret, publicUrl } = made
      const view = scheduleView(made.status, publicUrl)
      const note = noteOn(made)
      return {
        success: true,
        schedule: view,
        ...(secret === undefined ? {} : { secret: `whsec_${secret.toString('base64')}` }),
        ...(note === undefined ? {} : { note }),
      }
    },
  }),
  tool({
    name: 'wasm_agent_schedules',
    title: 'List schedules',
    description:
      'Lists the schedules of your WASM agents with their next time and what became of the last one: the run, or why there was none. Use it to see what comes by itself.',
    category: 'Read',
    input: z.strictObject({}),
    output: z.strictObject({ schedules: z.array(scheduleShape) }),
    run: async (_, setting) => {
      const { service, owner } = setting
      const family = (await visibleFamily(setting)) ?? null
      const rows = await service.steps.schedules(owner, family)
      return { schedules: rows.map((row) => scheduleView(row)) }
    },
  }),
  tool({
    name: 'wasm_agent_unschedule',
    title: 'Remove a schedule',
    description:
      'Removes a schedule of a WASM agent: it is not prompted by it any more. A run that it has begun goes on. Use it to end or to stop work that comes by itself.',
    category: 'Write',
    input: z.strictObject({ agentId, name: text.max(64).describe('as it was scheduled') }),
    output: z.strictObject({ success, agentId: text, name: text }),
    run: async ({ agentId: id, name }, { service, owner }) => {
      await service.unschedule(owner, id, name)
      return { success: true, agentId: id, name }
    },
  }),
]

export function scheduleView(row: ScheduleStatus, publicUrl = ''): ScheduleView {
  const { agent, name, plan, input, nextMs, last, run } = row
  const outcome = last?.refused ?? (run?.result?.stop.reason || 'running')
  return {
    agentId: agent,
    name,
    ...planView(plan, `${publicUrl}/triggers/${agent}/${name}`),
    fresh: plan.fresh,
    input,
    next: toIso(nextMs),
    last: last && {
      at: new Date(last.atMs).toISOString(),
      due: toIso(last.dueMs),
      runId: last.runId,
      outcome: last.refused === null && run === null ? 'its run has left the history' : outcome,
    },
  }
}

function planView(
  plan: SchedulePlan,
  address: string,
): Pick<ScheduleView, 'cron' | 'zone' | 'at' | 'webhook'> {
  if ('cron' in plan) return { cron: plan.cron, zone: plan.zone }
  if ('atMs' in plan) return { at: new Date(plan.atMs).toISOString() }
  return { webhook: address }
}

/** How far the limits of the agent reach: they count for its life unless the agent is reset before each prompt. */
function noteOn({ status, agent, family }: MadeSchedule): string | undefined {
  const { plan } = status
  const { maxTurns, maxCostMicros } = family.limits
  if ('atMs' in plan) return undefined
  if (!plan.fresh) {
    const used = agent.summary.turnCount
    return `${used} of ${maxTurns} turns used in its life: about ${Math.max(0, maxTurns - used)} more; make the schedule \`fresh\`, or resume the agent with a higher limit`
  }
  if (family.members > 1)
    return 'the agent has a family: a reset does not give back what the family has used'
  return maxCostMicros === null ? undefined : 'its limit on cost is a limit of each run'
}

function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
