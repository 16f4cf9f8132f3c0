import { classify } from '@sluice/catalogue/classify/classify'
import type { PendingDefinition } from '@sluice/gateway/tools/pins'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { expect, test } from 'vitest'
import type { ToolPage } from '../contract/contract.ts'
import {
  DEFINITION_LENGTH_SHOWN,
  NEIGHBOURS_MAX,
  PENDING_LENGTH_SHOWN,
  PENDING_SHOWN,
} from '../queries/limits.ts'
import { viewPendingDefinitions } from './pending-definitions.ts'
import { serversEndpoints } from './servers-endpoints.ts'

function define(name: string, description = `Gets the item ${name}`): KnownTool {
  const definition = { server: 'shop', name, description, inputSchema: { type: 'object' } }
  return { definition, ...classify(definition) }
}

function hold(name: string, description?: string): PendingDefinition {
  const tool = define(name, description)
  return { tool, digest: `sha256:${name}`, because: 'it is another', changes: [] }
}

async function readToolPage(count: number): Promise<ToolPage> {
  const names = Array.from({ length: count }, (_, n) => `get_item_${n}`)
  const known = new Map(names.map((name) => [name, define(name)]))
  const { policy } = compile({ file: 'policy.yaml', text: 'version: 1\ndefault: deny\n' })
  const parts = {
    gate: { toolsOf: () => known },
    pins: {},
    policies: { now: { local: { policy } } },
    tools: {},
  }
  const endpoints = serversEndpoints({ parts, reader: {} } as never)
  const found = endpoints.find(({ path }) => path === '/api/tool')
  const input = { server: 'shop', name: 'get_item_0' }
  return (await found?.handle({ input } as never)) as ToolPage
}

test('the page of a tool tells of the others, but not of those of a server with very many', async () => {
  expect((await readToolPage(3)).page).toContain('Which tools are like')
  expect((await readToolPage(NEIGHBOURS_MAX + 1)).page).not.toContain('Which tools are like')
})

test('of many definitions that wait the first are shown, those to decide on before refused ones', async () => {
  const held = Array.from({ length: PENDING_SHOWN + 5 }, (_, n) => hold(`tool_${n}`))
  const refused = { by: 'ann', why: '', atMs: 1 }
  const all = [{ ...hold('refused'), refused }, ...held]
  const shown = await viewPendingDefinitions({ pending: all, acceptedOf: () => undefined })
  expect(shown.held.map(({ name }) => name)).toEqual(
    held.slice(0, PENDING_SHOWN).map(({ tool }) => tool.definition.name),
  )
  expect(shown.more).toBe(6)
  const few = await viewPendingDefinitions({
    pending: all.slice(0, 3),
    acceptedOf: () => undefined,
  })
  expect(few.held.map(({ name }) => name)).toEqual(['tool_0', 'tool_1', 'refused'])
  expect(few).not.toHaveProperty('more')
})

test('of long definitions that wait fewer are shown', async () => {
  const long = 'x'.repeat(DEFINITION_LENGTH_SHOWN)
  const pending = Array.from({ length: 60 }, (_, n) => hold(`tool_${n}`, long))
  const shown = await viewPendingDefinitions({ pending, acceptedOf: () => undefined })
  expect(shown.held).toHaveLength(Math.floor(PENDING_LENGTH_SHOWN / DEFINITION_LENGTH_SHOWN) + 1)
})
