// Who is at the other end of a loopback connection: another program, a process that this one started, or
// one of a process group that the test names as a server's.

import { type ChildProcess, spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ChildPeers } from './child-peers.ts'
import { findPeerProcess, findPeerSockets, listAncestors } from './peer-process.ts'
import { listProcesses } from './process-group.ts'

let server: Server
const open: Socket[] = []
const started: ChildProcess[] = []

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
  for (const { pid = 0 } of started.splice(0)) process.kill(-pid, 'SIGKILL')
  server.close()
})

const portOf = () => (server.address() as AddressInfo).port

/** No process is in the group 1 unless it belongs to the first process of the system. */
function peersWith(...groups: number[]): ChildPeers {
  const named = groups.length === 0 ? [1] : groups
  return new ChildPeers({ size: named.length, has: (group) => named.includes(group) })
}

/** Both ends of a connection, as the gate has one of them. */
async function connected(): Promise<{ near: Socket; far: Socket }> {
  const arrived = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const far = connect(portOf(), '127.0.0.1')
  const near = await arrived
  open.push(near, far)
  return { near, far }
}

/** The gate's end of a connection of a process that `script`, a line of shell, starts as `$NODE`. */
async function connectedFrom(
  script: string,
): Promise<{ near: Socket; group: number; exited: Promise<unknown> }> {
  const arrived = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const code = `require('node:net').connect(${portOf()}, '127.0.0.1')`
  const env = { NODE: process.execPath, CODE: code }
  const child = spawn('sh', ['-c', script], { detached: true, env, stdio: 'ignore' })
  started.push(child)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const near = await arrived
  open.push(near)
  return { near, group: child.pid as number, exited }
}

describe.runIf(process.platform === 'linux')('F5: the peer of a connection', () => {
  test('is found with its ancestors, and is not the gate’s if the gate did not start it', async () => {
    const { near } = await connected()
    expect(await new ChildPeers({ size: 0, has: () => true }).isOwn(near)).toBe(false)
    expect(await peersWith().isOwn(near)).toBe(false)
    expect(await findPeerProcess(await findPeerSockets(near))).toBe(process.pid)
    const parents = listAncestors(process.pid).map(({ pid }) => pid)
    expect(parents.slice(0, 2)).toEqual([process.pid, process.ppid])
    expect(listProcesses()).toEqual(expect.arrayContaining(parents))
  })

  test('is the gate’s if a child of the gate started it, whatever its group', async () => {
    const { near } = await connectedFrom('setsid "$NODE" -e "$CODE" & wait')
    expect(await peersWith().isOwn(near)).toBe(true)
  })

  test('is the gate’s if it was left behind in the group of a server', async () => {
    const { near, group, exited } = await connectedFrom('"$NODE" -e "$CODE" & exit')
    await exited
    expect(await peersWith(group).isOwn(near)).toBe(true)
    expect(await peersWith().isOwn(near)).toBe(false)
  })

  test('that has sent something and is gone is refused', async () => {
    const { near, far } = await connected()
    far.end('POST / HTTP/1.1\r\n\r\n')
    await new Promise((resolve) => far.once('finish', resolve))
    far.destroy()
    await new Promise((resolve) => far.once('close', resolve))
    expect(await peersWith().isOwn(near)).toBe(true)
  })

  test('that is somebody else’s connection between other addresses does not count', async () => {
    const { near } = await connected()
    const { localPort, remotePort } = near
    const elsewhere = {
      localPort,
      remotePort,
      localAddress: '127.0.0.2',
      remoteAddress: '127.0.0.1',
    }
    expect(await peersWith().isOwn(elsewhere as Socket)).toBe(true)
  })

  test('over the socket shows which process it is by its title, and cannot name another', () => {
    const peers = peersWith()
    const question = peers.question() as string
    expect(peers.refuses(question, process.pid, false)).toContain('is not the one that asks')
    for (const pid of [undefined, 0, 1, -1, '7', 1.5])
      expect(peers.refuses(question, pid, false)).toBe('no process is named')
    const { title } = process
    process.title = question
    expect(peers.refuses(question, process.pid, false)).toBeUndefined()
    process.title = title
  })
})
