import { describe, expect, test } from 'vitest'
import { nextTime, type PlanArguments, readPlan } from './schedule-plan.ts'

const NOW = Date.parse('2026-11-18T12:00:00Z')
const read = (plan: PlanArguments) => readPlan(plan, NOW)
const times = (plan: PlanArguments, from: string, count = 2) => {
  const made = read(plan)
  const found: string[] = []
  for (let at: number | null = Date.parse(from); found.length < count; ) {
    at = nextTime(made, at)
    if (at === null) return [...found, null]
    found.push(new Date(at).toISOString())
  }
  return found
}

describe('the next time of a schedule', () => {
  test('follows the zone', () => {
    expect(
      times({ cron: '0 7 * * 1-5', zone: 'Europe/Berlin' }, '2026-11-20T06:00:00Z', 1),
    ).toEqual(['2026-11-23T06:00:00.000Z'])
    expect(times({ at: '2026-12-01T09:00', zone: 'Europe/Berlin' }, '2026-11-20T06:00Z')).toEqual([
      '2026-12-01T08:00:00.000Z',
      null,
    ])
    expect(times({ at: '2026-12-01T09:00+02:00' }, '2026-11-20T06:00Z', 1)).toEqual([
      '2026-12-01T07:00:00.000Z',
    ])
  })

  test('comes once on both days of a change of the clock', () => {
    const plan = { cron: '30 2 * * *', zone: 'Europe/Berlin' }
    expect(times(plan, '2027-03-28T00:00:00Z')).toEqual([
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
    expect(times(plan, '2027-10-30T22:00:00Z')).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ])
  })
})

test.each<[PlanArguments, string]>([
  [{}, 'one of `cron`, `at` and `webhook`'],
  [{ cron: '* * * * *', webhook: true }, 'one of `cron`, `at` and `webhook`'],
  [{ cron: '0 0 7 * * *' }, '`0 0 7 * * *` has not five fields'],
  [{ cron: '@daily' }, '`@daily` has not five fields'],
  [{ cron: '61 * * * *' }, '`minute` is 61'],
  [{ cron: '* 25 * * *' }, '`hour` is 25'],
  [{ cron: '*/0 * * * *' }, 'illegal stepping: 0'],
  [{ cron: '0 0 30 2 *' }, '`0 0 30 2 *` never comes'],
  [{ cron: '0 7 * * *', zone: 'Mars/Base' }, 'there is no time zone `Mars/Base`'],
  [{ at: '2026-11-01T09:00' }, '2026-11-01T09:00 has passed'],
  [{ at: '2027-02-31T09:00' }, '`2027-02-31T09:00` is no time'],
  [{ at: 'tomorrow' }, '`tomorrow` is no time'],
])('%j is refused with what is wrong', (plan, why) => {
  expect(() => read(plan)).toThrow(why)
})
