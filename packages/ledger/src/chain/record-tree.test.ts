// Trees of both versions: the shape of version 2 as the reference page defines it, and a chain that was begun in version 1
// and goes on in version 2, with its old checkpoints and proofs, and after its first records were dropped.

import { createHash } from 'node:crypto'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { signerForTests } from '../signer.test-support.ts'
import { checkProof, proveRecord, readProof } from '../verify/proof.ts'
import { verifyLedger } from '../verify/verify.ts'
import { eachHash } from './block.ts'
import { type Checkpoint, checkpointText, makeCheckpoint, readCheckpoint } from './checkpoint.ts'
import { readCheckpoints, thinCheckpoints } from './checkpoint-file.ts'
import { blocksFrom, openLedgerReadOnly } from './read.ts'
import { RecordTree } from './record-tree.ts'

const signer = signerForTests('record tree')
const HOUR_MS = 3_600_000
const START_MS = 1_800_000_000_000
const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const hashes = Array.from({ length: 700 }, (_, n) => sha(Buffer.from(`record ${n}`)))

/** RFC 6962 over leaves of 64 hashes. */
function defined(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return sha(Buffer.from([0]), leaves[0] as Buffer)
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return sha(Buffer.from([1]), defined(leaves.slice(0, k)), defined(leaves.slice(k)))
}

function listLeaves(records: readonly Buffer[]): Buffer[] {
  const count = Math.ceil(records.length / 64)
  return Array.from({ length: count }, (_, n) => Buffer.concat(records.slice(n * 64, n * 64 + 64)))
}

test('version 2 is RFC 6962 over groups of 64 hashes, also after a first leaf and when it goes on from a checkpoint', () => {
  const property = fc.property(
    fc.integer({ min: 0, max: 150 }),
    fc.integer({ min: 1, max: 500 }),
    fc.nat(),
    (from, count, pauseSeed) => {
      const before = sha(Buffer.from('before'))
      let tree =
        from === 0 ? RecordTree.empty(2) : RecordTree.beginAfter(from, before.toString('hex'))
      const records = hashes.slice(from, from + count)
      for (const [at, hash] of records.entries()) {
        if (at > 0 && at === pauseSeed % count) {
          const parts = { tree, head: hash.toString('latin1'), nowMs: START_MS }
          tree = new RecordTree(readCheckpoint(checkpointText(makeCheckpoint(parts, signer)), ''))
        }
        tree.add(hash.toString('latin1'))
      }
      const first = from === 0 ? [] : [before]
      const root = defined([...first, ...listLeaves(records)]).toString('latin1')
      expect(tree.root).toBe(root)
    },
  )
  fc.assert(property, runs(50))
})

/** A chain with checkpoints of version 1 up to record 100, as 0.1.0 has left it. */
async function beginInVersion1() {
  const directory = freshDirectory()
  const file = join(directory, CHECKPOINTS_FILE)
  let nowMs = START_MS
  const append = async (ledger: Ledger, count: number) => {
    for (let n = 0; n < count; n++) {
      nowMs += 1_000
      const seq = await ledger.intent(decisionEntry(n, { atMs: nowMs }))
      ledger.outcome(seq, { atMs: nowMs, status: 'answered' })
    }
  }
  const old = Ledger.open({ directory, now: () => nowMs })
  await append(old, 50)
  old.close()
  using database = openLedgerReadOnly(directory)
  const tree = RecordTree.empty(1)
  for (const { data, seq, count } of blocksFrom(database)) {
    let head = ''
    eachHash(data, (hash) => {
      tree.add(hash)
      head = hash
    })
    const text = checkpointText(makeCheckpoint({ tree, head, nowMs }, signer))
    if (seq + count - 1 === 100 || tree.seq === 41) appendFileSync(file, `${text}\n`)
    // The form of version 1 has not changed.
    expect(Object.keys(JSON.parse(text)).join(' ')).toBe(
      'version seq time head root peaks key signature',
    )
  }
  const open = () =>
    Ledger.open({ directory, now: () => nowMs, checkpoints: { signer, every: 70 } })
  const reader = openLedgerReadOnly(directory)
  const read = () => readCheckpoints(file).map(({ checkpoint }) => checkpoint)
  const verify = (checkpoints = readCheckpoints(file)) =>
    verifyLedger(reader, { checkpoints, keys: [signer.publicKey], tree: true })
  return { append, file, open, read, reader, verify, wait: (ms: number) => (nowMs += ms) }
}

function isProven(proof: object, checkpoint: Checkpoint): boolean {
  return 'record' in checkProof(readProof(JSON.stringify(proof), 'here'), checkpoint)
}

test('a chain that was begun in version 1 goes on: every checkpoint holds, and every record is proved', async () => {
  const { append, file, open, read, reader, verify, wait } = await beginInVersion1()
  for (let run = 0; run < 3; run++) {
    const ledger = open()
    await append(ledger, 47)
    ledger.close()
  }
  const all = read()
  expect(all.filter(({ version }) => version === 1).map(({ seq }) => seq)).toHaveLength(2)
  expect(all.filter(({ version }) => version === 2).every(({ from }) => from === 100)).toBe(true)
  expect(all.at(-1)).toMatchObject({ version: 2, seq: 100 + 3 * 94 })
  expect(verify().problems).toEqual([])
  for (const checkpoint of all)
    for (let seq = checkpoint.from + 1; seq <= checkpoint.seq; seq += 9) {
      const proof = proveRecord(reader, seq, checkpoint)
      expect(isProven(proof, checkpoint)).toBe(true)
      expect(isProven({ ...proof, record: `${proof.record} ` }, checkpoint)).toBe(false)
      const other = all.find(({ version }) => version !== checkpoint.version) as Checkpoint
      expect(isProven(proof, other)).toBe(false)
    }
  const last = all.at(-1) as Checkpoint
  const proof = proveRecord(reader, 180, last)
  const { group = [] } = proof
  for (const wrong of [
    { ...proof, group: group.with(0, '00'.repeat(32)) },
    { ...proof, group: group.slice(1) },
    { ...proof, group: [...group.slice(1), group[0]] },
    { ...proof, seq: 181 },
  ])
    expect(isProven(wrong, last)).toBe(false)
  expect(() => proveRecord(reader, 100, last)).toThrow('tree begins after record 100')

  // What a thinned file keeps is enough to prove old records.
  thinCheckpoints(file, 10)
  expect(
    read()
      .filter(({ version }) => version === 1)
      .map(({ seq }) => seq),
  ).toEqual([100])
  expect(verify().problems).toEqual([])

  // Dropped up to a checkpoint of version 1, and then up to one of version 2 in the middle of a group.
  wait(HOUR_MS)
  const dropAll = async () => {
    const ledger = open()
    const count = await ledger.retain({ keepBytes: 1 }, Number.POSITIVE_INFINITY)
    ledger.close()
    return count
  }
  writeFileSync(
    file,
    `${all
      .filter(({ seq }) => seq <= 100 || seq === last.seq)
      .map(checkpointText)
      .join('\n')}\n`,
  )
  expect(await dropAll()).toBeGreaterThanOrEqual(100)
  expect(verify().problems).toEqual([])
  const again = open()
  await append(again, 30)
  again.close()
  const newest = read().at(-1) as Checkpoint
  expect(await dropAll()).toBeGreaterThan(0)
  const { dropped, problems } = verify()
  expect(problems).toEqual([])
  for (let seq = dropped + 1; seq <= newest.seq; seq++)
    expect(isProven(proveRecord(reader, seq, newest), newest)).toBe(true)
  reader.close()
})

test('a first leaf that version 1 did not have is found', async () => {
  const { append, open, read, reader, verify } = await beginInVersion1()
  const ledger = open()
  await append(ledger, 40)
  ledger.close()
  const [last] = read().slice(-1) as [Checkpoint]
  const tree = RecordTree.beginAfter(100, '00'.repeat(32))
  for (const { data, seq } of blocksFrom(reader, 101))
    eachHash(data, (hash) => seq > 100 && tree.add(hash))
  const head = Buffer.from(last.head, 'hex').toString('latin1')
  const checkpoint = makeCheckpoint({ tree, head, nowMs: START_MS }, signer)
  const made = [{ checkpoint, where: 'here' }]
  expect(verify(made).problems).toMatchObject([{ seq: 100, kind: 'forged' }])
  reader.close()
})
