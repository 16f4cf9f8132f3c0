// An attacker who can write the data directory and knows the format: a chain of 200 records is
// edited, truncated, reordered and rehashed as a whole, including anchors. The signed checkpoints
// detect it.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spread } from '../../../test/support/runs.ts'
import { BlockWriter, listRecordSpans, recordText } from './chain/block.ts'
import { type Checkpoint, makeCheckpoint } from './chain/checkpoint.ts'
import { readCheckpoints } from './chain/checkpoint-file.ts'
import { blocksFrom } from './chain/read.ts'
import { RecordTree } from './chain/record-tree.ts'
import { decisionEntry } from './decision-entries.test-support.ts'
import { Ledger } from './ledger.ts'
import { CHECKPOINTS_FILE, ledgerFile } from './records/files.ts'
import { freshDirectoryForAll } from './samples.test-support.ts'
import { signerForTests } from './signer.test-support.ts'
import { FIRST_HASH } from './store/chain-hash.ts'
import { checkProof, proveRecord } from './verify/proof.ts'
import { verifyLedger } from './verify/verify.ts'

const RECORDS = 200
const SEQS = spread(RECORDS)
const signer = signerForTests('one')
const KEYS = [signer.publicKey]

let directory = ''
let file: DatabaseSync
let memory: DatabaseSync
let texts: string[]
let checkpoints: ReturnType<typeof readCheckpoints>

beforeAll(async () => {
  directory = freshDirectoryForAll()
  const ledger = Ledger.open({ directory, checkpoints: { signer, every: 60 } })
  for (let at = 0; at < RECORDS; at += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => ledger.intent(decisionEntry(at + n))))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  ledger.close()
  checkpoints = readCheckpoints(join(directory, CHECKPOINTS_FILE))
  file = new DatabaseSync(join(directory, 'ledger.db'))
  // Mostly in memory: a thousand ledgers are written and verified here.
  memory = new DatabaseSync(':memory:')
  for (const step of ledgerFile(directory).migrations) memory.exec(step)
  texts = [...blocksFrom(file)].flatMap(({ data }) =>
    listRecordSpans(data).map((place) => recordText(data, place)),
  )
})
afterAll(() => {
  file.close()
  rmSync(directory, { recursive: true })
})

/** A whole chain of these records, as the gate would have written them. */
function write(records: readonly string[], database = memory): void {
  const block = new BlockWriter()
  database.exec('BEGIN; DELETE FROM blocks; DELETE FROM anchors')
  const insert = database.prepare('INSERT INTO blocks VALUES (?, ?, ?, ?, ?)')
  let previous = FIRST_HASH
  for (let at = 0; at < records.length; at += 8) {
    const part = records.slice(at, at + 8)
    block.begin(previous)
    for (const text of part) block.append(text)
    const times = part.map((text) => Number(JSON.parse(text)[3]))
    insert.run(at + 1, part.length, Math.max(...times), 1, block.data)
    previous = block.hash
  }
  database.exec('COMMIT')
}

function problems(
  held: readonly { checkpoint: Checkpoint; where: string }[] = checkpoints,
  tree = false,
) {
  return verifyLedger(memory, { checkpoints: held, keys: KEYS, tree }).problems
}

test('rewritten unchanged, it verifies, and the last checkpoint covers all of it', () => {
  write(texts)
  expect(texts).toHaveLength(RECORDS)
  expect(checkpoints.at(-1)?.checkpoint.seq).toBe(RECORDS)
  expect(checkpoints.length).toBeGreaterThan(2)
  expect(problems()).toEqual([])
  expect(problems(checkpoints, true)).toEqual([])
})

test('a root that its own signer made up is found if the tree is checked', () => {
  write(texts)
  const { checkpoint } = checkpoints.at(-1) as (typeof checkpoints)[number]
  const tree = RecordTree.empty(2)
  while (tree.seq < checkpoint.seq) tree.add(FIRST_HASH)
  const head = Buffer.from(checkpoint.head, 'hex').toString('latin1')
  const made = makeCheckpoint({ head, tree, nowMs: 1 }, signer)
  expect(problems([{ checkpoint: made, where: 'here' }])).toEqual([])
  expect(problems([{ checkpoint: made, where: 'here' }], true)).toMatchObject([{ kind: 'forged' }])
})

describe('every record, with all hashes recomputed', () => {
  test('edited', () => {
    for (const seq of SEQS) {
      write(texts.with(seq - 1, (texts[seq - 1] as string).replace('stripe', 'strife')))
      const [first] = problems()
      // The first checkpoint after it detects it.
      expect(first).toMatchObject({ kind: 'edited' })
      expect(first?.seq).toBe(
        checkpoints.find(({ checkpoint }) => checkpoint.seq >= seq)?.checkpoint.seq,
      )
    }
  })

  test('removed, and those after it renumbered', () => {
    for (const seq of SEQS) {
      write(
        texts.toSpliced(seq - 1, 1).map((text, at) => text.replace(/^\[1,\d+,/, `[1,${at + 1},`)),
      )
      expect(problems().length).toBeGreaterThan(0)
    }
  })

  test('swapped with the next, including numbers', () => {
    for (const seq of SEQS.slice(0, -1)) {
      const [one, two] = [texts[seq - 1] as string, texts[seq] as string]
      const number = (text: string, is: number) => text.replace(/^\[1,\d+,/, `[1,${is},`)
      write(texts.with(seq - 1, number(two, seq)).with(seq, number(one, seq + 1)))
      expect(problems().length).toBeGreaterThan(0)
    }
  })

  test('the tail truncated at every point, with the first missing record named', () => {
    for (const seq of SEQS) {
      write(texts.slice(0, seq - 1))
      expect(problems()).toMatchObject([{ seq, kind: 'missing' }])
    }
  })
})

describe('checkpoints', () => {
  test('forged in any part are found, and are ignored', () => {
    write(texts)
    const placed = checkpoints.at(-1)
    const { checkpoint } = placed as (typeof checkpoints)[number]
    const other = signerForTests('other')
    const forged: Checkpoint[] = [
      { ...checkpoint, seq: checkpoint.seq + 1 },
      { ...checkpoint, time: '2020-01-01T00:00:00.000Z' },
      { ...checkpoint, head: '00'.repeat(32) },
      { ...checkpoint, root: '00'.repeat(32) },
      { ...checkpoint, from: 1, before: checkpoint.root },
      { ...checkpoint, peaks: checkpoint.peaks.toReversed() },
      { ...checkpoint, group: checkpoint.group.toReversed() },
      { ...checkpoint, signature: (checkpoints[1] as typeof placed)!.checkpoint.signature },
      { ...checkpoint, key: other.publicKey },
      { ...checkpoint, key: other.publicKey, signature: other.sign('anything') },
    ]
    for (const one of forged)
      expect(problems([{ checkpoint: one, where: 'here' }])).toMatchObject([{ kind: 'forged' }])
  })

  test('of a chain that was rewritten and signed by another key are not trusted', async () => {
    const elsewhere = freshDirectoryForAll()
    const checkpointer = { signer: signerForTests('other'), every: 10 }
    const ledger = Ledger.open({ directory: elsewhere, checkpoints: checkpointer })
    await ledger.intent(decisionEntry(1))
    ledger.close()
    const others = readCheckpoints(join(elsewhere, CHECKPOINTS_FILE))
    rmSync(elsewhere, { recursive: true })
    expect(problems(others)).toMatchObject([{ kind: 'forged' }])
  })

  test('a start refuses a ledger whose end is missing, and a different one', () => {
    for (const records of [
      texts.slice(0, 150),
      texts.with(3, (texts[3] as string).replace('ann', 'bob')),
    ]) {
      write(records, file)
      expect(() => Ledger.open({ directory })).toThrow(/checkpoint at the end of/)
      expect(() => Ledger.open({ directory, checkpoints: { signer } })).toThrow('checkpoint')
    }
  })

  test('that a crash truncated in the middle of a line are repaired', () => {
    write(texts, file)
    const path = join(directory, CHECKPOINTS_FILE)
    const lines = checkpoints.map(({ checkpoint }) => JSON.stringify(checkpoint))
    writeFileSync(path, `${lines.join('\n')}\n${lines.at(-1)?.slice(0, 40)}`)
    expect(readCheckpoints(path)).toHaveLength(lines.length)
    // One more is created at close, over the calls that the start marked unknown.
    Ledger.open({ directory, checkpoints: { signer } }).close()
    expect(readCheckpoints(path)).toHaveLength(lines.length + 1)
  })
})

test('every record is proved to a holder of only a checkpoint, and no other is', () => {
  write(texts)
  for (const { checkpoint } of [checkpoints[0], checkpoints.at(-1)] as typeof checkpoints)
    for (const seq of SEQS.filter((each) => each <= checkpoint.seq)) {
      const proof = proveRecord(memory, seq, checkpoint)
      expect(checkProof(proof, checkpoint)).toMatchObject({ record: { seq } })
      const forged = { ...proof, record: proof.record.replace('stripe', 'strife') }
      expect(checkProof(forged, checkpoint)).toHaveProperty('fault')
    }
  const last = (checkpoints.at(-1) as (typeof checkpoints)[number]).checkpoint
  const proof = proveRecord(memory, 100, last)
  for (const wrong of [
    { ...proof, seq: 101 },
    { ...proof, previous: '00'.repeat(32) },
    { ...proof, path: proof.path.slice(1) },
    { ...proof, size: 199 },
  ])
    expect(checkProof(wrong, last)).toHaveProperty('fault')
  expect(() => proveRecord(memory, 201, last)).toThrow('ends with record 200')
})
