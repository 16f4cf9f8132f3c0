// What helps a person who is asked for help: the support bundle has what it lists and no secret, and
// `doctor --shadow` finds a server that runs beside the gate.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

const SECRET = 'correct-horse-battery'
let gate: ServingGate
let from: string[]

beforeAll(async () => {
  const office = fixture('office', 'office.log')
  gate = await serveGate({ servers: { office: { ...office, env: { OFFICE_WORD: SECRET } } } })
  from = ['--config', join(gate.folder, 'sluice.yaml')]
})
afterAll(endGates)

test('the bundle is listed, and written only if that is agreed to', async () => {
  const out = join(gate.folder, 'support.txt')
  const asked = await sluice(['support-bundle', ...from, '--out', out])
  expect(asked.code).toBe(1)
  expect(asked.stdout).toMatch(/sluice\.yaml +\d+ lines?, 1 with something masked/)
  expect(existsSync(out)).toBe(false)
  expect((await sluice(['support-bundle', ...from, '--out', out, '--yes'])).code).toBe(0)
  const text = readFileSync(out, 'utf8')
  for (const part of ['machine', 'doctor', 'status', 'metrics', 'sluice.yaml', 'policy', 'log'])
    expect(text).toContain(`===== ${part} =====`)
  expect(text).toContain('sluice_sessions')
  expect(text).not.toContain(SECRET)
  expect(statSync(out).mode & 0o777).toBe(0o600)
  const again = await sluice(['support-bundle', ...from, '--out', out, '--yes'])
  expect(again.code).not.toBe(0)
  expect(again.stderr).toContain('is there already')
})

test.runIf(process.platform === 'linux')(
  'a server beside the gate is found, one behind it is not',
  async () => {
    const beside = spawn('sleep', ['60'], { argv0: 'mcp-server-beside', stdio: 'ignore' })
    try {
      const { checks } = await sluiceJson(['doctor', ...from, '--shadow'])
      const found = checks.filter(({ check }: { check: string }) => check === 'shadow')
      const own = found.filter(({ message }: { message: string }) =>
        message.includes(`process ${beside.pid} `),
      )
      expect(own).toHaveLength(1)
      expect(own[0].message).toContain('mcp-server-beside 60')
      expect(own[0].status).toBe('warn')
    } finally {
      beside.kill()
    }
  },
)
