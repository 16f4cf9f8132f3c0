// Processes of all sessions together: never more than the bound, who gives a place up, who waits.

import { describe, expect, test } from 'vitest'
import { defaultProcessesMax, type ProcessLease, ProcessQuota } from './process-quota.ts'

const MAX = 4
const WAIT_MS = 30

/** A session with one process, which gives it up when it is told to. */
class Session {
  isResting = false
  place: ProcessLease | undefined
  spare: number | undefined

  constructor(spare: number | undefined) {
    this.spare = spare
  }

  close(): void {
    this.isResting = true
  }

  /** Its process is gone. */
  end(): void {
    this.place?.ended()
    this.place = undefined
  }
}

function makeRoom() {
  const room = new ProcessQuota({ max: MAX, waitMs: WAIT_MS })
  const enter = async (spare: number | undefined, owner = 'ann'): Promise<Session> => {
    const session = new Session(spare)
    session.place = await room.enter(session, owner)
    return session
  }
  return { room, enter }
}

describe('suites F3: room for processes', () => {
  test('the session that is spared most easily gives its process up, and stays', async () => {
    const { enter } = makeRoom()
    const [pipe, used, unused] = [await enter(undefined), await enter(7), await enter(3)]
    await enter(9)
    const waiting = enter(10)
    expect([pipe, used, unused].map(({ isResting }) => isResting)).toEqual([false, false, true])
    unused.end()
    expect((await waiting).place).toBeDefined()
  })

  test('whoever has the most gives one up, or one principal could push out all others', async () => {
    const { enter } = makeRoom()
    const anns = await enter(1, 'ann')
    const bobs = [await enter(2, 'bob'), await enter(3, 'bob'), await enter(4, 'bob')]
    const waiting = enter(99, 'bob')
    expect([anns, ...bobs].map(({ isResting }) => isResting)).toEqual([false, true, false, false])
    bobs[0]?.end()
    await waiting
  })

  test('where none can be spared one waits, in order, for a stated time, and is told the setting', async () => {
    const { room, enter } = makeRoom()
    const all = await Promise.all(Array.from({ length: MAX }, () => enter(undefined)))
    const order: number[] = []
    const first = enter(undefined).then(() => order.push(1))
    const second = enter(undefined).then(() => order.push(2))
    all[0]?.end()
    await first
    // It has become idle meanwhile.
    ;(all[1] as Session).spare = 1
    room.look()
    expect(all[1]?.isResting).toBe(true)
    all[1]?.end()
    await second
    expect(order).toEqual([1, 2])
    await expect(enter(undefined)).rejects.toThrow(
      `all ${MAX} processes of servers are in use, and none ended within ${WAIT_MS} ms`,
    )
  })

  test('a process that will not end keeps its place: never more than the bound', async () => {
    const { enter } = makeRoom()
    const all = await Promise.all(Array.from({ length: MAX }, (_, at) => enter(at)))
    await expect(enter(1)).rejects.toThrow('in use')
    all[0]?.end()
    await enter(1)
    await expect(enter(1)).rejects.toThrow('in use')
  })

  test('by default there are as many as the memory allows, a container’s where there is one', () => {
    const GiB = 1_024 ** 3
    expect([0.25, 0.5, 2, 8, 1_000].map((gib) => defaultProcessesMax(gib * GiB))).toEqual([
      4, 4, 16, 64, 256,
    ])
    expect(defaultProcessesMax()).toBeGreaterThanOrEqual(4)
  })
})
