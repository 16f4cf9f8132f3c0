// A full disk and a read-only one: no call is forwarded, denials are still written from the
// reserve, and everything recovers automatically.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openLedgerReadOnly, recordsFrom } from './chain/read.ts'
import { type Reserve, ReserveFile } from './chain/reserve.ts'
import { decisionEntry, denied } from './decision-entries.test-support.ts'
import { Ledger } from './ledger.ts'
import { freshDirectory } from './samples.test-support.ts'
import { verifyLedger } from './verify/verify.ts'

const RECORD_PAGES = 5

/** A disk with this many pages, of which some are reserved. */
class PageDisk implements Reserve {
  readonly database: DatabaseSync
  readonly setAside: number
  pagesMax: number
  constructor(database: DatabaseSync, pagesMax: number, setAside: number) {
    this.database = database
    this.pagesMax = pagesMax
    this.setAside = setAside
  }
  fill(): boolean {
    const used = Number(this.database.prepare('PRAGMA page_count').get()?.page_count)
    // With space for a record: otherwise it would retry in vain.
    if (used > this.pagesMax - this.setAside - RECORD_PAGES) return false
    this.database.exec(`PRAGMA max_page_count = ${this.pagesMax - this.setAside}`)
    return true
  }
  release(): void {
    this.database.exec(`PRAGMA max_page_count = ${this.pagesMax}`)
  }
}

const large = { judged: { 'args.note': 'x'.repeat(3_000) } }

function onSmallDisk(directory: string) {
  let disk: PageDisk | undefined
  const ledger = Ledger.open({
    directory,
    reserve: (database) => {
      disk = new PageDisk(database, 100, 30)
      return disk
    },
  })
  onTestFinished(() => ledger.close())
  return { ledger, disk: disk as PageDisk }
}

async function fillUp(ledger: Ledger): Promise<number> {
  for (let n = 0; n < 1_000; n++) {
    const error = await ledger.intent(decisionEntry(n, large)).then(
      () => undefined,
      (reason) => reason,
    )
    if (error === undefined) continue
    expect(error).toMatchObject({ code: 'LEDGER_UNAVAILABLE', why: 'STORE_FULL' })
    return n
  }
  throw new Error('the disk never got full')
}

test('on a full disk denials and events are written from the reserve, intents refused', async () => {
  const directory = freshDirectory()
  const { ledger, disk } = onSmallDisk(directory)
  const written = await fillUp(ledger)
  expect(written).toBeGreaterThan(20)
  expect(ledger.state).toBe('reserve')
  await ledger.refuse(decisionEntry(0, { decision: denied }))
  await ledger.event({ atMs: 1, name: 'freeze', detail: null })
  ledger.outcome(1, { atMs: 1, status: 'answered' })
  await expect(ledger.intent(decisionEntry(0))).rejects.toMatchObject({ why: 'STORE_FULL' })

  disk.pagesMax = 200
  await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
  await ledger.intent(decisionEntry(1))
  ledger.close()
  const database = openLedgerReadOnly(directory)
  expect(verifyLedger(database).problems).toEqual([])
  const kinds = [...recordsFrom(database, written + 1)].map((record) =>
    record.kind === 'event' ? record.name : record.kind,
  )
  expect(kinds).toEqual(['ledger-reserve', 'refusal', 'freeze', 'outcome', 'intent'])
})

test('when the reserve is used up too, nothing is promised, and it recovers', async () => {
  const { ledger, disk } = onSmallDisk(freshDirectory())
  await fillUp(ledger)
  let written = 0
  while (ledger.state === 'reserve')
    await ledger.refuse(decisionEntry(0, { ...large, decision: denied })).then(
      () => written++,
      (error) => expect(error).toMatchObject({ code: 'LEDGER_UNAVAILABLE', why: 'STORE_FULL' }),
    )
  expect(written).toBeGreaterThan(10)
  expect(ledger.state).toBe('failing')
  disk.pagesMax = 500
  disk.release()
  await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
})

test('a start on a full disk forwards nothing, and recovers automatically', async () => {
  const directory = freshDirectory()
  let room = false
  const reserve = { fill: () => room, release: () => {} }
  const ledger = Ledger.open({ directory, reserve: () => reserve })
  onTestFinished(() => ledger.close())
  await expect(ledger.intent(decisionEntry(1))).rejects.toMatchObject({ why: 'STORE_FULL' })
  await ledger.refuse(decisionEntry(2))
  room = true
  await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
})

test('a ledger that becomes read-only refuses, and recovers', async () => {
  let database: DatabaseSync | undefined
  const ledger = Ledger.open({
    directory: freshDirectory(),
    reserve: (given) => {
      database = given
      return { fill: () => true, release: () => {} }
    },
  })
  onTestFinished(() => ledger.close())
  database?.exec('PRAGMA query_only = ON')
  await expect(ledger.intent(decisionEntry(1))).rejects.toMatchObject({ why: 'STORE_READ_ONLY' })
  expect(ledger.state).toBe('failing')
  database?.exec('PRAGMA query_only = OFF')
  await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
  expect(await ledger.intent(decisionEntry(1))).toBe(2)
})

test('a directory that may not be written: no start, but it can be read', async () => {
  const directory = freshDirectory()
  const ledger = Ledger.open({ directory })
  await ledger.intent(decisionEntry(1))
  ledger.close()
  chmodSync(join(directory, 'ledger.db'), 0o444)
  chmodSync(directory, 0o555)
  onTestFinished(() => chmodSync(directory, 0o755))
  // File modes do not apply to root, so the process becomes the directory's user once its code is
  // loaded.
  if (process.getuid?.() === 0)
    for (const path of ['', ...readdirSync(directory)])
      chownSync(join(directory, path), NOBODY, NOBODY)
  const script = `
    import { Ledger } from '${join(import.meta.dirname, 'ledger.ts')}'
    import { openLedgerReadOnly, recordsFrom } from '${join(import.meta.dirname, 'chain/read.ts')}'
    if (process.getuid?.() === 0) process.setuid(${NOBODY})
    const directory = ${JSON.stringify(directory)}
    let code = 'opened'
    try { Ledger.open({ directory }) } catch (error) { code = error.code }
    console.log(code, [...recordsFrom(openLedgerReadOnly(directory))].length)`
  // That user has another key: the operator declares the directory as trusted.
  const env = { ...process.env, SLUICE_TRUST_DATA: directory }
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env })
  expect(output.toString().trim()).toBe('STORE_READ_ONLY 1')
})

test('the reserve is created once, released, and not created if space is short', () => {
  const directory = freshDirectory()
  const file = join(directory, 'ledger.reserve')
  const reserve = new ReserveFile(directory, 100_000)
  expect([reserve.fill(), statSync(file).size, reserve.fill()]).toEqual([true, 100_000, true])
  reserve.release()
  expect(existsSync(file)).toBe(false)
  expect(new ReserveFile(directory, Number.MAX_SAFE_INTEGER).fill()).toBe(false)
  expect(new ReserveFile(join(directory, 'nowhere')).fill()).toBe(false)
})

const NOBODY = 65_534

const SMALL_DISK = 'mount -t tmpfs -o size=12m,mode=700 tmpfs "$1" && exec "$2" "$3" "$1"'
const canMount =
  spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /tmp']).status === 0

test.runIf(canMount)('on a disk that really is full', () => {
  const directory = freshDirectory()
  const child = fileURLToPath(new URL('./full-disk.test-support.ts', import.meta.url))
  const output = execFileSync(
    'unshare',
    ['-rm', 'sh', '-c', SMALL_DISK, 'sh', directory, process.execPath, child],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  expect(JSON.parse(output.toString())).toEqual({
    refused: { code: 'LEDGER_UNAVAILABLE', why: 'STORE_FULL' },
    denialsWritten: 500,
    intentWhileFull: 'LEDGER_UNAVAILABLE',
    intentAfter: 'number',
    states: ['reserve', 'writing'],
    problems: [],
  })
})
