// The gate's end of the watcher process (watcher-process.ts): says which process groups live, keeps
// the same list in a file for the next start (orphan-cleanup.ts), and starts the watcher again should it
// die. One for all servers; the links to stdio servers add and remove their groups.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { extname, join } from 'node:path'
import type { Log } from '../shared/log.ts'
import { Restarter } from '../shared/restart.ts'
import { type OrphanGroup, writeOrphanFile } from './orphan-cleanup.ts'
import { readStat } from './process-group.ts'
import type { Order } from './watcher-process.ts'

/** A watcher needs no heap to speak of. */
const SMALL = [
  '--max-old-space-size=16',
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  // No work on other threads: there is nothing that its end could wait for.
  '--single-threaded',
]

export class Watcher {
  /** In the environment of every server (`SLUICE_CHILD`), so that its processes can be told from
   * others that have a recycled pid. */
  readonly mark: string = randomBytes(16).toString('hex')
  readonly #file: string | undefined
  readonly #log: Log
  readonly #restarter: Restarter
  readonly #groups = new Map<number, OrphanGroup>()
  #process: ChildProcess | undefined
  #closed = false

  /** `file` is where the groups are kept for the next start; without it only the pipe watches. */
  constructor(options: { file?: string | undefined; log: Log }) {
    this.#file = options.file
    this.#log = options.log
    this.#restarter = new Restarter(() => this.#start())
  }

  /** How many processes of servers there are. */
  get size(): number {
    return this.#groups.size
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Whether this is the process group of a server. */
  has(group: number): boolean {
    return this.#groups.has(group)
  }

  /** The first one starts the watcher: a gate whose servers are all elsewhere needs none. */
  add(pid: number): void {
    if (this.#process === undefined) this.#start()
    const group = leftoverOf(pid)
    this.#groups.set(pid, group)
    this.#write(`+ ${pid} ${group.started}\n`)
    this.#keep()
  }

  remove(pid: number): void {
    if (!this.#groups.delete(pid)) return
    this.#write(`- ${pid}\n`)
    this.#keep()
  }

  /** Groups still on the list are ended by the watcher, as if the gate had died. */
  async close(): Promise<void> {
    this.#closed = true
    this.#restarter.stop()
    const process = this.#process
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return
    const exited = new Promise((resolve) => process.once('exit', resolve))
    process.ref()
    process.stdin?.end()
    await exited
  }

  #start(): void {
    const file = join(import.meta.dirname, `watcher-process${extname(import.meta.filename)}`)
    // A group of its own: a signal to the gate's group must not reach it. Its output goes nowhere,
    // or a reader of the gate's output would wait for the watcher too.
    const child = spawn(process.execPath, [...SMALL, file], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
      cwd: '/',
      windowsHide: true,
    })
    this.#process = child
    // The gate may end without it, and it ends by itself then.
    child.unref()
    if (child.stdin !== null && 'unref' in child.stdin) (child.stdin.unref as () => void)()
    child.stdin?.on('error', () => {})
    child.once('error', (error) => this.#lost(error.message))
    child.once('exit', (code, signal) => this.#lost(`exit ${code ?? signal}`))
    for (const { pid, started } of this.#groups.values()) this.#write(`+ ${pid} ${started}\n`)
  }

  #lost(why: string): void {
    if (this.#closed) return
    const delayMs = this.#restarter.ended()
    this.#log('warn', 'the watcher of server processes ended and is started again', {
      why,
      delayMs: delayMs ?? 0,
    })
  }

  #write(order: Order): void {
    this.#process?.stdin?.write(order)
  }

  #keep(): void {
    if (this.#file === undefined) return
    const watcher = this.pid === undefined ? undefined : leftoverOf(this.pid)
    try {
      writeOrphanFile(this.#file, this.mark, [...this.#groups.values()], watcher)
    } catch (error) {
      // The pipe still watches; only a death of gate and watcher together would leave processes.
      this.#log('warn', 'the list of server processes could not be written', {
        file: this.#file,
        why: error instanceof Error ? error.message : String(error),
      })
    }
  }
}

function leftoverOf(pid: number): OrphanGroup {
  return { pid, started: readStat(pid)?.started ?? '' }
}
