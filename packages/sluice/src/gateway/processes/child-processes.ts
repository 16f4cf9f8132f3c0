// Which processes of this machine were started by a gate of this data directory, on Linux. The mark is
// the hard limit of file locks (RLIMIT_LOCKS, which the kernel no longer enforces): the gate lowers its
// own, every descendant inherits it, and none can raise it again without CAP_SYS_RESOURCE. Process
// groups, parents and the environment can all be shed; this cannot. The highest mark is kept in the
// data directory, so that orphans of an earlier gate are recognised whatever the clock says.

import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { MARK_MS_MAX } from '../shared/limits.ts'
import { CHILD_VARIABLE } from './environment.ts'
import { readStat } from './process-group.ts'
import { hardLimitOf, readMark, writeMark } from './process-mark.ts'

export class ChildProcesses {
  /** Processes whose hard limit is at or below this one were started by a gate of this directory. */
  readonly #limit: number
  /** Whether this gate's own mark is set: what it starts from now on is at or below the limit. */
  readonly isSure: boolean
  /** The value of SLUICE_CHILD in this gate's own environment, if another gate started it. */
  readonly #inherited = process.env[CHILD_VARIABLE]
  /** Processes without the mark, by pid, with the number of their folder in /proc: it is another one
   * when the pid is another process. Who has no mark never gets one. */
  readonly #others = new Map<number, number>()

  private constructor(limit: number, isSure: boolean) {
    this.#limit = limit
    this.isSure = isSure
  }

  /** Before the first server is started. Undefined where processes cannot be told apart. `directory` is
   * the data directory; the mark is written there if this gate will start processes. */
  static async mark(
    directory: string,
    startsProcesses: boolean,
  ): Promise<ChildProcesses | undefined> {
    if (process.platform !== 'linux') return undefined
    const kept = readMark(directory)
    if (!startsProcesses && kept === undefined) return undefined
    // By time, and always above the one before: an orphan of an earlier gate stays below it, also if
    // the clock was set back. A gate that was itself started by one stays below that one.
    const byTime = Math.floor(Date.now() / 1_000) * 256 + randomInt(256)
    const wanted = Math.max(byTime, (kept ?? 0) + 1)
    const limit = Math.min(wanted, (hardLimitOf('self') ?? 0) - 1)
    const highest = Math.max(limit, kept ?? 0)
    // On disk before it is in force: a gate that is killed must not leave orphans nobody knows of.
    if (startsProcesses && limit > 0) writeMark(directory, highest)
    if (limit > 0) await lower(limit)
    const isSure = limit > 0 && hardLimitOf('self') === limit
    return new ChildProcesses(isSure ? highest : (kept ?? 0), isSure)
  }

  has(pid: number): boolean {
    if (pid === process.pid) return false
    const folder = folderOf(pid)
    if (folder === undefined) return false
    if (this.#others.get(pid) === folder) return false
    const limit = hardLimitOf(pid)
    const isOurs = (limit !== undefined && limit <= this.#limit) || this.#isNamedChild(pid)
    if (!isOurs) this.#others.set(pid, folder)
    return isOurs
  }

  /** By its environment, which it can shed: only where nothing better is to be had. */
  #isNamedChild(pid: number): boolean {
    if (this.isSure) return false
    const named = childMarkOf(pid)
    return named !== undefined && named !== this.#inherited
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
export function hasSocketOpen(pid: number, link: string): boolean | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => linkOf(`/proc/${pid}/fd/${name}`) === link)
  } catch {
    // A zombie has nothing open.
    return (readStat(pid)?.state ?? 'Z') === 'Z' ? false : undefined
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

function folderOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}`).ino
  } catch {
    return undefined
  }
}

/** The value of SLUICE_CHILD a process was started with. What cannot be read counts as none. */
function childMarkOf(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    const found = environment.find((entry) => entry.startsWith(`${CHILD_VARIABLE}=`))
    return found?.slice(CHILD_VARIABLE.length + 1)
  } catch {
    return undefined
  }
}
