// A server of which there can be several, all with the same handles: ids of requests, progress
// tokens, tasks, resources. Argument 1 is its name, which its answers tell. It keeps a count, and
// dies when asked to.

import { createInterface } from 'node:readline'

type Params = Record<string, unknown>
type Incoming = { id?: number | string; method?: string; params?: Params; result?: unknown }

const [, , name = '', delayMs = '0'] = process.argv
const LONG = 'a_tool_with_a_name_that_is_much_longer_than_what_model_providers_take'
const TOOLS = [
  'whoami',
  'get',
  'line',
  'count',
  'die',
  'ask',
  'change',
  'forge',
  'work',
  'wait',
  'get_hidden',
  'heard',
  `${LONG}_1`,
  `${LONG}_2`,
  `get_hidden_${LONG}`,
]
const TASK = { status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: null }
const RELATED = { 'io.modelcontextprotocol/related-task': { taskId: 't-1' } }
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

let count = 0
let level = 'none'
const asked = new Map<unknown, (result: unknown) => void>()
const cancelled: unknown[] = []
const progress: unknown[] = []
/** What it was asked for by name. */
const received: string[] = []

const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value: unknown): object => ({
  content: [{ type: 'text', text: `${name}: ${JSON.stringify(value)}` }],
})

function call(
  id: unknown,
  tool: string,
  { arguments: args = {}, task }: Params,
  line: string,
): void {
  const answer = (value: unknown): void => send({ id, result: text(value) })
  if (tool === 'die') process.exit(3)
  if (tool === 'work' && task !== undefined)
    return send({ id, result: { task: { taskId: 't-1', ...TASK } } })
  if (tool === 'wait') return
  if (tool === 'change')
    for (const list of ['tools', 'tools', 'tools', 'prompts', 'resources'])
      send({ method: `notifications/${list}/list_changed` })
  if (tool === 'forge')
    send({ method: 'notifications/progress', params: { ...(args as Params), progress: 1 } })
  if (tool === 'ask') {
    const params = { _meta: { progressToken: 1, ...RELATED } }
    send({ id: 1, method: 'roots/list', params })
    asked.set(1, (result) => answer({ result, progress }))
    return
  }
  if (tool === 'count') return answer(++count)
  if (tool === 'heard') return answer(received.splice(0))
  if (tool === 'line') return answer(line)
  answer({ tool, args, level, cancelled })
}

function resultOf(method: string, params: Params): object | undefined {
  if (method === 'initialize')
    return {
      protocolVersion: name === 'old' ? '2024-11-05' : params.protocolVersion,
      capabilities: CAPABILITIES,
      serverInfo: { name, version: '1' },
      instructions: `I am ${name}.`,
    }
  if (method === 'tools/list')
    return {
      tools: [
        ...TOOLS.map((each) => ({ name: each, inputSchema: { type: 'object' }, x: 1.0 })),
        // No client of 2026-07-28 may follow it.
        {
          name: 'odd',
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'number', 'x-mcp-header': 'A' } },
          },
        },
      ],
    }
  if (method === 'prompts/list') return { prompts: [{ name: 'greet' }, { name: 'hidden' }] }
  if (method === 'prompts/get')
    return {
      messages: [{ role: 'user', content: { type: 'text', text: `${name} ${params.name}` } }],
    }
  if (method === 'resources/list')
    return {
      resources: [
        { uri: 'mem://both', name: 'both' },
        { uri: `mem://${name}`, name },
        { uri: 'mem://hidden', name: 'hidden' },
      ],
    }
  if (method === 'resources/templates/list')
    return {
      resourceTemplates: [
        { uriTemplate: `${name}://{id}`, name: 'own' },
        { uriTemplate: 'both://{id}', name: 'both' },
      ],
    }
  if (method === 'resources/read' && !`${params.uri}`.endsWith('none'))
    return { contents: [{ uri: params.uri, text: name }] }
  if (method === 'completion/complete')
    return { completion: { values: [name, JSON.stringify(params.ref)] } }
  if (method === 'tasks/get' || method === 'tasks/cancel')
    return { taskId: params.taskId, ...TASK, pollInterval: 5, owner: name }
  if (method === 'tasks/list')
    return { tasks: ['t-1', 't-others'].map((taskId) => ({ taskId, ...TASK })) }
  if (method === 'tasks/result') return { ...text('done'), _meta: RELATED }
  if (method === 'logging/setLevel') level = String(params.level)
  return ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'].includes(
    method,
  )
    ? {}
    : undefined
}

function hear(line: string): void {
  const { id, method = '', params = {}, result } = JSON.parse(line) as Incoming
  if (method === '') return asked.get(id)?.(result)
  if (method === 'notifications/cancelled') cancelled.push(params.reason)
  if (method === 'notifications/progress') progress.push(params.progressToken)
  if (id === undefined) return
  if (method === 'tools/call') return call(id, String(params.name), params, line)
  const { name: named, uri, ref } = params
  if (/prompts.get|resources.(read|.*subscribe)|complete/.test(method))
    received.push(`${named ?? uri ?? JSON.stringify(ref)}`)
  const answer = resultOf(method, params)
  if (method === 'resources/subscribe')
    send({ method: 'notifications/resources/updated', params: { uri: params.uri } })
  if (answer !== undefined) send({ id, result: answer })
  else send({ id, error: { code: -32601, message: `no ${method}` } })
}

process.stdin.on('end', () => process.exit(0))
// A late riser.
setTimeout(() => createInterface({ input: process.stdin }).on('line', hear), Number(delayMs))
