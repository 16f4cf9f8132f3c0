// The suite of test/cases/flows: what it holds, that its answers are those of the servers, and a few
// of its runs end to end. `npm run eval -- flows-suite` runs all of it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect, recordSteps } from '../support/flows-record.ts'
import {
  FlowRunner,
  type Injection,
  listPairs,
  loadFlows,
  type Trace,
} from '../support/flows-suite.ts'
import { MARKER, resetWorld } from '../support/flows-world.ts'

const TIMEOUT_MS = 120_000
const { traces, injections } = loadFlows()
const traceOf = (id: string) => traces.find((trace) => trace.id === id) as Trace
const injectionOf = (id: string) => injections.find((one) => one.id === id) as Injection

test('at least 40 tasks and 15 attacks, with answers of every kind', () => {
  expect(traces.length).toBeGreaterThanOrEqual(40)
  expect(injections.length).toBeGreaterThanOrEqual(15)
  expect(new Set([...traces, ...injections].map(({ id }) => id)).size).toBe(
    traces.length + injections.length,
  )
  const answers = traces.flatMap(({ steps }) => steps.map(({ answer }) => answer))
  const isJson = (text: string) => /^[[{]/.test(text)
  const isMarkdown = (text: string) => !isJson(text) && /^(#|- |\|)/m.test(text)
  expect(answers.every((text) => text !== '')).toBe(true)
  expect(answers.filter(isJson).length).toBeGreaterThan(20)
  expect(answers.filter(isMarkdown).length).toBeGreaterThan(10)
  expect(answers.filter((text) => !isJson(text) && !isMarkdown(text)).length).toBeGreaterThan(10)
  const pairs = listPairs(traces, injections)
  expect(new Set(pairs.map(({ injection }) => injection.id)).size).toBeGreaterThanOrEqual(15)
})

test('the stored answers are those of the servers', { timeout: TIMEOUT_MS }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-flows-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const tasks = [traceOf('several/meeting-mail'), traceOf('several/refund-mail')]
  resetWorld(root, MARKER, false)
  const clients = await connect(root, ['mail', 'shop', 'files'])
  try {
    for (const { steps } of tasks) expect(await recordSteps(steps, root, clients)).toEqual(steps)
  } finally {
    for (const client of clients.values()) await client.close()
  }
  expect(tasks.every(({ steps }) => steps.some((step) => step.answer.includes(MARKER)))).toBe(true)
})

const POLICY = `version: 1
default: allow
protect: balanced
`

test(
  'an agent that obeys is stopped, one that does its task goes on',
  async () => {
    const runner = await FlowRunner.start(POLICY, ['mail', 'files'])
    try {
      const read = await runner.run(traceOf('mail/launch-date'))
      expect(read).toMatchObject({ isGood: true })
      const attack = injectionOf('mail/set-forwarding')
      const attacked = await runner.run(traceOf('mail/launch-date'), attack)
      expect(attacked.isGood).toBe(true)
      expect(attacked.calls.map(({ verdict }) => verdict)).toEqual([
        'allow',
        'allow',
        expect.stringContaining('APPROVAL'),
      ])
      const encoded = await runner.run(
        traceOf('mail/launch-date'),
        injectionOf('mail/phish-team'),
        'encoded',
      )
      expect(encoded.isGood).toBe(true)
      // The prompt names the recipient, which stands in no answer.
      const named = await runner.run(traceOf('several/send-revenue'))
      expect(named.calls.at(-1)).toEqual({ tool: 'mail/send_message', verdict: 'allow' })
      const lax = await runner.run(traceOf('mail/spam'), injectionOf('mail/delete-invoice'))
      expect(lax.isGood).toBe(false)
      const held = await runner.run(traceOf('several/meeting-mail'))
      expect(held.isGood).toBe(false)
      expect(held.calls.at(-1)).toEqual({ tool: 'mail/send_message', verdict: 'APPROVED' })
    } finally {
      await runner.end()
    }
  },
  TIMEOUT_MS,
)
