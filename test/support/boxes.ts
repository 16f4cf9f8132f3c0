// A project, a home directory and boxes of them for a test, as its own user or as another one.

import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BoxSettings } from '@sluice/gateway/config/config'
import type { BoxState } from '@sluice/gateway/isolation/boxes'
import type { RestoredFile, Snapshot, SnapshotBounds } from '@sluice/gateway/isolation/snapshots'
import type { DriverLine, DriverRequest, DriverResult } from './box-driver.ts'
import { forms } from './runs.ts'
import { programFile } from './start-gate.ts'

export const NOBODY = 65_534
const USERS = process.getuid?.() === 0 ? [undefined, NOBODY] : [undefined]
/** What is tried as the user of the tests in `npm test`, and as an ordinary one, too, in full; or the reverse. */
export const OWN_USER = forms(USERS)
export const ORDINARY_USER = forms(USERS.toReversed())
const NO_SETTINGS: BoxSettings = { read: [], write: [], hosts: [], env: [] }

export class BoxTrial {
  readonly folder: string
  readonly project: string
  readonly home: string
  readonly data: string
  readonly #uid: number | undefined
  #child: ChildProcess | undefined
  #id = 0
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()

  /** `data`: where the gate's data is below the home directory. */
  constructor(uid: number | undefined, data = '.data') {
    this.#uid = uid
    // Not in /tmp, which a box has of its own: a home directory below it would be there in any case.
    this.folder = realpathSync(mkdtempSync('/var/tmp/sluice-box-'))
    this.home = join(this.folder, 'home')
    this.project = join(this.home, 'shop')
    this.data = join(this.home, data)
    mkdirSync(this.project, { recursive: true })
    mkdirSync(this.data, { mode: 0o700 })
    this.give()
  }

  /** Writes files below the folder of the trial. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.folder, name)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, content)
    }
    this.give()
  }

  /** Gives everything to the user of the trial. */
  give(): void {
    if (this.#uid !== undefined)
      execFileSync('chown', ['-hR', `${this.#uid}:${this.#uid}`, this.folder])
  }

  /** Runs a command outside of any box, as the user of the trial. */
  outside(line: string, cwd = this.project): string {
    const user = this.#uid === undefined ? {} : { uid: this.#uid, gid: this.#uid }
    const env = { PATH: process.env.PATH, HOME: this.home }
    return execFileSync('/bin/bash', ['-c', `${line} 2>&1`], {
      cwd,
      env,
      ...user,
      encoding: 'utf8',
    })
  }

  async start(
    settings: Partial<BoxSettings> = {},
    own: { hidden?: string[]; readOnly?: string[]; bounds?: SnapshotBounds } = {},
  ): Promise<unknown> {
    const user = this.#uid === undefined ? {} : { uid: this.#uid, gid: this.#uid }
    const child = fork(programFile('box-driver', 'support'), {
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: this.home, GATE_TOKEN: 'only-mine' },
      execArgv: ['--no-warnings'],
      ...user,
    })
    this.#child = child
    child.on('message', ({ id, value, error }: { id: number; value: unknown; error?: Error }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(value)
      else waiting?.reject(Object.assign(new Error(error.message), error))
    })
    child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the driver has ended'))
    })
    const { hidden = [], ...others } = own
    const all = { readOnly: [], ...others, hidden: [this.data, ...hidden] }
    return this.#ask('start', {
      data: this.data,
      settings: { ...NO_SETTINGS, ...settings },
      ...all,
    })
  }

  /** Runs a line in the box of a session. */
  run(line: string, options: Partial<DriverLine> = {}): Promise<DriverResult> {
    const { project } = this
    return this.#ask('run', { session: 'one', project, cwd: project, ...options, line })
  }

  end(session = 'one'): Promise<void> {
    return this.#ask('end', session)
  }

  refused(session = 'one'): Promise<string[]> {
    return this.#ask('refused', session)
  }

  list(): Promise<BoxState[]> {
    return this.#ask('list', null)
  }

  replaced(): Promise<string[]> {
    return this.#ask('replaced', null)
  }

  snapshots(project = this.project): Promise<Snapshot[]> {
    return this.#ask('snapshots', project)
  }

  restore(commit: string, project = this.project): Promise<RestoredFile[]> {
    return this.#ask('restore', { project, commit })
  }

  /** As a crash of the gate. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async close(): Promise<void> {
    if (this.#child !== undefined) await this.#ask('close', null).catch(() => {})
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #ask<T>(method: DriverRequest['method'], argument: unknown): Promise<T> {
    const id = ++this.#id
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#child?.send({ id, method, argument } satisfies DriverRequest)
    return waiting.promise as Promise<T>
  }
}
