import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import { expect, test, vi } from 'vitest'
import { Output } from '../terminal/output.ts'
import { findThreats } from '../threats/search-paths.ts'
import { printThreats } from './print-threats.ts'

const TEXT = { type: 'string' }

function toTool(
  server: string,
  name: string,
  properties: JsonObject,
  known: Omit<KnownTool, 'definition'>,
): KnownTool {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
  return { definition: { server, name, inputSchema }, ...known }
}

test('a search that was cut short says so first, and closes nothing', () => {
  const file = 'policy.yaml'
  const policy = compile({ file, text: 'version: 1\ndefault: deny\n' }).policy as CompiledPolicy
  const inputs = {
    tools: [
      toTool('web', 'fetch', { url: TEXT }, { category: 'Read', risk: 'low' }),
      toTool('mail', 'send_email', { to: TEXT, body: TEXT }, { category: 'Write', risk: 'medium' }),
    ],
    servers: {},
    home: '/srv/ann',
    project: '/srv/ann/shop',
  }
  let now = 0
  const report = findThreats({ ...inputs, policy, nowMs: () => (now += 40_000) })
  let text = ''
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  const gate = { inputs, unlocked: [] }
  printThreats({ report, closings: new Map(), policy, gate, isAll: false }, new Output({}))
  spy.mockRestore()
  expect(text).toMatch(/^stopped: not everything was tried\n0 of 6 harms are open/)
  expect(text).toMatch(/message sent +none found, \d+ ways? played, which proves nothing/)
})
