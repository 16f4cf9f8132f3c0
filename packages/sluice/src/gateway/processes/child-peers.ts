// Whether the other end of a connection is a process that a gate of this data directory started: a
// poisoned server, or an orphan of one, must not call its neighbours as the user. Looked up once a
// connection, before anything it sent is acted on. Of a peer of the same user the process must be
// found; a socket that nobody seems to hold may be held back by one of ours until we have looked.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { LruMap } from '../../core/lru-map.ts'
import { type ChildProcesses, hasSocketOpen } from './child-processes.ts'
import { PEER_PIDS_KEPT_MAX, PEER_PROCESSES_PER_TURN } from './limits.ts'
import { readStat, readUids } from './process-group.ts'

const NONE: readonly Holder[] = []

interface Holder {
  readonly inode: string
  readonly uid: number
}

type SocketEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

export class ChildPeers {
  #children: ChildProcesses | undefined
  /** Processes that were peers before, the newest last. */
  readonly #peers = new LruMap<number, true>(PEER_PIDS_KEPT_MAX)

  /** Without `children` no process can be one of the gate's, or none can be told apart: all pass. */
  constructor(children: ChildProcesses | undefined) {
    this.#children = children
  }

  /** The gate starts its first process although it had none to start before. */
  startsProcesses(children: ChildProcesses | undefined): void {
    this.#children = children
  }

  /** Of a connection over loopback. */
  async isOwn(ends: SocketEnds): Promise<boolean> {
    const children = this.#children
    if (children === undefined) return false
    const { ours, others } = children.split()
    const holders = await holdersOf(ends)
    // It is gone, or was let go of right after it had sent something.
    if (holders.length === 0) return true
    const links = holders.map(({ inode }) => `socket:[${inode}]`)
    const has = (pid: number): boolean => links.some((link) => hasSocketOpen(pid, link) === true)
    if (ours.some(has)) return true
    const far = holders.map(({ uid }) => uid).filter((uid) => uid !== process.getuid?.())
    // Another user's descriptors cannot be read. A server may have become that user (subordinate uids,
    // a set-uid program): one of ours with that uid counts as the peer.
    if (far.length > 0) return ours.some((pid) => far.some((uid) => readUids(pid).includes(uid)))
    const alive = new Set(others)
    const first = Array.from(this.#peers, ([pid]) => pid)
      .filter((pid) => alive.has(pid))
      .reverse()
    const rest = others.filter((pid) => !this.#peers.has(pid)).reverse()
    for (const [at, pid] of [...first, ...rest].entries()) {
      if (at % PEER_PROCESSES_PER_TURN === PEER_PROCESSES_PER_TURN - 1) await setImmediate()
      if (!has(pid)) continue
      this.#peers.set(pid, true)
      // It may have been handed over while we looked.
      return children.has(pid)
    }
    return true
  }

  /** Whether another user than the gate's, root excepted, is at the other end of a connection over loopback.
   * False where the system does not tell; a peer that cannot be found counts as another. */
  async isOtherUser(ends: SocketEnds): Promise<boolean> {
    if (process.platform !== 'linux') return false
    const holders = await holdersOf(ends)
    return (
      holders.length === 0 || holders.some(({ uid }) => uid !== 0 && uid !== process.getuid?.())
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
    return this.#children !== undefined
  }

  /** Why the answer to a question does not do, or undefined. */
  refuses(question: string, pid: unknown, needsTerminal: boolean): string | undefined {
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1)
      return 'no process is named'
    if (titleOf(pid) !== question) return `process ${pid} is not the one that asks`
    if (this.#children?.has(pid)) return 'it comes from a process that the gate itself started'
    const uids = readUids(pid)
    if (!uids.includes(0) && !uids.includes(process.getuid?.() ?? 0))
      return `process ${pid} is another user's`
    if (!needsTerminal) return undefined
    const { terminal = 0, foreground, group } = readStat(pid) ?? {}
    if (terminal === 0) return `process ${pid} has no terminal`
    if (foreground !== group) return `process ${pid} is not in the foreground of its terminal`
    return undefined
  }
}

/** What the kernel keeps of a title (TASK_COMM_LEN without its end). */
const TITLE_LENGTH = 15

function titleOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trimEnd()
  } catch {
    return undefined
  }
}

/** The sockets of this machine that are the other end of a connection: both addresses and both ports
 * must fit, or somebody else's connection to the same port elsewhere could stand for this one. */
async function holdersOf(ends: SocketEnds): Promise<readonly Holder[]> {
  const from = endForms(ends.remoteAddress, ends.remotePort)
  const to = endForms(ends.localAddress, ends.localPort)
  const texts = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
  return texts.flatMap((text) =>
    text.split('\n').flatMap((line) => {
      const [, local = '', remote = '', , , , , uid = '', , inode = '0'] = line.trim().split(/\s+/)
      if (!from.includes(local) || !to.includes(remote) || inode === '0') return NONE
      return [{ inode, uid: Number(uid) }]
    }),
  )
}

/** A loopback address and a port as the kernel's tables write them. */
function endForms(address = '', port = 0): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  if (address === '::1') return [`${words([...Array(15).fill(0), 1])}${end}`]
  const four = words(
    address
      .replace(/^::ffff:/i, '')
      .split('.')
      .map(Number),
  )
  return [`${four}${end}`, `${words([...Array(10).fill(0), 255, 255])}${four}${end}`]
}

/** Bytes in the machine's words of 32 bits, in hexadecimal. */
function words(bytes: readonly number[]): string {
  const groups = Array.from({ length: bytes.length / 4 }, (_, at) =>
    bytes.slice(at * 4, at * 4 + 4),
  )
  const ordered = endianness() === 'LE' ? groups.map((group) => group.reverse()) : groups
  return Buffer.from(ordered.flat()).toString('hex').toUpperCase()
}

async function readTable(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '')
}
