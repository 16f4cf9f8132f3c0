// What a session remembers at several gates, on rows that lie in memory.

import { expect, test } from 'vitest'
import { SharedAnswers } from './shared-answers.ts'

const NAME = { owner: 'ann', number: 1 }
const READ_MAIL = {
  hasPrompt: false,
  hasRead: true,
  hasProse: true,
  table: Uint32Array.of(1, 0),
  prompt: Uint32Array.of(0, 0),
}

type Rows = ConstructorParameters<typeof SharedAnswers>[0]['rows']

function createRows(): Rows {
  const stored: { name: typeof NAME; writer: string; seq: bigint; body: Uint8Array }[] = []
  return {
    addAnswers: async (writer, rows) => {
      for (const { name, body } of rows)
        stored.push({ name, writer, seq: BigInt(stored.length + 1), body })
      return rows.map(({ name }) => ({ ...name, isSplit: false }))
    },
    readAnswers: async (writer, since) =>
      stored.filter(
        (row) => row.writer !== writer && since.some(({ seq }) => row.seq > (seq ?? 0n)),
      ),
  }
}

const open = (rows: Rows) =>
  new SharedAnswers({ rows, key: Buffer.alloc(32, 1), refresh: async () => {} })

test.each(['unload', 'drop'] as const)(
  'finding: after %s a gate reads again what it has stored itself',
  async (forget) => {
    const answers = open(createRows())
    await answers.open('s', NAME, true)
    answers.add('s', READ_MAIL, false)
    await answers.whenStored('s')
    answers[forget]('s')
    await answers.open('s', NAME, false)
    expect(answers.take('s')).toEqual([READ_MAIL])
  },
)

test('finding: a session that is opened again has what is still on its way to the store', async () => {
  const rows = createRows()
  const { promise: isThere, resolve: arrive } = Promise.withResolvers<void>()
  const { addAnswers } = rows
  const answers = open({
    ...rows,
    addAnswers: async (writer, added) => {
      await isThere
      return addAnswers(writer, added)
    },
  })
  await answers.open('s', NAME, true)
  answers.add('s', READ_MAIL, false)
  answers.unload('s')
  const opened = answers.open('s', NAME, false)
  arrive()
  await opened
  expect(answers.take('s')).toEqual([READ_MAIL])
})

test('a gate does not merge again what it has added while it remembers it', async () => {
  const rows = createRows()
  const [one, other] = [open(rows), open(rows)]
  await one.open('s', NAME, true)
  one.add('s', READ_MAIL, false)
  await one.whenStored('s')
  await one.follow([{ ...NAME, answers: 1n } as never])
  expect(one.take('s')).toEqual([])
  await other.open('s', NAME, false)
  expect(other.take('s')).toEqual([READ_MAIL])
})
