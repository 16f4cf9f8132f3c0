// Whether the other end of a connection is a process that the gate itself started: a poisoned server
// must not call its neighbours as the user. Looked up once a connection, and only where there are such
// processes. Of a peer of the same user the process must be found: a socket that nobody seems to hold
// may be held back by one of ours until we have looked.

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { PEER_PIDS_KEPT_MAX, PEER_PROCESSES_PER_TURN } from '../limits.ts'
import { holds, type OwnChildren, writes } from '../run/own-children.ts'

const NONE: readonly Holder[] = []

interface Holder {
  readonly inode: string
  readonly uid: number
}

export class OwnPeers {
  readonly #children: OwnChildren | undefined
  readonly #isNeeded: () => boolean
  /** Processes that were peers before, the newest last. */
  readonly #known = new Set<number>()

  /** Without `children` processes cannot be told apart here, and everybody passes. `isNeeded` says
   * whether this gate has started any yet. */
  constructor(children: OwnChildren | undefined, isNeeded: () => boolean) {
    this.#children = children
    this.#isNeeded = isNeeded
  }

  /** Of a connection over loopback. False for everybody where the gate has no processes. */
  async isOwn({ localPort, remotePort }: Socket): Promise<boolean> {
    const children = this.#children
    if (children === undefined || !this.#isNeeded()) return false
    const { ours, others } = children.split()
    if (ours.length === 0) return false
    const holders = await holdersOf(remotePort ?? 0, localPort ?? 0)
    // It is gone, or was let go of right after it had sent something.
    if (holders.length === 0) return true
    const mine = holders.filter(({ uid }) => uid === process.getuid?.())
    if (mine.length < holders.length) return false
    const links = mine.map(({ inode }) => `socket:[${inode}]`)
    const has = (pid: number): boolean => links.some((link) => holds(pid, link) === true)
    if (ours.some(has)) return true
    const alive = new Set(others)
    const first = [...this.#known].filter((pid) => alive.has(pid)).reverse()
    const rest = others.filter((pid) => !this.#known.has(pid)).reverse()
    for (const [at, pid] of [...first, ...rest].entries()) {
      if (at % PEER_PROCESSES_PER_TURN === PEER_PROCESSES_PER_TURN - 1) await setImmediate()
      if (!has(pid)) continue
      this.#keep(pid)
      // It may have been handed over while we looked.
      return children.has(pid)
    }
    return true
  }

  /** The name of a file that only the process at the other end can have open, since it was named just
   * now. Undefined where nothing has to be shown. */
  question(): string | undefined {
    const children = this.#children
    if (children === undefined || !this.#isNeeded()) return undefined
    if (children.split().ours.length === 0) return undefined
    return `proof-${randomBytes(16).toString('hex')}`
  }

  /** Why the answer to a question does not do, or undefined. */
  refuses(question: string, pid: unknown): string | undefined {
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1)
      return 'no process is named'
    if (!writes(pid, question)) return `process ${pid} is not the one that asks`
    if (this.#children?.has(pid)) return 'it comes from a process that the gate itself started'
    return undefined
  }

  #keep(pid: number): void {
    this.#known.delete(pid)
    this.#known.add(pid)
    const [oldest] = this.#known
    if (this.#known.size > PEER_PIDS_KEPT_MAX && oldest !== undefined) this.#known.delete(oldest)
  }
}

/** The sockets of this machine that go from one port to the other. */
async function holdersOf(from: number, to: number): Promise<readonly Holder[]> {
  const texts = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
  const ports = new RegExp(`:${hex(from)} [0-9A-F]+:${hex(to)} `)
  return texts.flatMap((text) =>
    text.split('\n').flatMap((line) => {
      if (!ports.test(line)) return NONE
      const fields = line.trim().split(/\s+/)
      const [uid = '', inode = '0'] = [fields[7], fields[9]]
      return inode === '0' ? NONE : [{ inode, uid: Number(uid) }]
    }),
  )
}

async function readTable(file: string): Promise<string> {
  return readFile(file, 'latin1').catch(() => '')
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
