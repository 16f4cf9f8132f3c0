// Processes by group: is one there, tell it to end, make it end. A group is named by the pid of its
// leader, which the kernel gives to nobody else while a member lives. Used by the links to stdio
// servers, by the watcher process and for leftovers; imports nothing but limits, to stay small.

import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { KILL_WAIT_MS, TERM_GRACE_MS } from './limits.ts'

const POLL_FIRST_MS = 5
const POLL_LAST_MS = 100

/** False if there is no such group, or it may not be signalled. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  // To the system, group 1 is everybody and group 0 is us.
  if (!Number.isSafeInteger(leader) || leader <= 1) return false
  if (process.platform === 'win32') return signalTree(leader, signal)
  return signalProcess(-leader, signal)
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

/** SIGTERM to the group, SIGKILL where that did not help. False if something is left even then. */
export async function endGroup(leader: number, termGraceMs = TERM_GRACE_MS): Promise<boolean> {
  if (!signalGroup(leader, 'SIGTERM')) return true
  if (await isGone(leader, termGraceMs)) return true
  signalGroup(leader, 'SIGKILL')
  return isGone(leader, KILL_WAIT_MS)
}

/** SIGTERM to the members of a group but its leader, and time to end. */
export async function endMembers(leader: number, termGraceMs: number): Promise<void> {
  const members = membersOf(leader).filter((pid) => pid !== leader)
  for (const pid of members) signalProcess(pid, 'SIGTERM')
  if (members.length > 0) await isGone(leader, termGraceMs)
}

async function isGone(leader: number, waitMs: number): Promise<boolean> {
  const untilMs = performance.now() + waitMs
  const lives = (pid: number): boolean => isAlive(pid, leader)
  let alive: readonly number[] = []
  for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(POLL_LAST_MS, pollMs * 2)) {
    // Every process of the machine is looked at only when none of those found before lives.
    if (!alive.some(lives)) alive = signalGroup(leader, 0) ? membersOf(leader).filter(lives) : []
    if (alive.length === 0) return true
    if (performance.now() >= untilMs) return false
    await sleep(pollMs)
  }
}

/** Zombies do not count: where nobody reaps them (pid 1 of many containers) they stay for ever. */
function isAlive(pid: number, leader: number): boolean {
  if (process.platform !== 'linux') return signalGroup(leader, 0)
  const stat = readStat(pid)
  return stat?.group === leader && stat.state !== 'Z'
}

/** The processes of a group, on Linux; elsewhere only its leader. */
export function membersOf(leader: number): number[] {
  if (process.platform !== 'linux') return [leader]
  return listProcesses().filter((pid) => readStat(pid)?.group === leader)
}

/** Every process there is. From /proc, so on Linux only. */
export function listProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** A process as the kernel describes it. */
export interface ProcessStat {
  /** One letter, as `ps` shows it. */
  readonly state: string
  /** 0 for the first process of a pid namespace. */
  readonly parent: number
  readonly group: number
  /** The controlling terminal; 0 without one. */
  readonly terminal: number
  /** The process group in the foreground of that terminal. */
  readonly foreground: number
  /** Clock ticks since boot; with the pid it names a process for as long as the machine runs. */
  readonly started: string
}

/** Undefined if there is no such process. From /proc, so on Linux only. */
export function readStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in parentheses and may contain any character, also `)`.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state = '', parent, group, , terminal, foreground] = fields
    return {
      state,
      parent: Number(parent),
      group: Number(group),
      terminal: Number(terminal),
      foreground: Number(foreground),
      started: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

/** Real, effective, saved and of the file system; empty for a process that is gone. From /proc. */
export function readUids(pid: number): readonly number[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return (/^Uid:\t([\d\t]+)$/m.exec(status)?.[1] ?? '').split(/\s+/).map(Number)
  } catch {
    return []
  }
}

function signalTree(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(leader, 0)
    if (signal === 0) return true
    const force = signal === 'SIGKILL' ? ['/F'] : []
    spawn('taskkill', ['/PID', String(leader), '/T', ...force], { stdio: 'ignore' }).on(
      'error',
      () => process.kill(leader),
    )
    return true
  } catch {
    return false
  }
}
