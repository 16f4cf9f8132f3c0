// What every store of alerts promises: a fact belongs to one open alert, the end of one is told by one caller,
// and a message that was claimed and not sent is taken over.

import { expect, test } from 'vitest'
import type { AlertRow, AlertRows } from './alert-rows.ts'
import { ALERTS_KEPT } from './limits.ts'

export interface OpenedAlertRows {
  /** As two gates have them; the same ones if only one can. */
  readonly rows: readonly [AlertRows, AlertRows]
  /** As time does: what is claimed may be taken over. */
  readonly expireClaims: () => Promise<void>
}

export function toAlertRow(id: string, more: Partial<AlertRow> = {}): AlertRow {
  return { id, gate: 'north', atMs: 1, body: `{"of":"${id}"}`, isOpen: true, ...more }
}

/** `open` gives an empty store. */
export function testAlertRows(open: () => Promise<OpenedAlertRows>): void {
  test('of alerts about the same fact one is stored, also at the same time', async () => {
    const { rows } = await open()
    const tries = Array.from({ length: 10 }, (_, at) =>
      (rows[at % 2] as AlertRows).add(toAlertRow(`a${at}`), ['x', `only ${at}`]),
    )
    const taken = await Promise.all(tries)
    expect(taken.filter((facts) => facts.length === 0)).toHaveLength(1)
    expect(new Set(taken.flat())).toEqual(new Set(['x']))
    expect(await rows[1].list()).toHaveLength(1)
    // What the others had alone is free.
    expect(await rows[1].add(toAlertRow('b'), ['only 1', 'only 9'])).toEqual(
      taken[1]?.length === 0 ? ['only 1'] : taken[9]?.length === 0 ? ['only 9'] : [],
    )
  })

  test('the end of an alert is told by one caller, and its facts are free then', async () => {
    const { rows } = await open()
    await rows[0].add(toAlertRow('a'), ['x', 'y'])
    const over = toAlertRow('a', { body: '{"over":true}', isOpen: false })
    const ends = await Promise.all(rows.map((one) => one.end(over, false)))
    expect(ends.sort()).toEqual([false, true])
    // The message that it began was sent after it had ended: nobody wants to know.
    await rows[0].told(toAlertRow('a'))
    expect(await rows[0].list()).toMatchObject([{ id: 'a', body: '{"over":true}', isOpen: false }])
    expect(await rows[1].add(toAlertRow('b'), ['y'])).toEqual([])
  })

  test('a message that was claimed and not sent is taken over once, and not by its sender', async () => {
    const { rows, expireClaims } = await open()
    for (const id of ['told', 'sending', 'killed', 'ended']) await rows[0].add(toAlertRow(id), [id])
    await rows[0].told(toAlertRow('told'))
    await rows[0].end(toAlertRow('ended', { body: '{"over":true}', isOpen: false }), false)
    await expireClaims()
    const taken = await rows[1].takeOver(['sending'])
    expect(taken.map(({ id, body }) => [id, body]).sort()).toEqual([
      ['ended', '{"over":true}'],
      ['killed', '{"of":"killed"}'],
    ])
    for (const row of taken) await rows[1].told(row)
    await expireClaims()
    expect(await rows[0].takeOver(['sending'])).toEqual([])
    // One that ends without a message.
    await rows[0].end(toAlertRow('told', { isOpen: false }), true)
    await expireClaims()
    expect(await rows[0].takeOver(['sending'])).toEqual([])
  })

  test('an alert that was told without the store is stored as it is, beside another about the same', async () => {
    const { rows, expireClaims } = await open()
    await rows[0].put(toAlertRow('a', { atMs: 1 }), ['x'])
    await rows[1].put(toAlertRow('b', { atMs: 2 }), ['x'])
    await rows[1].put(toAlertRow('b', { atMs: 2, isOpen: false }), ['x'])
    await expireClaims()
    expect(await rows[0].takeOver([])).toEqual([])
    const listed = await rows[0].list()
    expect(listed.map(({ id, isOpen }) => [id, isOpen])).toEqual([
      ['b', false],
      ['a', true],
    ])
  })

  test('as many are kept as there is room for, those that are open and others', async () => {
    const { rows } = await open()
    await rows[0].add(toAlertRow('not told', { atMs: 0, isOpen: false }), [])
    for (let at = 1; at <= ALERTS_KEPT + 5; at++)
      for (const isOpen of [true, false])
        await rows[0].put(toAlertRow(`${isOpen} ${at}`, { atMs: at, isOpen }), [`${at}`])
    const ids = (await rows[0].list()).map(({ id }) => id)
    expect(ids).toHaveLength(2 * ALERTS_KEPT + 1)
    expect(ids.at(-1)).toBe('not told')
    expect(ids).not.toContain('true 5')
    expect(await rows[0].add(toAlertRow('a'), ['5'])).toEqual([])
  })
}
