import { NAME_LENGTH_MAX } from '@sluice/protocol/json/limits'
import { afterEach, expect, test } from 'vitest'
import { playing } from '../relay/relay.test-support.ts'
import { countSlices } from '../shared/count-slices.test-support.ts'
import { LIST_PAGES_MAX } from '../shared/limits.ts'
import { DEFINITION_LENGTH_MAX, LISTED_TOOLS_MAX } from './limits.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const toolsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `tool_${from + at}`,
    description: 'reads one thing of the store',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  }))

test('F9: a long list is looked through in slices, and others have their turn between them', async () => {
  const one = play({ generation: 'session', rules: 'default: allow\ntools: { s/tool_7: hide }' })
  one.server.answers = () => undefined
  const id = await one.ask('tools/list')
  const count = 3_000
  const slices = countSlices()
  await one.answer('tools/list', { tools: toolsFrom(0, count) })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  const taken = slices()
  expect(one.to(id).result?.tools).toHaveLength(count - 1)
  expect(taken).toBeGreaterThan(count / 10)
})

test('F9: a list of odd URIs of 8 kB each is looked through and told in slices', async () => {
  const rules = 'default: allow\nresources: { "s/x://h/secret/*": hide }'
  const one = play({ generation: 'session', rules })
  one.server.answers = () => undefined
  const id = await one.ask('resources/list')
  const uris = Array.from({ length: 200 }, (_, at) => `x://h/${at}${'%41'.repeat(2_700)}`)
  const slices = countSlices()
  await one.answer('resources/list', { resources: uris.map((uri) => ({ uri, name: 'n' })) })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  const taken = slices()
  expect(one.to(id).result?.resources).toHaveLength(uris.length)
  expect(taken).toBeGreaterThan(uris.length / 10)
})

test('F4: a list that is forgotten while it is looked through teaches nothing old', async () => {
  const one = play({ generation: 'session' })
  one.server.answers = () => undefined
  const id = await one.ask('tools/list')
  await one.answer('tools/list', { tools: toolsFrom(0, 1_000) })
  one.server.say({ method: 'notifications/tools/list_changed' })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  one.server.answers = ({ method }) =>
    method === 'tools/list' ? { tools: toolsFrom(5_000, 1) } : undefined
  const call = await one.ask('tools/call', { name: 'tool_1', arguments: {} })
  expect(one.to(call).error?.message).toBe('Unknown tool: tool_1')
})

test('tools that change while they are listed are listed once more', async () => {
  const one = play({ generation: 'session' })
  one.server.answers = () => undefined
  await one.ask('tools/call', { name: 'tool_1', arguments: {} })
  one.server.say({ method: 'notifications/tools/list_changed' })
  await one.answer('tools/list', { tools: toolsFrom(0, 1) })
  await one.answer('tools/list', { tools: toolsFrom(1, 1) })
  expect(one.server.last('tools/call').params).toMatchObject({ name: 'tool_1' })
})

test('F6: a list of more than 100 pages is read whole', async () => {
  const one = play({ generation: 'session' })
  let asked = 0
  one.server.answers = ({ method, params }) => {
    if (method !== 'tools/list') return undefined
    asked++
    const page = Number(params?.cursor ?? 0)
    return { tools: toolsFrom(page, 1), ...(page < 150 ? { nextCursor: `${page + 1}` } : {}) }
  }
  await one.ask('tools/call', { name: 'tool_150', arguments: {} })
  while (asked < 151) await new Promise(setImmediate)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(one.server.last('tools/call').params).toMatchObject({ name: 'tool_150' })
})

test('F6: a call says which limit its tool may be missing by, hidden or not', async () => {
  const one = play({ generation: 'session', rules: 'default: allow\ntools: { s/tool_0: hide }' })
  one.server.answers = ({ method, params }) => {
    const page = Number(params?.cursor ?? 0)
    return method === 'tools/list'
      ? { tools: toolsFrom(page, 1), nextCursor: `${page + 1}` }
      : undefined
  }
  const late = await one.ask('tools/call', { name: 'tool_99999', arguments: {} })
  while (!one.received.some((response) => response.id === late)) await new Promise(setImmediate)
  const why = `not all of its server's tools are known: its tools have more than ${LIST_PAGES_MAX} pages`
  expect(one.to(late).error?.message).toBe(`Unknown tool: tool_99999; ${why}`)
  const hidden = await one.ask('tools/call', { name: 'tool_0', arguments: {} })
  expect(one.to(hidden).error?.message).toBe(`Unknown tool: tool_0; ${why}`)
  expect(one.log).toContain(`its tools have more than ${LIST_PAGES_MAX} pages`)
})

test.each([
  [
    'a definition',
    { name: 'x', description: 'y'.repeat(DEFINITION_LENGTH_MAX) },
    'a definition has',
  ],
  ['a name', { name: 'n'.repeat(NAME_LENGTH_MAX + 1) }, 'the name of a tool has more than'],
])('F9: %s beyond its limit is left out, and that is said', async (_, tool, why) => {
  const one = play({ generation: 'session' })
  one.server.answers = () => undefined
  const id = await one.ask('tools/list')
  await one.answer('tools/list', { tools: [...toolsFrom(0, 1), tool] })
  while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
  expect(one.to(id).result?.tools).toHaveLength(1)
  expect(one.log.join()).toContain(why)
})

test(`F9: no more than ${LISTED_TOOLS_MAX} tools of a server are known`, async () => {
  const one = play({ generation: 'session' })
  one.server.answers = () => undefined
  const page = 2_000
  for (let from = 0; from <= LISTED_TOOLS_MAX; from += page) {
    const id = await one.ask('tools/list')
    const tools = Array.from({ length: page }, (_, at) => ({ name: `t${from + at}` }))
    await one.answer('tools/list', { tools })
    while (!one.received.some((response) => response.id === id)) await new Promise(setImmediate)
    expect(one.to(id).result?.tools).toHaveLength(from < LISTED_TOOLS_MAX ? page : 0)
  }
  expect(one.log).toContain(`it lists more than ${LISTED_TOOLS_MAX} tools`)
})
