// F5: the stream of a POST that broke. The call goes on, what is said is kept, and the client gets
// the rest with `Last-Event-ID`; bounded in time and size, and never with a gap.

import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { EventParser } from '@sluice/protocol/sse'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'
import {
  REPLAY_EVENTS_MAX,
  REPLAY_KEPT_MS,
  REPLAY_STREAMS_MAX,
  REPLAY_WAIT_MS,
} from '../../shared/limits.ts'
import { type ClientEvents, NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { ReplayStore } from '../exchange/replay.ts'
import type { ResponseWriter } from '../exchange/response-writer.ts'
import { callerOf } from '../http/caller.test-support.ts'
import { HttpSession } from './http-session.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The client's side of one request. */
class Browser implements ResponseWriter {
  #onGone: () => void = () => {}
  readsOnlyEvents = false
  isBegun = false
  isOver = false
  waitingBytes = 0
  status = 0
  text = ''

  whenRead(): void {}

  whenGone(onGone: () => void): void {
    this.#onGone = onGone
  }

  send(status: number, _headers: object, body = ''): void {
    this.begin(status)
    this.text = body
    this.isOver = true
  }

  begin(status: number): void {
    this.status = status
    this.isBegun = true
  }

  write(text: string): void {
    if (!this.isOver) this.text += text
  }

  end(): void {
    this.isOver = true
  }

  destroy(): void {
    this.leave()
  }

  leave(): void {
    if (this.isOver) return
    this.isOver = true
    this.#onGone()
  }

  get data(): string[] {
    const events = new EventParser(decodeUtf8).push(Buffer.from(this.text))
    return events.flatMap((event) => (event.ok ? [event.data] : []))
  }

  get lastId(): string {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  }
}

function open(revision = '2025-11-25', replays = new ReplayStore()) {
  const cancelled: unknown[] = []
  const onMessage: ClientEvents['onMessage'] = (message) => {
    if (message.kind === 'notification') cancelled.push(message.params?.value.requestId)
  }
  const session = new HttpSession({
    id: 's',
    sessionKey: 'mcp s',
    server: 'a',
    caller: callerOf('ann'),
    nowMs: 0,
    replays,
    revision,
    connect: () => ({ ...NO_CLIENT_EVENTS, onMessage }),
  })
  const post = (id: RequestId): Browser => {
    const browser = new Browser()
    const call: JsonRpcMessage = {
      kind: 'request',
      id,
      method: 'tools/call',
      params: undefined,
      source: '',
    }
    session.accept([call], false, {}, browser)
    return browser
  }
  const get = (lastEventId: string): Browser => {
    const browser = new Browser()
    session.listen(browser, lastEventId)
    return browser
  }
  const tell = (request: RequestId, text: string) => session.send(text, { request })
  const answer = (request: RequestId, text: string) =>
    session.send(text, { request, answers: true })
  return { session, post, get, tell, answer, cancelled }
}

describe('F5: a POST stream that broke', () => {
  test('goes on by GET: what was missed, what comes, and the answer, each once and with its id', () => {
    const { post, get, tell, answer, cancelled } = open()
    const broken = post(1)
    const other = post(2)
    tell(1, '"one"')
    tell(2, '"of another"')
    expect(broken.text).toMatch(/^id: p1-0\nretry: 1000\ndata: \n\nid: p1-1\ndata: "one"\n\n$/)
    broken.leave()
    tell(1, '"two"')
    const back = get(broken.lastId)
    tell(1, '"three"')
    back.leave()
    expect(answer(1, '"answer"')).toBe(true)
    const last = get(back.lastId)
    expect([back.data, last.data]).toEqual([['"two"', '"three"'], ['"answer"']])
    expect(last.isOver).toBe(true)
    // From the first event on as well, as often as it is asked for.
    expect(get('p1-0').data).toEqual(['"one"', '"two"', '"three"', '"answer"'])
    expect(other.data).toEqual(['', '"of another"'])
    expect(cancelled).toEqual([])
  })

  test('that the server behind ended is ended, to be come back to', () => {
    const { session, post, get, answer } = open()
    const polled = post(1)
    session.suspend(1)
    session.suspend(1)
    expect([polled.isOver, polled.lastId, polled.data]).toEqual([true, 'p1-0', ['']])
    const back = get('p1-0')
    answer(1, '"answer"')
    expect([back.data, back.isOver]).toEqual([['"answer"'], true])
  })

  test('is given up where the client does not come back in time', () => {
    const { post, get, tell, answer, cancelled } = open()
    const broken = post(1)
    tell(1, '"one"')
    broken.leave()
    vi.advanceTimersByTime(REPLAY_WAIT_MS - 1)
    expect(cancelled).toEqual([])
    vi.advanceTimersByTime(1)
    expect(cancelled).toEqual([1])
    expect(answer(1, '"late"')).toBe(false)
    expect(get('p1-1').status).toBe(410)
  })

  test('without an id to come back with is cancelled at once', () => {
    const { post, tell, cancelled } = open()
    post(1).leave()
    expect(cancelled).toEqual([1])
    // The answer to `initialize` is what tells the client its session.
    const early = open('')
    const opening = early.post('i')
    early.tell('i', '"x"')
    expect(opening.text).not.toContain('id:')
    tell(1, '"nobody"')
  })

  test('in an older revision has ids, and no event without data', () => {
    const { session, post, get, tell, answer } = open('2025-06-18')
    const broken = post(1)
    session.suspend(1)
    expect([broken.isOver, broken.text]).toEqual([false, ''])
    tell(1, '"one"')
    expect(broken.text).toBe('id: p1-1\ndata: "one"\n\n')
    broken.leave()
    answer(1, '"answer"')
    expect(get('p1-1').data).toEqual(['"answer"'])
  })
})

describe('F5: what is kept', () => {
  test('is kept for a while after the answer, and until the session ends', () => {
    const { session, post, get, tell, answer } = open()
    post(1)
    tell(1, '"one"')
    answer(1, '"answer"')
    expect(get('p1-1').data).toEqual(['"answer"'])
    vi.advanceTimersByTime(REPLAY_KEPT_MS)
    const late = get('p1-1')
    expect([late.status, late.text]).toEqual([410, expect.stringContaining('no longer kept')])
    post(2)
    tell(2, '"one"')
    session.close('done')
    expect(get('p2-0').status).toBe(410)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each(['p9-0', 'p1-2', 'p1-99999999999999999', 'p0-0'])('is not %s', (id) => {
    const { post, get, tell } = open()
    post(1)
    tell(1, '"one"')
    expect(get('p1-1').status).toBe(200)
    // An id that no stream has is as good as none; what is gone is told.
    expect([get(id).status, get(id).data]).toEqual([id.length > 18 ? 200 : 410, []])
  })

  test('is bounded over all sessions, and what has a gap is refused', () => {
    const replays = new ReplayStore(100)
    const first = open('2025-11-25', replays)
    const second = open('2025-11-25', replays)
    for (const each of [first, second]) each.post(1)
    first.tell(1, 'a'.repeat(40))
    first.tell(1, 'b'.repeat(40))
    second.tell(1, 'c'.repeat(40))
    expect(first.get('p1-0').status).toBe(410)
    expect(first.get('p1-1').data).toEqual(['b'.repeat(40)])
    expect(second.get('p1-0').data).toEqual(['c'.repeat(40)])
    // One that is too large for all of it leaves nothing, and nothing is owed.
    second.tell(1, 'd'.repeat(101))
    expect([first.get('p1-1').status, second.get('p1-1').status]).toEqual([410, 410])
    first.tell(1, 'e'.repeat(90))
    expect(first.get('p1-2').data).toEqual(['e'.repeat(90)])
  })

  test('is bounded in events of a stream, and in streams of a session', () => {
    const { post, get, tell, answer, cancelled } = open()
    post(0)
    for (let count = 0; count <= REPLAY_EVENTS_MAX; count++) tell(0, '1')
    expect(get('p1-0').status).toBe(410)
    const away = get('p1-1')
    expect(away.data).toHaveLength(REPLAY_EVENTS_MAX)
    away.leave()
    for (let id = 1; id <= REPLAY_STREAMS_MAX; id++) {
      post(id)
      tell(id, '1')
      answer(id, '2')
    }
    expect(get(`p1-${REPLAY_EVENTS_MAX}`).status).toBe(410)
    expect(cancelled).toEqual([0])
    expect(get('p2-1').data).toEqual(['2'])
  })
})

test('a client that comes back with a number from before a restart, when the clock was ahead, misses nothing', () => {
  const { session, get } = open()
  session.send('"one"')
  expect(get('g9000000000000').data).toEqual(['"one"'])
})
