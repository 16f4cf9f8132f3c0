// Which processes of this machine were started by a gate of this data directory, on Linux: those at or below
// one of its marks (process-mark.ts). The gate lowers its own limits, every descendant inherits them, and none
// can raise them again. Process groups, parents and the environment can all be shed; this cannot.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { CHILD_VARIABLE } from './environment.ts'
import { MARK_MS_MAX } from './limits.ts'
import { readStat } from './process-group.ts'
import {
  addMark,
  chooseMark,
  hardLimitsOf,
  isAtOrBelow,
  isSameMark,
  type ProcessMark,
  readMarks,
  writeMarks,
} from './process-mark.ts'

export interface MarkOptions {
  /** Whether this gate will start processes: then the mark is written to the data directory. */
  readonly startsProcesses: boolean
  /** Of the cluster that the gate is in. */
  readonly clusterKey?: string | undefined
}

export class ChildProcesses {
  /** Processes at or below one of these were started by a gate of this directory. */
  readonly #marks: readonly ProcessMark[]
  /** Whether this gate's own mark is set: what it starts from now on is at or below it. */
  readonly isSure: boolean
  /** The value of SLUICE_CHILD in this gate's own environment, if another gate started it. */
  readonly #inherited = process.env[CHILD_VARIABLE]
  /** Processes without the mark, by pid, with the number of their folder in /proc: it is another one
   * when the pid is another process. Who has no mark never gets one. */
  readonly #others = new Map<number, number>()

  private constructor(marks: readonly ProcessMark[], isSure: boolean) {
    this.#marks = marks
    this.isSure = isSure
  }

  /** Before the first server is started. Undefined where processes cannot be told apart. `directory` is
   * the data directory. */
  static async mark(
    directory: string,
    { clusterKey, startsProcesses }: MarkOptions,
  ): Promise<ChildProcesses | undefined> {
    if (process.platform !== 'linux') return undefined
    const stored = readMarks(directory)
    if (!startsProcesses && stored.length === 0) return undefined
    const limits = hardLimitsOf('self')
    const own = limits && chooseMark(limits, stored, clusterKey)
    if (own === undefined) return new ChildProcesses(stored, false)
    const marks = addMark(stored, own)
    // On disk before it is in force: a gate that is killed must not leave orphans nobody knows of.
    if (startsProcesses) writeMarks(directory, marks)
    await lower(own)
    const now = hardLimitsOf('self')
    const isSure = now !== undefined && isSameMark(now, own)
    return new ChildProcesses(isSure ? marks : stored, isSure)
  }

  has(pid: number): boolean {
    if (pid === process.pid) return false
    const folder = folderOf(pid)
    if (folder === undefined) return false
    if (this.#others.get(pid) === folder) return false
    const limits = hardLimitsOf(pid)
    const isMarked = limits && this.#marks.some((mark) => isAtOrBelow(limits, mark))
    const isOurs = isMarked === true || this.#isNamedChild(pid)
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

function lower({ locks, rss }: ProcessMark): Promise<void> {
  const limits = [`--locks=${locks}:${locks}`, `--rss=${rss}:${rss}`]
  const args = ['--pid', String(process.pid), ...limits]
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
