// The lock file in force, and how it changes: pins that go tighten at once; pins that come or change,
// and a lock file that goes, may loosen and wait for a person (`sluice policy apply`), since an agent
// with a file tool could have written it. What is in force is kept in gate.db, so that a restart is no
// way around.

import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { Person } from '@sluice/access/identity/person'
import { toActor } from '@sluice/access/identity/person'
import { type Pin, readLock } from '@sluice/catalogue/pins/lock-file'
import { recordFirst } from '@sluice/ledger/record-first'
import { toToolKey } from '@sluice/policy/calls/tools'
import { Listeners } from '@sluice/policy/structures/listeners'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { JsonObject } from '@sluice/policy/values/json'
import { LOOSENINGS_SHOWN_MAX } from '../shared/limits.ts'
import type { StateOptions } from '../shared/state-options.ts'

export interface LockOptions extends StateOptions {
  readonly path: string
}

/** Undefined: no lock file. */
type LockPins = readonly Pin[] | undefined

export class ActiveLockFile {
  readonly #options: LockOptions
  #now: LockPins
  #waiting: { readonly pins: LockPins; readonly digest: string } | undefined
  #broken: string | undefined
  readonly #changed = new Listeners<[pins: LockPins]>()
  readonly onChange = this.#changed.subscribe

  /** Throws if the file is none the first time: without it the gate would trust what somebody
   * reviewed it not to. */
  constructor(options: LockOptions) {
    this.#options = options
    const row = options.store.prepare('SELECT pins FROM lock').get()
    if (row === undefined) {
      this.#now = this.#read()
      this.#keep()
      return
    }
    this.#now = row.pins === null ? undefined : (JSON.parse(String(row.pins)) as Pin[])
    this.look()
    if (this.#broken !== undefined) throw new Error(this.#broken)
  }

  get now(): LockPins {
    return this.#now
  }

  /** Says to a person what waits or is wrong; empty if the file is what is in force. */
  get why(): string {
    if (this.#broken !== undefined) return `the lock file is as it was: ${this.#broken}`
    if (this.#waiting === undefined) return ''
    return 'a lock file that may loosen waits for `sluice policy apply`'
  }

  /** The file may have changed. */
  look(): void {
    const { log } = this.#options
    const previous = this.why
    try {
      const pins = this.#read()
      this.#broken = undefined
      const tighter = this.#tightened(pins)
      if (digestPins(tighter) !== digestPins(this.#now)) {
        this.#put(tighter)
        log('info', 'the lock file was changed: pins that are gone no longer hold')
      }
      const digest = digestPins(pins)
      if (digest === digestPins(this.#now)) this.#waiting = undefined
      else if (this.#waiting?.digest !== digest) this.#waiting = { pins, digest }
    } catch (error) {
      this.#broken = (error as Error).message
    }
    if (this.why !== '' && this.why !== previous) log('warn', this.why)
  }

  /** What `apply` would do, and the digest to ask it with; null if nothing waits. */
  preview(): JsonObject | null {
    if (this.#waiting === undefined) return null
    const { pins, digest } = this.#waiting
    const loosens = loosenings(this.#now, pins).slice(0, LOOSENINGS_SHOWN_MAX)
    return { digest, loosens: loosens.map((what) => ({ where: 'sluice.lock', what })) }
  }

  /** `digest` of what the person has seen. */
  async apply(digest: string, by: Person): Promise<void> {
    const waiting = this.#waiting
    if (waiting === undefined)
      throw new OperationError('no lock file waits', 'the file is in force')
    if (waiting.digest !== digest)
      throw new OperationError(
        'the lock file was changed again in the meantime',
        'look at it once more',
      )
    const { ledger, nowMs } = this.#options
    const detail = { digest, pins: waiting.pins?.length ?? null, by: toActor(by) }
    await recordFirst(ledger, { atMs: nowMs(), name: 'lock', detail })
    if (this.#waiting !== waiting)
      throw new OperationError('the lock file changed again', 'look once more')
    this.#put(waiting.pins)
    this.#waiting = undefined
    this.#options.log('warn', 'a lock file that loosens was applied')
  }

  /** What is in force without the pins that `given` no longer has. If no file was in force, those
   * pins of it that are accepted anyway: to go by them alone is less. */
  #tightened(pins: LockPins): LockPins {
    const now = this.#now
    if (pins === undefined) return now
    if (now === undefined) {
      const accepted = this.#options.store.prepare(
        'SELECT 1 FROM pins WHERE server = ? AND name = ? AND digest = ?',
      )
      return pins.filter(({ server, name, digest }) => accepted.get(server, name, digest))
    }
    const left = new Set(pins.map(({ server, name }) => toToolKey(server, name)))
    // A pin that is another now stays as it was until a person has looked.
    return now.filter((pin) => left.has(toToolKey(pin.server, pin.name)))
  }

  #put(pins: LockPins): void {
    this.#now = pins
    this.#keep()
    this.#changed.emit(pins)
  }

  #keep(): void {
    const text = this.#now === undefined ? null : JSON.stringify(this.#now)
    this.#options.store.prepare('INSERT OR REPLACE INTO lock VALUES (1, ?)').run(text)
  }

  #read(): LockPins {
    const { path } = this.#options
    if (!existsSync(path)) return undefined
    const text = readFileSync(path, 'utf8')
    // A program that writes the file empties it first; every pin would be gone until a person applies it again.
    if (text.trim() === '')
      throw new Error(`\`${path}\` is empty: write it again with \`sluice pin\``)
    const read = readLock(text)
    if ('pins' in read) return read.pins
    throw new Error(
      `\`${path}\` has no pin in line ${read.line}: write it again with \`sluice pin\``,
    )
  }
}

function loosenings(now: LockPins, next: LockPins): string[] {
  if (next === undefined) return ['it is gone: what is new would be trusted at first sight']
  const before = new Map((now ?? []).map((pin) => [toToolKey(pin.server, pin.name), pin]))
  return next.flatMap((pin) => {
    const was = before.get(toToolKey(pin.server, pin.name))
    if (was === undefined) return [`${pin.server}/${pin.name} comes, ${pin.category}`]
    return formatPin(was) === formatPin(pin)
      ? []
      : [`${pin.server}/${pin.name} is another definition`]
  })
}

function formatPin({ server, name, digest, category, risk }: Pin): string {
  return JSON.stringify([server, name, digest, category, risk])
}

function digestPins(pins: LockPins): string {
  const text = pins === undefined ? 'none' : pins.map(formatPin).sort().join('\n')
  return hash('sha256', text)
}
