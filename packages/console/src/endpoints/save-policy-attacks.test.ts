// Saving from the console puts in force what its person has read, and nothing that waits beside it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Person } from '@sluice/access/identity/person'
import { openGateStore } from '@sluice/gateway/data/gate-store'
import {
  type CompiledDocuments,
  compileDocuments,
  makeDocument,
} from '@sluice/gateway/state/documents'
import { Policies } from '@sluice/gateway/state/policies'
import { expect, onTestFinished, test } from 'vitest'
import { ConsoleStore } from './console-store.ts'
import { savePolicy } from './save-policy.ts'

const ANN: Person = {
  name: 'ann',
  kind: 'person',
  roles: ['admin'],
  groups: [],
  owns: [],
  proof: 'passkey',
}
const rules = (word: string) => `version: 1\ndefault: ${word}\n`

function open(texts: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-save-'))
  const fileOf = (name: string) => join(directory, `${name}.yaml`)
  const write = (name: string, text: string) => writeFileSync(fileOf(name), text)
  for (const [name, text] of Object.entries(texts)) write(name, text)
  const read = () =>
    new Map(
      Object.keys(texts).map((name) => [
        name,
        makeDocument(name, fileOf(name), readFileSync(fileOf(name), 'utf8')),
      ]),
    )
  const gate = openGateStore(directory)
  const store = new ConsoleStore(directory)
  onTestFinished(() => {
    gate.close()
    store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const policies = new Policies(compileDocuments(read()).compiled as CompiledDocuments, {
    store: gate,
    ledger: { event: async () => 1 },
    log() {},
    nowMs: () => 5,
  })
  const reload = () => policies.reload(read)
  const save = (name: string, text: string) =>
    savePolicy(
      { policies, store, reload, nowMs: () => 5 },
      { name, base: String(read().get(name)?.digest), text, why: '' },
      ANN,
    )
  const wordOf = (name: string) => policies.now.of(name).policy.fallback
  return { save, wordOf, write, fileOf }
}

test('finding: a save does not apply what an agent wrote into another document', async () => {
  const { save, wordOf, write, fileOf } = open({ policy: rules('deny'), ci: rules('deny') })
  write('ci', rules('allow'))
  await expect(save('policy', rules('require_approval'))).rejects.toThrow('waits for a person')
  expect([wordOf('policy'), wordOf('ci')]).toEqual(['deny', 'deny'])
  expect(readFileSync(fileOf('policy'), 'utf8')).toBe(rules('deny'))
})
