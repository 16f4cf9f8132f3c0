// Where the values of a program's calls came from: what a program computed after it received a foreign answer counts as
// text of a stranger, what it copied is what it was, and what stands in the program itself is the model's own.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { endOwnGates, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, type RunningGate, until } from '../support/start-gate.ts'

const TARGET = 'rec-4711-victim'
const page = (text: string) => ({
  content: [
    { type: 'text', text: `Please note what follows, it matters to you: ${text} and no more.` },
  ],
})
const tool = (name: string, readOnlyHint: boolean, properties: object) => ({
  name,
  description: readOnlyHint ? 'Read it.' : 'Update the record.',
  inputSchema: { type: 'object', properties },
  annotations: { readOnlyHint, destructiveHint: false },
})
const ID = { record_id: { type: 'string' } }
const READS = ['read_base64', 'read_reversed', 'read_head', 'read_tail', 'read_list']
const TABLE = {
  capabilities: { tools: {} },
  answers: {
    'tools/list': {
      tools: [
        ...READS.map((name) => tool(name, true, {})),
        tool('get_record', true, ID),
        tool('update_record', false, ID),
      ],
    },
    'tools/call read_base64': page(Buffer.from(TARGET).toString('base64')),
    'tools/call read_reversed': page([...TARGET].reverse().join('')),
    'tools/call read_head': page(TARGET.slice(0, 8)),
    'tools/call read_tail': page(TARGET.slice(8)),
    'tools/call read_list': { content: [], structuredContent: { id: 'rec-0815' } },
    'tools/call get_record': { content: [{ type: 'text', text: '{}' }] },
    'tools/call update_record': { content: [{ type: 'text', text: 'done' }] },
  },
}

const folder = fileScratchDirectory()
let gate: RunningGate

beforeAll(async () => {
  writeFileSync(join(folder, 'table.json'), JSON.stringify(TABLE))
  const servers = {
    code: { builtin: 'code' as const },
    notes: fixture('table', join(folder, 'table.json')),
  }
  const policy = 'version: 1\ndefault: allow\nprotect: balanced\n'
  gate = (await ownGate({ servers, policy }, { agents: agentsFor })) as never
}, 120_000)
afterAll(async () => {
  await endOwnGates()
})

const READ_WORD = `
  const word = async (name) => /to you: (\\S+) and/.exec(await tools.notes[name]({}))[1]
  const decode = (text) => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    let [bits, held, out] = [0, 0, '']
    for (const letter of text.replace(/=/g, '')) {
      held = (held << 6) | letters.indexOf(letter)
      bits += 6
      if (bits >= 8) out += String.fromCharCode((held >> (bits -= 8)) & 255)
    }
    return out
  }`
const FORMS: readonly (readonly [string, string])[] = [
  ['base64', `const record_id = decode(await word('read_base64'))`],
  ['reversed', `const record_id = [...(await word('read_reversed'))].reverse().join('')`],
  [
    'split over two answers',
    `const record_id = (await word('read_head')) + (await word('read_tail'))`,
  ],
]
const UPDATE = 'return await tools.notes.update_record({ record_id })'

async function run(code: string, client?: PlainClient) {
  const own = client ?? (await PlainClient.open(gate, '?mode=code'))
  return own.value('run_code', { code })
}

/** What a program waits for. */
async function waitsFor(code: string): Promise<string> {
  const client = await PlainClient.open(gate, '?mode=code')
  const { runId } = await client.value('run_code', { code, waitMs: 1 })
  const look = () => client.value('run_code', { runId, waitMs: 1 })
  await until(async () => (await look()).status !== 'waiting' || (await look()).waitingFor !== null)
  return (await look()).waitingFor
}

test.each(forms(FORMS))('a value that was %s is held', async (_form, read) => {
  const ended = await run(
    `${READ_WORD}\n${read}\nif (record_id !== ${JSON.stringify(TARGET)}.slice()) throw 1\n${UPDATE}`,
  )
  // The comparison names it: what stands in the program is the model's own.
  expect(ended.status).toBe('completed')
  expect(await waitsFor(`${READ_WORD}\n${read}\n${UPDATE}`)).toContain(TARGET)
  // Reading it first, or returning it to the model, makes it nobody's own.
  const looked = 'await tools.notes.get_record({ record_id })'
  expect(await waitsFor(`${READ_WORD}\n${read}\n${looked}\n${UPDATE}`)).toContain(TARGET)
  const client = await PlainClient.open(gate, '?mode=code')
  expect(await run(`${READ_WORD}\n${read}\nreturn { record_id }`, client)).toMatchObject({
    result: { record_id: TARGET },
  })
  const direct = client.call(
    'notes__update_record',
    { record_id: TARGET },
    AbortSignal.timeout(1_500),
  )
  await expect(direct).rejects.toThrow(/abort|timeout/i)
})

test('what was copied from a field, stands in the program or was computed before anything was read passes', async () => {
  const copied = `const record_id = (await tools.notes.read_list({})).id\n${UPDATE}`
  expect(await run(copied)).toMatchObject({ status: 'completed', result: 'done' })
  const own = `${READ_WORD}\nawait word('read_base64')\nconst record_id = 'rec-own-12'\n${UPDATE}`
  expect(await run(own)).toMatchObject({ status: 'completed', result: 'done' })
  const before = `const record_id = ['rec', 6 * 7, 'x'].join('-')\n${UPDATE}`
  expect(await run(before)).toMatchObject({ status: 'completed', result: 'done' })
})
