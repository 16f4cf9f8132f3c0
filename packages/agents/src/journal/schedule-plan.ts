// When a schedule prompts its agent: at the times of a cron pattern, once, or whenever a webhook comes. Reads
// what a caller gave and refuses what would never come. Pure, but for the time zones that the runtime knows.

import { Cron } from 'croner'
import { AgentError } from '../shared/errors.ts'

/** When a schedule is due, in the form in which it is stored. */
export type SchedulePlan =
  | { readonly cron: string; readonly zone: string; readonly fresh: boolean }
  | { readonly atMs: number; readonly fresh: boolean }
  /** When the schedule was made: a part of its secret, so that a new schedule has a new one. */
  | { readonly webhookMadeMs: number; readonly fresh: boolean }

export interface PlanArguments {
  readonly cron?: string | undefined
  readonly at?: string | undefined
  readonly webhook?: boolean | undefined
  readonly zone?: string | undefined
  readonly fresh?: boolean | undefined
}

/** Keeps out seconds, years and words such as `@daily`. */
const FIVE_FIELDS = /^(\S+ ){4}\S+$/
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?$/

export function readPlan(
  { cron, at, webhook = false, zone = 'UTC', fresh = false }: PlanArguments,
  nowMs: number,
): SchedulePlan {
  const kinds = [cron !== undefined, at !== undefined, webhook].filter(Boolean).length
  if (kinds !== 1) throw wrong('a schedule has one of `cron`, `at` and `webhook`')
  checkZone(zone)
  if (cron !== undefined) {
    const plan = { cron, zone, fresh }
    checkCron(plan, nowMs)
    return plan
  }
  return at === undefined
    ? { webhookMadeMs: nowMs, fresh }
    : { atMs: readTime(at, zone, nowMs), fresh }
}

/** The first time after this one; null if there is none. */
export function nextTime(plan: SchedulePlan, afterMs: number): number | null {
  if ('atMs' in plan) return plan.atMs > afterMs ? plan.atMs : null
  if ('webhookMadeMs' in plan) return null
  const cron = new Cron(plan.cron, { mode: '5-part', timezone: plan.zone })
  return cron.nextRun(new Date(afterMs))?.getTime() ?? null
}

function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw wrong(`\`zone\`: there is no time zone \`${zone}\`; write one such as \`Europe/Berlin\``)
  }
}

function checkCron(plan: { cron: string; zone: string; fresh: boolean }, nowMs: number): void {
  const { cron } = plan
  if (!FIVE_FIELDS.test(cron))
    throw wrong(
      `\`cron\`: \`${cron}\` has not five fields: minute, hour, day, month, day of the week`,
    )
  let next: number | null
  try {
    next = nextTime(plan, nowMs)
  } catch (error) {
    const text = (error as Error).message.replace(/^CronPattern: /, '')
    const [, field, value] = /^Invalid value for (\w+): (.*)$/.exec(text) ?? []
    throw wrong(
      `\`cron\`: ${field === undefined ? text : `\`${field}\` is ${value}`} in \`${cron}\``,
    )
  }
  if (next === null) throw wrong(`\`cron\`: \`${cron}\` never comes`)
}

function readTime(at: string, zone: string, nowMs: number): number {
  const found = LOCAL_TIME.test(at) ? readInstant(at, zone) : undefined
  if (found === undefined)
    throw wrong(`\`at\`: \`${at}\` is no time; write one such as \`2027-01-31T09:00\``)
  if (found <= nowMs) throw wrong(`\`at\`: ${at} has passed`)
  return found
}

/** Reads a time. If it has an offset, the zone says nothing. Returns undefined if the calendar has no such time. */
function readInstant(at: string, zone: string): number | undefined {
  const hasOffset = /(Z|[+-]\d\d:\d\d)$/.test(at)
  const minute = at.slice(0, 'yyyy-mm-ddThh:mm'.length)
  const utc = Date.parse(`${minute}Z`)
  // A 31st of February is read as a day of March.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(minute)) return undefined
  return hasOffset
    ? Date.parse(at)
    : new Cron(at, { timezone: zone }).nextRun(new Date(0))?.getTime()
}

function wrong(message: string): AgentError {
  return new AgentError('AGENT_INPUT', message)
}
