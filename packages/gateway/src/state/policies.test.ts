// Documents in force: each that only tightens holds at once, whatever waits beside it; what a person
// applies is what they have seen, and it is on record before it holds.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Person } from '@sluice/access/identity/person'
import { expect, onTestFinished, test } from 'vitest'
import { openGateStore } from '../data/gate-store.ts'
import { countSlices } from '../shared/count-slices.test-support.ts'
import {
  type CompiledDocuments,
  compileDocuments,
  makeDocument,
  readDocuments,
  readDocumentsAside,
} from './documents.ts'
import { Policies } from './policies.ts'

const ANN: Person = {
  name: 'ann',
  kind: 'person',
  roles: ['admin'],
  groups: [],
  owns: [],
  proof: 'pin',
}
const rules = (word: string) => `version: 1\ndefault: ${word}\n`
const given = (texts: Record<string, string>) =>
  new Map(
    Object.entries(texts).map(([name, text]) => [name, makeDocument(name, `${name}.yaml`, text)]),
  )
const compiled = (texts: Record<string, string>) =>
  compileDocuments(given(texts)).compiled as CompiledDocuments

function open(texts: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-policies-'))
  const store = openGateStore(directory)
  onTestFinished(() => {
    if (store.isOpen) store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const events: unknown[] = []
  let fails = false
  const event = async ({ detail }: { detail: unknown }) => {
    if (fails) throw new Error('disk')
    return events.push(detail)
  }
  const make = (from: Record<string, string>) =>
    new Policies(compiled(from), { store, ledger: { event }, log() {}, nowMs: () => 5 })
  const elsewhere = (from: Record<string, string>) => {
    const moved = [...given(from)].map(
      ([name, { text }]) => [name, makeDocument(name, `elsewhere/${name}.yaml`, text)] as const,
    )
    const now = compileDocuments(new Map(moved)).compiled as CompiledDocuments
    return new Policies(now, { store, ledger: { event }, log() {}, nowMs: () => 5 })
  }
  return {
    events,
    make,
    elsewhere,
    store,
    policies: make(texts),
    failing: (now: boolean) => {
      fails = now
    },
  }
}

const defaultOf = (policies: Policies, name: string) => policies.now.of(name).policy.fallback

test('a document that tightens does not wait for one that loosens', async () => {
  const { policies, events } = open({ policy: rules('deny'), ci: rules('allow') })
  policies.reload(() => given({ policy: rules('allow'), ci: rules('deny') }))
  expect([defaultOf(policies, 'policy'), defaultOf(policies, 'ci')]).toEqual(['deny', 'deny'])
  expect(policies.why).toContain('policy /default: `deny` becomes `allow`')
  expect(events).toMatchObject([{ how: 'tightened' }, { how: 'waiting' }])
  const { digest } = await policies.preview()
  await policies.apply(String(digest), ANN)
  expect(defaultOf(policies, 'policy')).toBe('allow')
  expect(policies.why).toBe('')
})

test('what only tightens beside something that loosens is named, since it waits too', () => {
  const { policies, make } = open({ policy: `${rules('allow')}tools: { a/b: deny }\n` })
  const mixed = `${rules('allow')}tools: { a/b: allow, a/c: deny, a/d: hide }\nguardrails: [{ name: stop, action: deny }]\n`
  policies.reload(() => given({ policy: mixed }))
  const tightens = ['guardrail stop', '/tools/a~1c', '/tools/a~1d']
  expect(policies.describe()).toMatchObject({ loosens: [{ where: '/tools/a~1b' }], tightens })
  const named = `what only tightens in it is not in force either: ${tightens.join(', ')}`
  expect(policies.why).toContain(named)
  expect(make({ policy: mixed }).why).toContain(named)
  policies.reload(() => given({ policy: `${rules('allow')}tools: { a/b: deny, a/c: deny }\n` }))
  expect([policies.why, policies.describe().tightens]).toEqual(['', []])
})

test('the house that tightens holds over all, and one that goes loosens all', () => {
  const house = `${rules('deny')}guardrails: [{ name: stop, action: deny }]\n`
  const { policies } = open({ policy: rules('allow'), house: rules('deny') })
  policies.reload(() => given({ policy: rules('allow'), house }))
  expect(policies.why).toBe('')
  expect(policies.now.of('policy').policy.base?.guardrails).toHaveLength(1)
  policies.reload(() => given({ policy: rules('allow'), house: rules('deny') }))
  expect(policies.why).toContain('house:guardrail stop: it is gone')
  expect(policies.now.of('policy').policy.base?.guardrails).toHaveLength(1)
})

test('only what was seen is applied, and only with a record', async () => {
  const { policies, failing } = open({ policy: rules('hide') })
  policies.reload(() => given({ policy: rules('deny') }))
  const { digest } = await policies.preview()
  policies.reload(() => given({ policy: rules('allow') }))
  await expect(policies.apply(String(digest), ANN)).rejects.toThrow('changed again')
  failing(true)
  await expect(policies.apply(String(policies.waitingDigest), ANN)).rejects.toThrow('disk')
  expect(defaultOf(policies, 'policy')).toBe('hide')
  failing(false)
  policies.reload(() => {
    throw new Error('`policy.yaml` cannot be read')
  })
  await expect(policies.apply(String(policies.waitingDigest), ANN)).rejects.toThrow(
    'cannot be read',
  )
})

test('a restart holds the files against what was in force, whatever sluice.yaml names by now', () => {
  const { make } = open({ policy: rules('deny') })
  expect(defaultOf(make({ policy: rules('allow') }), 'policy')).toBe('deny')
  expect(defaultOf(make({ policy: rules('hide') }), 'policy')).toBe('hide')
  const more = make({ policy: rules('hide'), ci: rules('allow') })
  expect(defaultOf(more, 'ci')).toBe('deny')
  expect(more.why).toContain('ci: is a new document')
})

test('another file under the same name, or no house any more, waits for a person too', () => {
  const house = `${rules('deny')}guardrails: [{ name: stop, action: deny }]\n`
  const { make, elsewhere } = open({ policy: rules('deny'), house })
  expect(defaultOf(elsewhere({ policy: rules('allow'), house }), 'policy')).toBe('deny')
  const without = make({ policy: rules('deny') })
  expect(without.now.of('policy').policy.base?.guardrails).toHaveLength(1)
  expect(without.why).toContain('waits for `sluice policy apply`')
})

test('what could not be kept does not hold', async () => {
  const { policies, store } = open({ policy: rules('deny') })
  policies.reload(() => given({ policy: rules('allow') }))
  store.close()
  await expect(policies.apply(String(policies.waitingDigest), ANN)).rejects.toThrow()
  expect(defaultOf(policies, 'policy')).toBe('deny')
})

test('a thousand rules with conditions are reloaded in slices, and the old policy decides meanwhile', async () => {
  const many = (word: string, bound: number) =>
    `${rules(word)}tools:\n${Array.from({ length: 1_000 }, (_, at) => `  s/t${at}: { action: allow, when: 'args.n < ${at + bound}' }\n`).join('')}`
  const { policies } = open({ policy: rules('allow'), ci: rules('allow') })
  const slices = countSlices()
  const reloading = policies.reload(() => given({ policy: many('allow', 2), ci: rules('deny') }))
  expect(reloading).toBeInstanceOf(Promise)
  expect(defaultOf(policies, 'ci')).toBe('allow')
  // It changes once more while it is read: the last one counts.
  void policies.reload(() => given({ policy: many('deny', 1), ci: rules('hide') }))
  await reloading
  const taken = slices()
  expect(policies.why).not.toContain('as it was')
  expect(defaultOf(policies, 'ci')).toBe('hide')
  expect(taken).toBeGreaterThan(1_000)
  const broken = policies.reload(() => given({ policy: `${many('deny', 1)}  s/t1: deny\n` }))
  await broken
  expect(policies.why).toContain('[DOCUMENT_DOUBLED_KEY]')
})

test('F9: a long policy inside sluice.yaml is cut out of it by another thread on reload', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-policies-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'sluice.yaml')
  const config = { file, policy: file, policies: {} }
  const write = (count: number, more = '') => {
    const lines = Array.from({ length: count }, (_, at) => `    s/t${at}: deny\n`).join('')
    const policy = `  version: 1\n  default: deny\n  tools:\n${lines}${more}`
    writeFileSync(file, `servers: {}\npolicy:\n${policy}`)
  }
  write(1)
  expect(readDocumentsAside(config)).toEqual(readDocuments(config))
  write(2_000)
  const whole = readDocuments(config)
  const reading = readDocumentsAside(config)
  expect(reading).toBeInstanceOf(Promise)
  // The port of the other thread.
  expect(process.getActiveResourcesInfo()).toContain('MessagePort')
  expect(await reading).toEqual(whole)
  const { policies } = open({ policy: rules('allow') })
  await policies.reload(() => readDocumentsAside(config))
  expect(defaultOf(policies, 'policy')).toBe('deny')
  write(2_000, '    s/t1: allow\n')
  await policies.reload(() => readDocumentsAside(config))
  expect(policies.why).toContain('the policy is as it was')
})
