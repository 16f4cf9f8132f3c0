// Corrupt bundles and exports, 10,000 random mutations (`--count`): no crash, no partial import. The
// mutations are of bytes, of stretches, and of signed bundles whose memory was changed before it was
// signed by somebody who is trusted: those must be contained, whatever they do.

import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bench, coreImage } from '../../packages/agents/src/agents.test-support.ts'
import { privateKey, publicHex, writeBundle } from '../../packages/agents/src/transfer/bundle.ts'
import type { RunOptions } from '../../scripts/dispatch.ts'

export async function run(options: RunOptions): Promise<number> {
  const count = Number(options.count ?? 10_000)
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-import-'))
  const b = new Bench(join(scratch, 'data'), await coreImage())
  const key = privateKey(randomBytes(32))
  try {
    await b.create('a')
    await b.tool('a', 'write_file', { path: 'x', content: 'y'.repeat(2_000) })
    await b.model('a', await b.prompt('a', 'go', 'r1'), 'done')
    const taken = b.export('a', 'keep')
    const json = Buffer.from(JSON.stringify(taken.exported))
    const memory = Buffer.from(taken.memory)
    const bundle = writeBundle(json.toString(), memory, key)
    const before = JSON.stringify(b.ask('a', { ask: 'files' }))
    let refused = 0
    let lived = 0
    const wrong: string[] = []
    for (let n = 0; n < count; n += 1) {
      const kind = n % 3
      const given =
        kind === 0
          ? mutate(bundle)
          : kind === 1
            ? mutate(json)
            : writeBundle(json.toString(), mutate(memory), key)
      const id = `m${n}`
      const trusted = [publicHex(key)]
      const setting = {
        id,
        owner: 'me',
        nowMs: 2,
        installation: 'x',
        tools: [],
        prices: {},
        trusted,
      }
      try {
        b.import(given, setting)
        // Only a memory that its trusted signer broke gets this far; whatever it does stays inside.
        lived += 1
        if (kind !== 2 && !given.equals(kind === 0 ? bundle : json)) wrong.push(`${id} was taken`)
        try {
          b.operations.ask(null, id, { ask: 'todos' }, 3)
        } catch {
          // Broken inside, as it may be.
        }
        b.operations.remove('me', id)
      } catch (error) {
        refused += 1
        const { code = '' } = error as { code?: string }
        if (!/^(AGENT|SANDBOX)_/.test(code)) wrong.push(`${id}: ${String(error)}`)
        if (b.stepper.journal.agent(id) !== undefined) wrong.push(`${id} is partly there`)
      }
      if (n % 1_000 === 999) console.log(`${n + 1}: ${refused} refused, ${lived} taken`)
    }
    const stands = JSON.stringify(b.ask('a', { ask: 'files' })) === before
    console.log(`${count} mutations, ${wrong.length} wrong, the first agent stands: ${stands}`)
    for (const each of wrong.slice(0, 10)) console.log(each)
    return wrong.length === 0 && stands ? 0 : 1
  } finally {
    b.operations.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function mutate(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  for (let left = randomInt(1, 6); left > 0; left -= 1)
    changed[randomInt(changed.length)] = randomInt(256)
  if (randomInt(4) === 0) changed.fill(randomInt(256), randomInt(changed.length))
  return randomInt(6) === 0 ? changed.subarray(0, randomInt(1, changed.length)) : changed
}
