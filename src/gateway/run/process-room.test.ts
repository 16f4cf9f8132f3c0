// Processes of all sessions together: never more than the bound, and who makes room for whom.

import { describe, expect, test } from 'vitest'
import { PROCESS_SESSIONS_MAX, PROCESSES_MAX } from '../limits.ts'
import type { ClientLink } from '../link.ts'
import { type Place, ProcessRoom } from './process-room.ts'

/** A session that has `count` processes and leaves them when it is closed. */
class Session {
  closed = false
  readonly places: Place[] = []
  readonly link: ClientLink

  readonly #owner: string

  constructor(spare: number | undefined, owner = 'ann') {
    this.#owner = owner
    this.link = {
      era: 'session',
      spare,
      revision: '',
      send: () => true,
      drop() {},
      onMessage() {},
      onClose() {},
      onPressure() {},
      close: () => {
        this.closed = true
        for (const place of this.places) place.leave()
      },
    }
  }

  takes(room: ProcessRoom, count: number): this {
    for (let taken = 0; taken < count; taken++) {
      const place = room.take(this.link, this.#owner)
      if (place !== undefined) this.places.push(place)
    }
    return this
  }
}

describe('room for processes', () => {
  test('the session that is spared most easily makes room, with all it has', () => {
    const room = new ProcessRoom()
    const pipe = new Session(undefined).takes(room, 10)
    const used = new Session(7).takes(room, 10)
    const unused = new Session(3).takes(room, 12)
    expect(new Session(9).takes(room, 12).places).toHaveLength(12)
    expect([pipe.closed, used.closed, unused.closed]).toEqual([false, false, true])
  })

  test('whoever has the most gives one up, or one principal could push out all others', () => {
    const room = new ProcessRoom()
    const anns = new Session(1, 'ann').takes(room, 1)
    const bobs = Array.from({ length: 31 }, (_, at) => new Session(at + 2, 'bob').takes(room, 1))
    new Session(99, 'bob').takes(room, 1)
    expect(anns.closed).toBe(false)
    expect(bobs.filter(({ closed }) => closed)).toEqual([bobs[0]])
  })

  test('there is none where no session can be spared', () => {
    const room = new ProcessRoom()
    const pipe = new Session(undefined).takes(room, PROCESS_SESSIONS_MAX)
    expect(room.take(new Session(1).link, 'ann')).toBeUndefined()
    pipe.places[0]?.ended()
    expect(room.take(new Session(undefined).link, 'ann')).toBeDefined()
    expect(room.take(new Session(1).link, 'ann')).toBeUndefined()
  })

  test('processes that will not end count, though nobody needs them', () => {
    const room = new ProcessRoom()
    const sessions = Array.from({ length: 100 }, (_, at) => new Session(at).takes(room, 1))
    const living = sessions.flatMap(({ places }) => places)
    expect(living).toHaveLength(PROCESSES_MAX)
    living[0]?.ended()
    expect(room.take(new Session(1_000).link, 'ann')).toBeDefined()
    expect(room.take(new Session(1_001).link, 'ann')).toBeUndefined()
  })
})
