// Who is at the other end of a loopback connection, with processes that the test itself names as the
// gate's; and the marks of gates.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ChildPeers } from './child-peers.ts'
import type { ChildProcesses } from './child-processes.ts'
import { PROCESS_MARKS_MAX } from './limits.ts'
import {
  addMark,
  chooseMark,
  isAtOrBelow,
  type ProcessMark,
  readMarks,
  writeMarks,
} from './process-mark.ts'

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

const NO_LIMITS = { locks: Number.POSITIVE_INFINITY, rss: Number.POSITIVE_INFINITY }

/** The mark that a gate takes which nothing has marked. */
function chooseFirst(stored: readonly ProcessMark[] = [], key?: string): ProcessMark {
  return chooseMark(NO_LIMITS, stored, key) as ProcessMark
}

describe('F5: marks of several gates', () => {
  test('a process of one is never at or below the mark of another, and cannot leave its own', () => {
    const marks = Array.from({ length: 50 }, () => chooseFirst())
    for (const one of marks)
      for (const other of marks) expect(isAtOrBelow(one, other)).toBe(one === other)
    const [a, b] = marks as [ProcessMark, ProcessMark]
    // A process of `a` wants to look like one of `b`: of two limits it can only lower each.
    const lowered = { locks: Math.min(a.locks, b.locks), rss: Math.min(a.rss, b.rss) }
    expect(isAtOrBelow(lowered, a)).toBe(true)
  })

  test('a gate that another one started is below that one, and below no other', () => {
    const [outer, other] = [chooseFirst(), chooseFirst()]
    const inner = [1, 2].map(() => chooseMark(outer, []) as ProcessMark)
    for (const mark of inner) {
      expect(isAtOrBelow(mark, outer)).toBe(true)
      expect(isAtOrBelow(outer, mark)).toBe(false)
      expect(isAtOrBelow(mark, other)).toBe(false)
    }
    expect(isAtOrBelow(inner[0]!, inner[1]!)).toBe(false)
    // Limits that somebody else has set leave less room, or none.
    const low = chooseMark({ locks: 1_000, rss: Number.POSITIVE_INFINITY }, []) as ProcessMark
    expect(low.locks).toBeGreaterThan(0)
    expect(low.locks).toBeLessThan(1_000)
    expect(chooseMark({ locks: 3, rss: 3 }, [])).toBeUndefined()
  })

  test('a directory keeps its mark where it fits; gates of one cluster have one', () => {
    const mark = chooseFirst()
    expect(chooseFirst([mark])).toEqual(mark)
    expect(chooseMark(mark, [mark])).toEqual(mark)
    const outer = chooseFirst()
    const nested = chooseMark(outer, [mark]) as ProcessMark
    expect(isAtOrBelow(nested, outer)).toBe(true)
    expect(chooseMark(outer, [mark, nested])).toEqual(nested)
    expect(chooseFirst([nested])).not.toEqual(nested)
    const shared = chooseFirst([], 'key')
    expect(chooseFirst([mark], 'key')).toEqual(shared)
    expect(chooseFirst([], 'another key')).not.toEqual(shared)
  })

  test('past the limit on their number, every process that was recognised still is', () => {
    let marks: readonly ProcessMark[] = []
    for (let count = 0; count <= PROCESS_MARKS_MAX; count++) {
      const next = chooseFirst()
      const before = marks
      marks = addMark(marks, next)
      for (const mark of [next, ...before])
        expect(marks.some((each) => isAtOrBelow(mark, each))).toBe(true)
    }
    expect(marks).toHaveLength(1)
  })
})

describe.runIf(process.platform === 'linux')('F5: the marks of earlier gates', () => {
  test('are believed within one boot, those of an earlier version too', () => {
    expect(readMarks(folder)).toEqual([])
    const marks = [chooseFirst(), { locks: 7, rss: Number.POSITIVE_INFINITY }]
    writeMarks(folder, marks)
    expect(readMarks(folder)).toEqual(marks)
    const file = join(folder, 'gate.mark')
    const { boot } = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ boot, mark: 7 }))
    expect(readMarks(folder)).toEqual([{ locks: 7, rss: Number.POSITIVE_INFINITY }])
    writeFileSync(file, JSON.stringify({ boot: 'another', mark: 7 }))
    expect(readMarks(folder)).toEqual([])
  })

  test('are set on the gate and on what it starts, whatever that lowers', () => {
    // Marks itself for a directory, starts a process, which lowers a limit, and one that is a gate of another one.
    const script = `
      import { spawn, spawnSync } from 'node:child_process'
      import { ChildProcesses } from ${JSON.stringify(join(import.meta.dirname, 'child-processes.ts'))}
      const [directory, other] = process.argv.slice(1)
      const children = await ChildProcesses.mark(directory, { startsProcesses: true })
      const again = await ChildProcesses.mark(directory, { startsProcesses: true })
      const inner = await ChildProcesses.mark(other, { startsProcesses: true })
      const lowered = spawn('sh', ['-c', 'prlimit --pid $$ --locks=5:5; echo; exec cat'], { stdio: 'pipe' })
      await new Promise((resolve) => lowered.stdout.once('data', resolve))
      const has = (of) => [of.isSure, of.has(lowered.pid), of.has(process.ppid)]
      console.log(JSON.stringify([children, again, inner].map(has)))
      lowered.kill()`
    const other = mkdtempSync(join(folder, 'other-'))
    const args = ['--input-type=module', '-e', script, folder, other]
    const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stderr).toBe('')
    const found: boolean[][] = JSON.parse(stdout)
    // Without prlimit there is no mark to speak of.
    if (found[0]?.[0]) expect(found).toEqual(Array(3).fill([true, true, false]))
    expect(readMarks(folder)).toHaveLength(1)
  })
})
