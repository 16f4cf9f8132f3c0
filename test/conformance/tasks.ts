// The tasks extension of the fixture (io.modelcontextprotocol/tasks), which the SDK does not have: in
// front of it, for requests of the stateless generation. The tools are the SDK's too, so that they are listed,
// and called without tasks by clients that do not know them.

import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { answer } from './content.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'

type Json = Record<string, unknown>
interface Message {
  id: unknown
  method: string
  params?: { name?: string; taskId?: string; arguments?: Json; inputResponses?: Json; _meta?: Json }
}
type Outcome = { status: 'completed'; result: Json } | { status: 'failed'; error: Json }
interface Task {
  taskId: string
  status: string
  createdAt: string
  inputRequests: Record<string, object>
  outcome?: Outcome
  timer?: NodeJS.Timeout
  /** What it goes on with, once nothing is asked any more. */
  then: Outcome
}
type Reply = { result: Json } | { error: { code: number; message: string; data?: Json } }

const TOOLS = ['greet', 'slow_compute', 'failing_job', 'protocol_error_job', 'confirm_delete']
/** Without the extension they can do nothing. */
const REQUIRED = new Set(['failing_job', 'protocol_error_job', 'test_tool_with_task'])
const MISSING = { requiredCapabilities: { extensions: { [TASKS]: {} } } }
const TTL_MS = 600_000
/** A second of the suite's, where nothing has to outlast it. */
const SECOND_MS = 100

export function addTaskTools(server: McpServer): void {
  const inputSchema = fromJsonSchema({ type: 'object', properties: { name: { type: 'string' } } })
  for (const name of [...TOOLS, 'multi_input', 'test_tool_with_task'])
    server.registerTool(name, { description: `the task ${name}`, inputSchema }, (args) =>
      answer(`Hello, ${(args as { name?: string }).name}!`),
    )
}

export class Tasks {
  readonly #tasks = new Map<string, Task>()

  /** Undefined for what is not about tasks. */
  async handle(request: Request): Promise<Response | undefined> {
    const message = (await request.clone().json()) as Message
    const { id, method, params = {} } = message
    const isOfTasks = /^tasks\/(get|update|cancel)$/.test(method)
    if (!isOfTasks && (method !== 'tools/call' || !(params.name && isTask(params.name)))) return
    const named = isOfTasks ? params.taskId : params.name
    const { headers } = request
    if (headers.get('mcp-method') !== method || headers.get('mcp-name') !== named)
      return respond(id, fault(-32020))
    const can = params._meta?.['io.modelcontextprotocol/clientCapabilities'] as
      | { extensions?: Json }
      | undefined
    const knows = can?.extensions?.[TASKS] !== undefined
    if (knows) return respond(id, isOfTasks ? this.#about(message) : this.#call(message))
    if (isOfTasks || REQUIRED.has(params.name ?? '')) return respond(id, fault(-32021, MISSING))
    return undefined
  }

  #call({ params = {} }: Message): Reply {
    const { name = '', arguments: args = {}, inputResponses } = params
    if (name === 'test_tool_with_task') {
      const given = inputResponses?.user_name as { content?: Json } | undefined
      if (given === undefined)
        return {
          result: { resultType: 'input_required', inputRequests: { user_name: ask('name') } },
        }
      return this.#begin(0, done(`Hello, ${given.content?.name}!`))
    }
    if (name === 'confirm_delete') return this.#begin(0, done('deleted'), { one: ask('confirm') })
    if (name === 'multi_input')
      return this.#begin(0, done('both'), { one: ask('name'), two: ask('confirm') })
    if (name === 'failing_job')
      return this.#begin(1, { status: 'completed', result: { ...answer('no'), isError: true } })
    if (name === 'protocol_error_job')
      return this.#begin(0, { status: 'failed', error: { code: -32603, message: 'it broke' } })
    return this.#begin(Number(args.seconds), done(`computed ${args.label}`))
  }

  #begin(seconds: number, then: Outcome, inputRequests: Record<string, object> = {}): Reply {
    const taskId = `task-${this.#tasks.size + 1}`
    const task: Task = {
      taskId,
      status: 'working',
      createdAt: new Date().toISOString(),
      inputRequests,
      then,
    }
    this.#tasks.set(taskId, task)
    if (Object.keys(inputRequests).length > 0) task.status = 'input_required'
    else
      task.timer = setTimeout(
        () => settle(task),
        seconds > 5 ? seconds * 1_000 : seconds * SECOND_MS,
      )
    return { result: { resultType: 'task', ...toTaskView(task) } }
  }

  #about({ method, params = {} }: Message): Reply {
    const task = this.#tasks.get(params.taskId ?? '')
    if (task === undefined) return fault(-32602)
    if (method === 'tasks/get') {
      const asks = task.status === 'input_required' ? { inputRequests: task.inputRequests } : {}
      return { result: { resultType: 'complete', ...toTaskView(task), ...asks, ...task.outcome } }
    }
    if (method === 'tasks/cancel') {
      clearTimeout(task.timer)
      if (task.outcome === undefined) task.status = 'cancelled'
    } else {
      for (const key of Object.keys(params.inputResponses ?? {})) delete task.inputRequests[key]
      if (task.status === 'input_required' && Object.keys(task.inputRequests).length === 0)
        settle(task)
    }
    return { result: { resultType: 'complete' } }
  }
}

function isTask(name: string): boolean {
  return name !== 'greet' && [...TOOLS, 'multi_input', 'test_tool_with_task'].includes(name)
}

function settle(task: Task): void {
  task.outcome = task.then
  task.status = task.then.status
}

function toTaskView({ taskId, status, createdAt }: Task): Json {
  const lastUpdatedAt = new Date().toISOString()
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: TTL_MS, pollIntervalMs: 100 }
}

function done(text: string): Outcome {
  return { status: 'completed', result: answer(text) }
}

function ask(name: string): object {
  const requestedSchema = { type: 'object', properties: { [name]: { type: 'string' } } }
  return { method: 'elicitation/create', params: { message: `${name}?`, requestedSchema } }
}

function fault(code: number, data?: Json): Reply {
  const message = code === -32602 ? 'no such task' : 'not so'
  return { error: { code, message, ...(data === undefined ? {} : { data }) } }
}

function respond(id: unknown, reply: Reply): Response {
  const status = 'error' in reply && reply.error.code !== -32602 ? 400 : 200
  return Response.json({ jsonrpc: '2.0', id, ...reply }, { status })
}
