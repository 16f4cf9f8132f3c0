// The process at the other end of a connection over loopback, and the ancestors of a process. Read from
// /proc, so on Linux only. Descriptors of another user's process cannot be read: of such a peer only
// the user is known.

import { readdirSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { attempt } from '@sluice/policy/structures/attempt'
import { PEER_PROCESSES_PER_TURN, PROCESS_ANCESTORS_MAX } from './limits.ts'
import { listProcesses, readStat } from './process-group.ts'

export type SocketEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

/** A socket that is the other end of a connection, as the kernel's tables list it. */
export interface PeerSocket {
  readonly inode: string
  readonly uid: number
}

const NONE: readonly PeerSocket[] = []

/** Returns the sockets of this machine that are the other end of a connection: both addresses and both ports
 * must fit, or a connection to the same port elsewhere could stand for this one. */
export async function findPeerSockets(ends: SocketEnds): Promise<readonly PeerSocket[]> {
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

/** Returns the first of `pids`, by default of all processes, that has one of the sockets open. */
export async function findPeerProcess(
  sockets: readonly PeerSocket[],
  pids: readonly number[] = listProcesses().reverse(),
): Promise<number | undefined> {
  for (const [at, pid] of pids.entries()) {
    if (at % PEER_PROCESSES_PER_TURN === PEER_PROCESSES_PER_TURN - 1) await setImmediate()
    if (holdsSocket(pid, sockets)) return pid
  }
  return undefined
}

/** Whether a process has one of the sockets open. False if it does not let the gate look. */
export function holdsSocket(pid: number, sockets: readonly PeerSocket[]): boolean {
  const links = sockets.map(({ inode }) => `socket:[${inode}]`)
  return attempt(
    () =>
      readdirSync(`/proc/${pid}/fd`).some((name) =>
        links.includes(linkOf(`/proc/${pid}/fd/${name}`)),
      ),
    false,
  )
}

export interface Ancestor {
  readonly pid: number
  readonly group: number
}

/** Returns the process itself, its parent and so on, as far as they can be read. */
export function listAncestors(pid: number, read: typeof readStat = readStat): Ancestor[] {
  const found: Ancestor[] = []
  for (let at = pid; at > 0 && found.length < PROCESS_ANCESTORS_MAX; ) {
    const stat = read(at)
    if (stat === undefined) break
    found.push({ pid: at, group: stat.group })
    at = stat.parent
  }
  return found
}

/** What a descriptor stands for, such as `socket:[123]`; empty if it was closed meanwhile. */
function linkOf(path: string): string {
  return attempt(() => readlinkSync(path), '')
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
