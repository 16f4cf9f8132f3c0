// Slices: no piece of an operation on a large agent is long, and the pieces together are the whole.

import { expect, onTestFinished, test, vi } from 'vitest'
import { bench, configOf } from '../agents.test-support.ts'
import { Instance } from '../sandbox/instance.ts'
import { CHECKPOINT_EVENT_BYTES, SLICE_MS } from '../shared/limits.ts'
import { runSlice, runWhole, type SlicedWork } from '../shared/sliced.ts'
import { packFiles } from '../transfer/pack-files.ts'

/** How often each piece of the work, from one yield to the next, calls the guest. */
function callsOf(work: SlicedWork<unknown>): number[] {
  const call = vi.spyOn(Instance.prototype, 'call')
  onTestFinished(() => call.mockRestore())
  for (const pieces: number[] = []; ; ) {
    const before = call.mock.calls.length
    const { done } = work.next()
    pieces.push(call.mock.calls.length - before)
    if (done === true) return pieces
  }
}

test('a slice ends at the first yield after its time, and the next goes on behind it', () => {
  let nowMs = 0
  function* count(): SlicedWork<string> {
    for (let at = 0; at < 100; at++) {
      nowMs += 1
      yield
    }
    return 'all'
  }
  const work = count()
  expect(runSlice(work, () => nowMs)).toEqual({ done: false, value: undefined })
  expect(nowMs).toBe(SLICE_MS)
  expect(runWhole(work)).toBe('all')
  expect(nowMs).toBe(100)
})

const FILES = 100

test('export, files and programFiles of an agent with many files have no long piece', async () => {
  const b = await bench()
  const loose = Array.from({ length: FILES }, (_, at) => ({
    path: `d/f${at}.txt`,
    content: 'some text '.repeat(100),
  }))
  await b.create('a', configOf(), 'me', packFiles(loose).files)
  const { operations } = b
  const works: SlicedWork<unknown>[] = [
    operations.files('me', 'a', {}, 1),
    operations.programFiles('a', 1),
    operations.takeExport('me', 'a', 1, true),
  ]
  for (const work of works) {
    const pieces = callsOf(work)
    expect(pieces.length).toBeGreaterThan(FILES)
    expect(Math.max(...pieces)).toBeLessThan(5)
  }
})

/** Takes all the effort that the tools of a turn have. */
const LONG_GREP = { pattern: '(a|b)*a(a|b){60}c' }

test('what a replay takes is bounded: long events are behind a checkpoint, and a turn is made ready in slices', async () => {
  const b = await bench()
  const line = Array.from({ length: 3_000 }, (_, at) => 'ab'[(at * at * 7 + (at >> 3)) % 2]).join(
    '',
  )
  await b.create('a', configOf(), 'me', packFiles([{ path: 'f', content: line }]).files)
  await b.model('a', await b.prompt('a'), 'done')
  const { operations, stepper } = b
  const { key } = operations.standing('me', 'a', 1).agent
  for (let at = 0; at < 4; at++) await b.tool('a', 'grep', LONG_GREP)
  const { seq } = operations.standing('me', 'a', 1).agent
  expect(seq - stepper.journal.memories.checkpointSeq(key)).toBeLessThan(3)
  await b.model('a', await b.prompt('a'), 'done')
  // Later checkpoints make those between superfluous: the end of the first turn has none near it.
  for (let at = 0; at < 2; at++) await b.tool('a', 'grep', LONG_GREP)
  const turn = 1
  const pieces = callsOf(operations.prepareTurn('me', 'a', turn))
  expect(pieces.length).toBeGreaterThan(3)
  expect(Math.max(...pieces)).toBe(1)
  const of = stepper.journal.seqOfTurn(key, turn) ?? 0
  expect(stepper.journal.memories.memoryOf(key, of)).toBeDefined()
  const [fork] = operations.fork('me', 'a', { ids: ['past'], turn, nowMs: b.now })
  expect(fork?.summary.turnCount).toBe(turn)
  expect(callsOf(operations.prepareTurn('me', 'a', turn))).toEqual([0])
})

test('a checkpoint of a large agent is packed in slices, and again when its memory has to be there', async () => {
  const b = await bench()
  const text = Array.from({ length: 250_000 }, (_, at) =>
    String.fromCharCode(33 + ((at * at) % 90)),
  )
  const loose = Array.from({ length: 4 }, (_, at) => ({ path: `f${at}`, content: text.join('') }))
  await b.create('a', configOf(), 'me', packFiles(loose).files)
  const { operations, stepper } = b
  const { memories } = stepper.journal
  const find = () => operations.standing('me', 'a', 1).agent
  const { key } = find()
  const before = memories.checkpointSeq(key)
  await b.tool('a', 'write_file', { path: 'e', content: 'e'.repeat(CHECKPOINT_EVENT_BYTES) })
  // Nothing was packed in the step itself.
  expect(memories.checkpointSeq(key)).toBe(before)
  await expect.poll(() => memories.checkpointSeq(key)).toBe(find().seq)
  const { seq } = find()
  await b.tool('a', 'write_file', { path: 'g', content: 'more' })
  expect([...operations.prepareTurn('me', 'a', null)].length).toBeGreaterThan(2)
  const memory = stepper.residents.memory(find())
  expect(memories.checkpoint(key, find().seq)).toMatchObject({ seq: seq + 1, memory })

  await b.tool('a', 'write_file', { path: 'h', content: 'more' })
  const lost = operations.prepareTurn('me', 'a', null)
  lost.next()
  operations.remove('me', 'a')
  expect(() => runWhole(lost)).toThrow(/no agent/)
  expect(memories.checkpointSeq(key)).toBe(0)
})
