// Which processes of this machine the gate itself has started, on Linux. The mark is the hard limit of
// file locks, which the kernel counts no more: the gate lowers its own, every process it starts inherits
// that, and none can raise it again without being root. Process groups, parents and the environment
// can all be shed; this cannot. Where it cannot be set, the mark in the environment has to do.

import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { MARK_MS_MAX } from '../limits.ts'

export class OwnChildren {
  /** The hard limit that only the gate's own processes are at or below. */
  readonly #limit: number
  readonly #environment: string
  /** Processes without the mark, by pid, with the number of their folder in /proc: it is another one
   * when the pid is another process. Who has no mark never gets one. */
  readonly #others = new Map<number, number>()

  private constructor(limit: number, environment: string) {
    this.#limit = limit
    this.#environment = environment
  }

  /** Before the first server is started. Undefined where processes cannot be told apart. */
  static async mark(environment: string): Promise<OwnChildren | undefined> {
    if (process.platform !== 'linux') return undefined
    // Later gates have a higher one, so that what an earlier gate left behind is below it too. A gate
    // that was itself started by one stays below that.
    const byTime = Math.floor(Date.now() / 1_000) * 256 + randomInt(256)
    const limit = Math.min(byTime, (hardLimitOf('self') ?? 0) - 1)
    if (limit > 0) await lower(limit)
    const isMarked = hardLimitOf('self') === limit
    return new OwnChildren(isMarked ? limit : 0, environment)
  }

  /** Whether the mark is one that cannot be shed. */
  get isSure(): boolean {
    return this.#limit > 0
  }

  has(pid: number): boolean {
    if (pid === process.pid) return false
    const folder = folderOf(pid)
    if (folder === undefined) return false
    if (this.#others.get(pid) === folder) return false
    const limit = hardLimitOf(pid)
    const isOurs =
      (limit !== undefined && limit <= this.#limit) || environmentHas(pid, this.#environment)
    if (!isOurs) this.#others.set(pid, folder)
    return isOurs
  }

  /** Every process there is, split; what is gone is forgotten. */
  split(): { readonly ours: number[]; readonly others: number[] } {
    const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
    const there = new Set(pids)
    for (const pid of this.#others.keys()) if (!there.has(pid)) this.#others.delete(pid)
    const ours = pids.filter((pid) => this.has(pid))
    const mine = new Set(ours)
    return { ours, others: pids.filter((pid) => !mine.has(pid)) }
  }
}

/** Whether a process has this socket open; undefined where it does not let us look. */
export function holds(pid: number, link: string): boolean | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => linkOf(`/proc/${pid}/fd/${name}`) === link)
  } catch {
    return undefined
  }
}

/** Whether a process has a file of this name open for writing: to read it anybody's indexer might. */
export function writes(pid: number, name: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      if (!linkOf(`/proc/${pid}/fd/${fd}`).endsWith(`/${name}`)) return false
      const info = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1')
      const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(info)?.[1] ?? '0', 8)
      return (flags & 3) !== 0
    })
  } catch {
    return false
  }
}

/** What a descriptor stands for, such as `socket:[123]`; empty where it was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function lower(limit: number): Promise<void> {
  const args = ['--pid', String(process.pid), `--locks=${limit}:${limit}`]
  return new Promise((resolve) => {
    execFile('prlimit', args, { timeout: MARK_MS_MAX }, () => resolve())
  })
}

function hardLimitOf(pid: number | 'self'): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, 'latin1')
    const hard = /^Max file locks +\S+ +(\S+)/m.exec(text)?.[1]
    return hard === undefined ? undefined : Number(hard.replace('unlimited', 'Infinity'))
  } catch {
    return undefined
  }
}

function folderOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}`).ino
  } catch {
    return undefined
  }
}

function environmentHas(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
  } catch {
    return false
  }
}
