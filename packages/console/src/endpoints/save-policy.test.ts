import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Person } from '@sluice/access/identity/person'
import { openGateStore } from '@sluice/gateway/data/gate-store'
import { compileDocuments, makeDocument, readDocuments } from '@sluice/gateway/state/documents'
import { Policies } from '@sluice/gateway/state/policies'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConsoleStore } from './console-store.ts'
import { type SavePolicyParts, savePolicy } from './save-policy.ts'

const BEFORE = '# ours\nversion: 1\ndefault: deny\ntools:\n  a/b: deny # no\n'
const AFTER = BEFORE.replace('a/b: deny', 'a/b: allow')
const ADA: Person = {
  name: 'ada',
  kind: 'person',
  roles: ['admin'],
  groups: [],
  owns: [],
  proof: 'passkey',
}

let folder: string
let file: string
let parts: SavePolicyParts & { gate: DatabaseSync }
const events: unknown[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-save-'))
  file = join(folder, 'policy.yaml')
  writeFileSync(file, BEFORE)
  const config = { file: join(folder, 'sluice.yaml'), policy: file, policies: {} }
  const { compiled } = compileDocuments(readDocuments(config))
  const gate = openGateStore(folder)
  const ledger = { event: async (event: unknown) => events.push(event) }
  const policies = new Policies(compiled as never, {
    store: gate,
    ledger,
    log: () => {},
    nowMs: Date.now,
  })
  const reload = () => policies.reload(() => readDocuments(config))
  parts = { policies, store: new ConsoleStore(folder), reload, nowMs: Date.now, gate }
})
afterEach(() => {
  parts.store.close()
  parts.gate.close()
  rmSync(folder, { recursive: true, force: true })
})

const digest = (text: string) => makeDocument('policy', file, text).digest
const toRequest = (text: string, base = BEFORE) => ({
  name: 'policy',
  text,
  base: digest(base),
  why: 'it is needed',
})

test('what loosens is written, in force and on record with the person who saved it', async () => {
  const saved = await savePolicy(parts, toRequest(AFTER), ADA)
  expect(saved).toEqual({ digest: digest(AFTER), inForce: true })
  expect(readFileSync(file, 'utf8')).toBe(AFTER)
  expect(parts.policies.documents.get('policy')?.text).toBe(AFTER)
  expect(JSON.stringify(events.at(-1))).toContain('ada')
  expect(parts.store.versions().map(({ by, why }) => [by, why])).toEqual([
    ['ada', 'it is needed'],
    ['', 'as it was'],
  ])
  expect(parts.store.textOf(1)).toBe(BEFORE)
})

test('a text made from an older version is refused, and nothing is lost', async () => {
  writeFileSync(file, `${BEFORE}# by another\n`)
  await expect(savePolicy(parts, toRequest(AFTER), ADA)).rejects.toThrow('changed in the meantime')
  expect(readFileSync(file, 'utf8')).toBe(`${BEFORE}# by another\n`)
})

test('a text with errors is refused, with its line', async () => {
  const broken = BEFORE.replace('default: deny', 'default: maybe')
  await expect(savePolicy(parts, toRequest(broken), ADA)).rejects.toThrow(/^line 3: /)
  expect(readFileSync(file, 'utf8')).toBe(BEFORE)
})

test('a file in a checkout is not written: there is a patch', async () => {
  mkdirSync(join(folder, '.git'))
  const { inForce, patch } = await savePolicy(parts, toRequest(AFTER), ADA)
  expect(inForce).toBe(false)
  expect(patch).toBe(`--- a/policy.yaml
+++ b/policy.yaml
@@ -2,4 +2,4 @@
 version: 1
 default: deny
 tools:
-  a/b: deny # no
+  a/b: allow # no
`)
  expect(readFileSync(file, 'utf8')).toBe(BEFORE)
  expect(parts.store.versions()).toEqual([])
})

test('a policy that stands in sluice.yaml itself is never written over it', async () => {
  const documents = parts.policies.documents as Map<string, object>
  documents.set('policy', { ...documents.get('policy'), isWithin: true })
  await expect(savePolicy(parts, toRequest(AFTER), ADA)).rejects.toThrow(
    'stands in policy.yaml itself',
  )
  expect(readFileSync(file, 'utf8')).toBe(BEFORE)
})

test('F9: a long text is read by another thread, and refused by its first problem', async () => {
  const long = `${BEFORE}${'# a comment\n'.repeat(2_000)}`
  await expect(savePolicy(parts, toRequest(`${long}:\n:\n`), ADA)).rejects.toThrow(/^line \d+: /)
  expect(readFileSync(file, 'utf8')).toBe(BEFORE)
  expect(await savePolicy(parts, toRequest(long), ADA)).toMatchObject({ inForce: true })
  expect(readFileSync(file, 'utf8')).toBe(long)
})
