// Whether the other end of a connection is a process that this gate started: a poisoned server must not
// call its neighbours as the user. Looked up once a connection, before anything it sent is acted on. A process
// is the gate's if it descends from the gate or is in the process group of a server. An isolated server
// cannot leave its pid namespace, so it stays a descendant; elsewhere an orphan that left its group passes.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { attempt } from '@sluice/policy/structures/attempt'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { PEER_PIDS_KEPT_MAX } from './limits.ts'
import {
  findPeerProcess,
  findPeerSockets,
  holdsSocket,
  listAncestors,
  type SocketEnds,
} from './peer-process.ts'
import { listProcesses, readStat, readUids } from './process-group.ts'
import type { Watcher } from './watcher.ts'

export class ChildPeers {
  readonly #groups: Pick<Watcher, 'size' | 'has'>
  /** Processes that were peers before, the newest last. */
  readonly #peers = new LruMap<number, true>(PEER_PIDS_KEPT_MAX)

  /** `groups` are the process groups of the servers that live. */
  constructor(groups: Pick<Watcher, 'size' | 'has'>) {
    this.#groups = groups
  }

  /** Of a connection over loopback. Of a peer of the same user the process must be found: a socket that
   * nobody seems to hold may be held back by a server until the gate has looked. */
  async isOwn(ends: SocketEnds): Promise<boolean> {
    if (!this.isAsking) return false
    const sockets = await findPeerSockets(ends)
    // It is gone, or was let go of right after it had sent something.
    if (sockets.length === 0) return true
    const pids = listProcesses()
    const stats = new Map(pids.map((pid) => [pid, readStat(pid)]))
    const ours = new Set(pids.filter((pid) => this.#isOwnProcess(pid, (at) => stats.get(at))))
    if ([...ours].some((pid) => holdsSocket(pid, sockets))) return true
    const far = sockets.map(({ uid }) => uid).filter((uid) => uid !== process.getuid?.())
    // Another user's descriptors cannot be read. A server may have become that user (subordinate uids,
    // a set-uid program): one of ours with that uid counts as the peer.
    if (far.length > 0)
      return [...ours].some((pid) => readUids(pid).some((uid) => far.includes(uid)))
    const others = pids.filter((pid) => !ours.has(pid))
    const known = others.filter((pid) => this.#peers.has(pid))
    const rest = others.filter((pid) => !this.#peers.has(pid)).reverse()
    const found = await findPeerProcess(sockets, [...known, ...rest])
    if (found !== undefined) this.#peers.set(found, true)
    return found === undefined
  }

  /** Whether another user than the gate's, root excepted, is at the other end of a connection over loopback.
   * False where the system does not tell; a peer that cannot be found counts as another. */
  async isOtherUser(ends: SocketEnds): Promise<boolean> {
    if (process.platform !== 'linux') return false
    const sockets = await findPeerSockets(ends)
    return (
      sockets.length === 0 || sockets.some(({ uid }) => uid !== 0 && uid !== process.getuid?.())
    )
  }

  /** A name that the process at the other end has to take as its own title: no other process can give
   * it one. (An open file would not do: descriptors can be handed to a process that never asked.)
   * Undefined if the system has no such titles. */
  question(): string | undefined {
    if (process.platform !== 'linux') return undefined
    return randomBytes(8).toString('hex').slice(0, TITLE_LENGTH)
  }

  /** Every connection has to show its process: it could be one of the gate's own. */
  get isAsking(): boolean {
    return process.platform === 'linux' && this.#groups.size > 0
  }

  /** Why the answer to a question does not do, or undefined. */
  refuses(question: string, pid: unknown, needsTerminal: boolean): string | undefined {
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1)
      return 'no process is named'
    if (titleOf(pid) !== question) return `process ${pid} is not the one that asks`
    if (this.#isOwnProcess(pid)) return 'it comes from a process that the gate itself started'
    const uids = readUids(pid)
    if (!uids.includes(0) && !uids.includes(process.getuid?.() ?? 0))
      return `process ${pid} is another user's`
    if (!needsTerminal) return undefined
    const { terminal = 0, foreground, group } = readStat(pid) ?? {}
    if (terminal === 0) return `process ${pid} has no terminal`
    if (foreground !== group) return `process ${pid} is not in the foreground of its terminal`
    return undefined
  }

  #isOwnProcess(pid: number, read?: typeof readStat): boolean {
    if (pid === process.pid) return false
    return listAncestors(pid, read).some(
      (each) => each.pid === process.pid || this.#groups.has(each.group),
    )
  }
}

/** What the kernel keeps of a title (TASK_COMM_LEN without its end). */
const TITLE_LENGTH = 15

function titleOf(pid: number): string | undefined {
  return attempt(() => readFileSync(`/proc/${pid}/comm`, 'latin1').trimEnd())
}
