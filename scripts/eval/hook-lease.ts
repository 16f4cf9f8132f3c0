// Approve once, with the published client: a model runs the tests in five spellings, a person approves the first of
// them for an hour, and a sixth line does more. Five run, one is held.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeModel } from '../../test/support/fake-model.ts'
import { ADA, type OwnGate } from '../../test/support/own-gate.ts'

const LINES = [
  'npm test',
  'npm test -- --again',
  'npm test 2>&1 | tail -20',
  'cd packages/a && npm test -- --x',
  'npm test',
  'npm test; touch evil',
]

export interface Lease {
  /** How often the tests ran, of five. */
  readonly tests: number
  /** What a person was asked about. */
  readonly asked: readonly string[]
  /** The sixth line ran. */
  readonly isEvil: boolean
}

/** `start` runs the client in the project once. */
export async function tryLease(
  project: string,
  { gate, model }: { readonly gate: OwnGate; readonly model: FakeModel },
  start: () => Promise<unknown>,
): Promise<Lease> {
  const ran = join(project, 'ran')
  const scripts = { test: `echo ran >> '${ran}'` }
  for (const folder of [project, join(project, 'packages/a')]) {
    mkdirSync(folder, { recursive: true })
    const manifest = { name: 'p', version: '1.0.0', scripts }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  }
  const asked: string[] = []
  const stop = gate.approvals.watch(({ id, state, votes, command }) => {
    if (state !== 'pending' || votes.length > 0) return
    if (asked.push(command?.line ?? '') > 1) return
    const bounds = { command: { lines: [['npm', 'test', '*']] }, cwd: { below: project } }
    const forAWhile = { forMs: 3_600_000, session: true, bounds }
    void gate.approvals.decide(id, { verdict: 'approve', forAWhile }, ADA, 'console')
  })
  const lines = [...LINES]
  model.next = () => {
    const [command, description] = [lines.shift(), `Words for the line ${lines.length}`]
    return command === undefined ? undefined : { tool: 'Bash', input: { command, description } }
  }
  try {
    await start()
  } finally {
    model.next = undefined
    stop()
  }
  const tests = existsSync(ran) ? readFileSync(ran, 'utf8').trim().split('\n').length : 0
  return { tests, asked, isEvil: existsSync(join(project, 'evil')) }
}
