// The tools of a mode over a session of all servers without any wire. What a real gate does with the calls is in
// test/gate/modes.test.ts.

import { describe, expect, test, vi } from 'vitest'
import { AllServersClient, begun, type Server } from './aggregate-session.test-support.ts'

const TOOLS = {
  notes: [
    { name: 'create_note', description: 'Writes a note.', inputSchema: { type: 'object' } },
    { name: 'render', description: 'Writes a note.', _meta: { ui: { visibility: ['app'] } } },
  ],
  mail: [{ name: 'send_mail', description: 'Sends a mail.', inputSchema: { type: 'object' } }],
}

function serverOf(tools: readonly object[]): Server {
  return (method, params) => {
    if (method === 'initialize') return begun({ tools: {} })
    return method === 'tools/list' ? { tools } : { called: params }
  }
}

async function open(): Promise<AllServersClient> {
  const servers = { notes: serverOf(TOOLS.notes), mail: serverOf(TOOLS.mail) }
  const client = new AllServersClient(servers, 'session', 'search')
  await answerOf(client, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  return client
}

async function answerOf(client: AllServersClient, method: string, params: object) {
  const id = client.ask(method, params)
  return vi.waitFor(() => {
    const answer = client.answerTo(id)
    if (answer === undefined) throw new Error('there is no answer yet')
    return answer.result
  })
}

function call(client: AllServersClient, name: string, args: object) {
  return answerOf(client, 'tools/call', { name, arguments: args, _meta: { progressToken: 'p' } })
}

const text = async (client: AllServersClient, name: string, args: object): Promise<string> =>
  (await call(client, name, args))?.content[0].text

test('three tools are listed, and the servers are named', async () => {
  const client = await open()
  const { tools } = await answerOf(client, 'tools/list', {})
  expect(tools.map(({ name }: { name: string }) => name)).toEqual([
    'search_tools',
    'describe_tools',
    'call_tool',
  ])
  expect(tools[0].description).toContain('Servers: notes, mail.')
  // A client that asks before a call that may destroy something asks before this one.
  expect(tools.map(({ annotations }: { annotations: object }) => annotations)).toEqual([
    { readOnlyHint: true },
    { readOnlyHint: true },
    { destructiveHint: true, openWorldHint: true },
  ])
})

test('a search gives signatures, and leaves out what is not for models', async () => {
  const client = await open()
  expect(await text(client, 'search_tools', { query: 'write a note' })).toBe(
    'notes__create_note({}) // Writes a note.',
  )
  expect(await text(client, 'search_tools', { query: 'note', server: 'mail' })).toBe(
    'No tool found: try other words. Servers: notes, mail.',
  )
})

test('a description is the definition as the server wrote it, under its full name', async () => {
  const client = await open()
  const names = ['notes__create_note', 'notes__render', 'notes__no_such']
  const [definition = '', ...unknown] = (await text(client, 'describe_tools', { names })).split(
    '\n',
  )
  expect(JSON.parse(definition)).toEqual({ ...TOOLS.notes[0], name: 'notes__create_note' })
  expect(unknown).toEqual(['Unknown tool: notes__render', 'Unknown tool: notes__no_such'])
})

test('a call is the call of the tool that it names, with the exact text of its arguments', async () => {
  const client = await open()
  const args = '{"n":1.0,"big":12345678901234567890}'
  const params = `{"name":"call_tool","arguments":{"name":"mail__send_mail","arguments":${args}},"_meta":{"progressToken":7}}`
  const headers = new Map([['mcp-param-n', '1']])
  const related = { headers, trace: { traceparent: 'trace' } }
  client.sayText(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":${params}}`, related)
  await vi.waitFor(() => expect(client.answerTo('x')).toBeDefined())
  const { server, request, related: passed } = client.got.at(-1) ?? {}
  expect(server).toBe('mail')
  expect(Object.fromEntries(request?.params?.text ?? [])).toEqual({
    name: '"send_mail"',
    arguments: args,
    _meta: '{"progressToken":7}',
  })
  // The headers are those of `call_tool`, which the server does not know.
  expect(passed?.headers).toBeUndefined()
  expect(passed?.trace).toEqual({ traceparent: 'trace' })
  expect(client.answerTo('x')?.result.called.name).toBe('send_mail')
})

test('a full name can still be called', async () => {
  const client = await open()
  expect((await call(client, 'notes__create_note', {})).called.name).toBe('create_note')
})

test('a change of a server’s tools is not announced: the list is the same', async () => {
  const client = await open()
  client.session.add('late')
  client.links.get('mail')?.send('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
  const methods = () => client.received.map(({ method }) => method)
  await vi.waitFor(() => expect(methods()).toContain('notifications/prompts/list_changed'))
  expect(methods()).not.toContain('notifications/tools/list_changed')
})

describe('the lists of a search', () => {
  const listed = (client: AllServersClient) =>
    client.got.flatMap(({ server, request }) => (request.method === 'tools/list' ? server : []))

  test('are asked for once, and again of a server whose list no longer holds', async () => {
    const client = await open()
    await text(client, 'search_tools', { query: 'note' })
    await text(client, 'search_tools', { query: 'mail' })
    expect(listed(client)).toEqual(['notes', 'mail'])
    client.links.get('mail')?.listsChanged?.()
    await text(client, 'search_tools', { query: 'mail' })
    expect(listed(client)).toEqual(['notes', 'mail', 'mail'])
  })

  test('are asked for again at an age, for servers that do not say that they changed', async () => {
    const client = await open()
    await text(client, 'search_tools', { query: 'note' })
    const later = performance.now() + 600_001
    vi.spyOn(performance, 'now').mockImplementation(() => later)
    await text(client, 'search_tools', { query: 'note' })
    vi.restoreAllMocks()
    expect(listed(client)).toEqual(['notes', 'mail', 'notes', 'mail'])
  })

  test('of a server that fails are asked for again by the next search', async () => {
    let fails = true
    const notes = serverOf(TOOLS.notes)
    const failing: Server = (method, params) =>
      method === 'tools/list' && fails ? 'not now' : notes(method, params)
    const client = new AllServersClient({ notes: failing }, 'session', 'search')
    await answerOf(client, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    expect(await text(client, 'search_tools', { query: 'note' })).toContain('No tool found')
    fails = false
    expect(await text(client, 'search_tools', { query: 'note' })).toContain('create_note')
  })
})

describe('bad input is an answer that a model can act on', () => {
  test.each([
    ['search_tools', {}, '`query` is missing'],
    ['search_tools', { query: ' ' }, '`query` is missing'],
    ['search_tools', { query: 'x'.repeat(401) }, '`query` has 401 characters: at most 400'],
    ['search_tools', { query: 'x', limit: 0 }, '`limit` is `0`: a number from 1 to 50'],
    ['search_tools', { query: 'x', limit: 'all' }, '`limit` is `"all"`'],
    ['describe_tools', { names: 'notes__create_note' }, '`names` must be a list of 1 to 20'],
    ['describe_tools', { names: Array(21).fill('a') }, '`names` must be a list of 1 to 20'],
    ['call_tool', {}, '`name` is missing'],
    ['call_tool', { name: 'mail__send_mail', arguments: '{}' }, '`arguments` must be an object'],
  ])('%s %j', async (name, args, why) => {
    const client = await open()
    const result = await call(client, name, args)
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toContain(why)
    expect(client.got.filter(({ request }) => request.method === 'tools/call')).toEqual([])
  })
})
