// Which client a pipe belongs to: the nearest ancestor of its process that is not `sluice`, `npm`,
// `npx`, a Node that runs one of these, or a shell. Read from /proc by the gate
// itself, so on Linux only. All pipes of one client have the same name, and a new run of it has another one.
// Whether the client is of the gate's own user decides what its environment may do.

import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { bootId } from '@sluice/ledger/store/files/boot-id'
import { attempt } from '@sluice/policy/structures/attempt'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { PROCESS_ANCESTORS_MAX } from './limits.ts'
import { readStat, readUids } from './process-group.ts'

const SHELLS = toWordSet('sh bash dash ash zsh fish ksh ksh93 mksh csh tcsh busybox')
const LAUNCHERS: ReadonlySet<string> = new Set(['npm', 'npx', 'sluice'])
const SCRIPTS = /^(?:(?:npm|npx)(?:-cli)?(?:\.c?js)?|sluice(?:\.js)?)$/
const RUNTIMES = /^node(?:js)?\d*$/

export interface ClientProcess {
  readonly name: string
  readonly pid: number
  /** False for a pipe that was started by `sudo` or the like: its environment is another user's. */
  readonly isSameUser: boolean
}

/** Undefined if the process is gone or cannot be read. */
export function findClientProcess(pid: number): ClientProcess | undefined {
  let at = readStat(pid)?.parent
  for (let steps = 0; at !== undefined && at > 0 && steps < PROCESS_ANCESTORS_MAX; steps++) {
    const stat = readStat(at)
    if (stat === undefined) return undefined
    // If every ancestor starts others only, the topmost one is the client.
    if (!isLauncher(at) || stat.parent === 0) return toClientProcess(at)
    at = stat.parent
  }
  return undefined
}

/** A process that is the client itself. Undefined if it is gone or cannot be read. */
export function toClientProcess(pid: number): ClientProcess | undefined {
  const stat = readStat(pid)
  return stat && { name: `${bootId()} ${pid} ${stat.started}`, pid, isSameUser: isSameUser(pid) }
}

/** Whether the process leads its process group, or only launchers are between it and the leader: an
 * interactive shell gives each command a group of its own, a program that runs commands for a model
 * does not. */
export function isTypedCommand(pid: number): boolean {
  let stat = readStat(pid)
  let at = pid
  for (let steps = 0; stat !== undefined && steps < PROCESS_ANCESTORS_MAX; steps++) {
    if (stat.group === at) return true
    at = stat.parent
    if (!isLauncher(at)) return false
    stat = readStat(at)
  }
  return false
}

function isSameUser(pid: number): boolean {
  const uids = readUids(pid)
  return uids.length > 0 && uids.every((uid) => uid === process.getuid?.())
}

function isLauncher(pid: number): boolean {
  const program = programOf(pid)
  if (SHELLS.has(program) || LAUNCHERS.has(program)) return true
  if (!RUNTIMES.test(program)) return false
  const [title = '', ...words] = wordsOf(pid)
  // npm takes a title such as `npm exec sluice stdio`, which replaces its arguments.
  if (/^(?:npm|npx)(?: |$)/.test(title)) return true
  const script = words.find((word) => !word.startsWith('-')) ?? ''
  return SCRIPTS.test(basename(script))
}

/** By the file that runs; empty for a process of another user, which is then the client. */
function programOf(pid: number): string {
  return attempt(() => basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')), '')
}

function wordsOf(pid: number): string[] {
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0'), [])
}
