// Who is at the other end of a loopback connection, with processes that the test itself names as the
// gate's; and the mark that outlives a gate.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ChildPeers } from './child-peers.ts'
import type { ChildProcesses } from './child-processes.ts'
import { readMark, writeMark } from './process-mark.ts'

let server: Server
let folder: string
const open: Socket[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-peers-'))
  server = createServer({ allowHalfOpen: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

function peersWith(...ours: number[]): ChildPeers {
  const children = {
    has: (pid: number) => ours.includes(pid),
    split: () => ({ ours, others: ours.includes(process.pid) ? [] : [process.pid] }),
  }
  return new ChildPeers(children as unknown as ChildProcesses)
}

/** Both ends of a connection, as the gate has one of them. */
async function connected(): Promise<{ near: Socket; far: Socket }> {
  const arrived = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const near = await arrived
  open.push(near, far)
  return { near, far }
}

describe.runIf(process.platform === 'linux')('F5: the peer of a connection', () => {
  test('is found, and is the gate’s or is not', async () => {
    const { near } = await connected()
    expect(await new ChildPeers(undefined).isOwn(near)).toBe(false)
    expect(await peersWith().isOwn(near)).toBe(false)
    expect(await peersWith(process.pid).isOwn(near)).toBe(true)
  })

  test('that has sent something and is gone is refused, also where no process of the gate’s is left', async () => {
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
    expect(peersWith(process.pid).refuses(question, process.pid, false)).toContain('itself started')
    process.title = title
    expect([peers, new ChildPeers(undefined)].map(({ isAsking }) => isAsking)).toEqual([
      true,
      false,
    ])
  })
})

describe.runIf(process.platform === 'linux')('F5: the mark of an earlier gate', () => {
  test('is believed within one boot', () => {
    expect(readMark(folder)).toBeUndefined()
    writeMark(folder, 7)
    expect(readMark(folder)).toBe(7)
    const file = join(folder, 'gate.mark')
    const kept = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...kept, boot: 'another' }))
    expect(readMark(folder)).toBeUndefined()
  })

  test('stays below that of the next, whatever the clock says', () => {
    const ahead = (Math.floor(Date.now() / 1_000) + 86_400) * 256
    writeMark(folder, ahead)
    const script = `
      import { OwnChildren } from ${JSON.stringify(join(import.meta.dirname, 'child-processes.ts'))}
      const children = await OwnChildren.mark(process.argv[1], true)
      console.log(children.isSure)`
    const args = ['--input-type=module', '-e', script, folder]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    // Without prlimit there is no mark to speak of.
    if (stdout.trim() === 'true') expect(readMark(folder)).toBe(ahead + 1)
  })
})
