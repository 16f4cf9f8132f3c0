// `npm run soak -- clients [--sessions N] [--minutes N] [--rate N]`: 200 sessions at one gate for ten minutes, of which
// some end and others begin all the time. Prints what the gate takes every half minute. What it holds after a garbage
// collection does not grow after the first third; what grows is named. `--rate` is the calls in a second, of all sessions.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, fixture, type RunningGate, startGate, until } from '../support/start-gate.ts'

const EVERY_MS = 30_000
/** Of the sessions, each half minute. */
const RENEWED_SHARE = 0.1
const GROWTH_MAX = 1.1
/** Classes of objects that are named, those that grew most first. */
const NAMED_MAX = 8
const POLICY = `version: 1
default: allow
labels: { count/read: [private] }
tools:
  count/fail: deny
  count/write: { action: allow, rate_limit: { max: 1000, window: 1m } }
`
const PARTS = {
  resident: 'process_resident_memory_bytes',
  heap: 'nodejs_heap_size_used_bytes',
  external: 'nodejs_external_memory_bytes',
} as const

type Memory = Record<keyof typeof PARTS, number>

export async function run(options: RunOptions): Promise<number> {
  const { minutes = '10', rate = '20', sessions = '200' } = options
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
  const server = { ...fixture('counter', join(folder, 'calls')), share: 'all' as const }
  process.env.NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`
  const gate = await startGate({ servers: { count: server }, policy: POLICY })
  delete process.env.NODE_OPTIONS
  try {
    const size = { count: Number(sessions), rate: Number(rate) }
    await load(gate, size, (Number(minutes) * 60_000) / 3)
    const before = await readLiveHeap(gate, folder)
    await load(gate, size, (Number(minutes) * 60_000 * 2) / 3)
    return compare(before, await readLiveHeap(gate, folder))
  } finally {
    await endGates()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Load {
  readonly count: number
  readonly rate: number
}

async function load(gate: RunningGate, { count, rate }: Load, forMs: number): Promise<void> {
  const clients: PlainClient[] = []
  for (let at = 0; at < count; at++) clients.push(await PlainClient.open(gate, 'count'))
  const startMs = performance.now()
  let calls = 0
  let opened = count
  const call = async (at: number): Promise<void> => {
    const name = ['read', 'write', 'write', 'fail'][calls++ % 4] as string
    const reply = await clients[at]?.call(name, { text: `${'x'.repeat(200)} ${calls}` })
    if (reply?.status !== 200) throw new Error(`a call failed: ${reply?.text}`)
  }
  for (let nextMs = startMs + EVERY_MS; performance.now() < startMs + forMs; nextMs += EVERY_MS) {
    while (performance.now() < nextMs) {
      const batchMs = performance.now()
      const batch = Array.from({ length: rate }, () => call(Math.floor(Math.random() * count)))
      await Promise.all(batch)
      await wait(Math.max(0, 1_000 - (performance.now() - batchMs)))
    }
    for (let renewed = 0; renewed < count * RENEWED_SHARE; renewed++) {
      const at = opened++ % count
      await clients[at]?.end()
      clients[at] = await PlainClient.open(gate, 'count')
    }
    const { external, heap, resident } = await readMemory(gate)
    const seconds = Math.round((performance.now() - startMs) / 1_000)
    console.log(
      `${seconds} s, ${calls} calls, ${opened} sessions: ${resident} MB resident, ${heap} MB heap, ${external} MB external`,
    )
  }
  for (const client of clients) await client.end()
}

/** Bytes by class of object, after a garbage collection: a heap snapshot of the gate's main thread. */
async function readLiveHeap(gate: RunningGate, folder: string): Promise<Map<string, number>> {
  gate.process.kill('SIGUSR2')
  const find = () => readdirSync(folder).find((name) => name.endsWith('.heapsnapshot'))
  let text = ''
  await until(() => {
    const name = find()
    if (name !== undefined) text = readFileSync(join(folder, name), 'utf8')
    return text.trimEnd().endsWith(']}')
  })
  rmSync(join(folder, find() ?? ''))
  const { nodes, snapshot, strings } = JSON.parse(text) as HeapSnapshot
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field))
  const sizes = new Map<string, number>()
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[0]?.[nodes[at + (type ?? 0)] ?? 0] ?? ''
    const own = kind === 'object' ? ` ${strings[nodes[at + (name ?? 0)] ?? 0]}` : ''
    const key = `${kind}${own}`
    sizes.set(key, (sizes.get(key) ?? 0) + (nodes[at + (size ?? 0)] ?? 0))
  }
  return sizes
}

interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: string[]; readonly node_types: string[][] }
  }
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}

function compare(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  const sum = (sizes: ReadonlyMap<string, number>) =>
    [...sizes.values()].reduce((total, size) => total + size, 0)
  const [was, is] = [sum(before), sum(after)]
  const megabytes = (bytes: number) => (bytes / 1_048_576).toFixed(2)
  console.log(`live heap: ${megabytes(was)} MB after a third, ${megabytes(is)} MB at the end`)
  const grown = [...after]
    .map(([name, size]) => [name, size - (before.get(name) ?? 0)] as const)
    .sort(([, one], [, other]) => other - one)
  for (const [name, size] of grown.slice(0, NAMED_MAX))
    console.log(`  ${megabytes(size)} MB ${name}`)
  const hasGrown = is > was * GROWTH_MAX
  console.log(hasGrown ? 'it grows' : 'no growth')
  return hasGrown ? 1 : 0
}

async function readMemory(gate: RunningGate): Promise<Memory> {
  const { stdout } = await sluice(['status', '--metrics', '--data', gate.data])
  const megabytes = (name: string): number => {
    const [, bytes] = new RegExp(`^${name} (\\S+)$`, 'm').exec(stdout) ?? []
    return Math.round(Number(bytes) / 1_048_576)
  }
  const parts = Object.entries(PARTS).map(([part, name]) => [part, megabytes(name)])
  return Object.fromEntries(parts) as Memory
}
