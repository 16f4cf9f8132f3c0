// Slots: nothing a client does gives it a fresh session before half an hour without a call.

import { describe, expect, test } from 'vitest'
import { LOCAL_SLOTS, SLOT_IDLE_MS, SLOT_PRINCIPALS_KEPT } from '../limits.ts'
import { SessionQuota } from './session-quota.ts'

const T = 1_000_000

describe('slots', () => {
  test('fifty connections share four sessions, evenly', () => {
    const slots = new SessionQuota()
    const uses = Array.from({ length: 50 }, (_, at) => slots.open('ann', LOCAL_SLOTS, T + at))
    const ids = uses.map((use) => use.facts(T + 99).id)
    expect(new Set(ids).size).toBe(4)
    for (const id of new Set(ids))
      expect(ids.filter((other) => other === id).length).toBeGreaterThanOrEqual(12)
  })

  test('principals without end: those whose slots are over are forgotten, others are not', () => {
    const slots = new SessionQuota()
    const stays = slots.open('stays', 1, T)
    stays.see(['private'], T)
    const rests = slots.openLasting('agent', T)
    rests.see(['private'], T)
    rests.release()
    for (let at = 0; at < SLOT_PRINCIPALS_KEPT * 3; at += 1)
      slots.open(`visitor ${at}`, 1, T).release()
    expect(slots.principals).toBeGreaterThan(SLOT_PRINCIPALS_KEPT * 3)
    for (let at = 0; at < SLOT_PRINCIPALS_KEPT * 3; at += 1)
      slots.open(`later ${at}`, 1, T + SLOT_IDLE_MS).release()
    expect(slots.principals).toBeLessThanOrEqual(SLOT_PRINCIPALS_KEPT * 4)
    stays.asked(T + SLOT_IDLE_MS)
    expect(stays.facts(T + SLOT_IDLE_MS).saw).toEqual(['private'])
    expect(slots.openLasting('agent', T + SLOT_IDLE_MS).facts(T + SLOT_IDLE_MS).saw).toEqual([
      'private',
    ])
  })

  test('another principal has others', () => {
    const slots = new SessionQuota()
    const ids = ['ann', 'bob'].map((who) => slots.open(who, 1, T).facts(T).id)
    expect(new Set(ids).size).toBe(2)
  })

  test('reconnecting takes the slot that was unused the longest, as it was', () => {
    const slots = new SessionQuota()
    const first = slots.open('ann', 2, T)
    const second = slots.open('ann', 2, T)
    first.asked(T + 1)
    first.used()
    first.see(['private'], T + 1)
    second.asked(T + 2)
    const { id } = first.facts(T + 2)
    first.release()
    second.release()
    const again = slots.open('ann', 2, T + 3).facts(T + 3)
    expect(again).toEqual({ id, startedAtMs: T, calls: 1, saw: ['private'] })
  })

  test('a slot begins anew after half an hour without a call, and not before', () => {
    const use = new SessionQuota().open('ann', 1, T)
    use.asked(T)
    use.see(['private'], T)
    const { id } = use.facts(T + SLOT_IDLE_MS - 1)
    const fresh = use.facts(T + SLOT_IDLE_MS)
    expect(fresh.id).not.toBe(id)
    expect(fresh).toMatchObject({ startedAtMs: T + SLOT_IDLE_MS, calls: 0, saw: [] })
    expect(use.facts(T + SLOT_IDLE_MS + 1).id).toBe(fresh.id)
  })

  test('F11: what is read after a rest is not forgotten by the call that follows', () => {
    const slots = new SessionQuota()
    const use = slots.open('ann', 1, T)
    use.asked(T)
    use.see(['old'], T)
    const later = T + SLOT_IDLE_MS
    use.see(['private'], later)
    expect(use.facts(later + 1).saw).toEqual(['private'])
    expect(slots.list(later + 1)).toMatchObject([{ saw: ['private'] }])
  })

  test('says which labels are new', () => {
    const use = new SessionQuota().open('ann', 1, T)
    expect(use.see(['a', 'b', 'a'], T)).toEqual(['a', 'b'])
    expect(use.see(['b', 'c'], T)).toEqual(['c'])
  })

  test('goes on after a restart where it was, whatever the name of the principal', () => {
    const slots = new SessionQuota()
    slots.restore('a#1@2#1@500', T, 7, ['private'])
    slots.restore('no slot', T, 1, [])
    const uses = [0, 1].map(() => slots.open('a#1@2', 2, T + 1).facts(T + 1))
    expect(uses).toContainEqual({
      id: 'a#1@2#1@500',
      startedAtMs: 500,
      calls: 7,
      saw: ['private'],
    })
  })
})
