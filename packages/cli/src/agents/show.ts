// `sluice agents ls`, `todos` and `files`: what there is, and how far it has come. With --json the
// same as the MCP tools answer.

import { visibleLines } from '@sluice/guard/show/visible-text'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { printable } from '../terminal/output.ts'
import { type AgentToolView, defineAgentsCommand } from './open-agents.ts'

interface AgentsPage {
  readonly agents: readonly AgentToolView[]
  readonly nextCursor: string | null
}

interface TodosView {
  readonly todos: readonly {
    readonly id: string
    readonly status: string
    readonly content: string
  }[]
}

interface FilesView {
  readonly fileCount: number
  readonly files: readonly {
    readonly path: string
    readonly bytes: number
    readonly modifiedAt: string
    readonly content?: string
    readonly contentBase64?: string
  }[]
}

export const addAgentsLs = defineAgentsCommand({
  name: 'ls',
  description: 'the agents',
  run: async (agents, _options, output) => {
    const all: AgentToolView[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const request = cursor === undefined ? {} : { cursor }
      const page: AgentsPage = await agents.call('wasm_agent_list', request)
      all.push(...page.agents)
      cursor = page.nextCursor
    }
    output.value({ agents: all, count: all.length })
    for (const { id, state, turnCount, fileCount, model } of all)
      output.line(
        `${id}  ${state.padEnd(8)} ${turnCount} turns  ${fileCount} files  ${printable(model)}`,
      )
    if (all.length === 0) output.line('no agents')
  },
})

export const addAgentsTodos = defineAgentsCommand({
  name: 'todos',
  description: "an agent's todo list",
  args: { '<agent>': '' },
  run: async (agents, { agent }, output) => {
    const view = await agents.call<TodosView>('wasm_agent_todos', { agentId: agent })
    output.value(view)
    for (const { id, status, content } of view.todos)
      output.line(`${id.padEnd(4)} ${status.padEnd(11)} ${printable(content)}`)
    if (view.todos.length === 0) output.line('no todos')
  },
})

export const addAgentsFiles = defineAgentsCommand({
  name: 'files',
  description: "an agent's files, or the content of one",
  args: { '<agent>': '', '[path]': '' },
  options: { '--glob <pattern>': 'only those that match' },
  run: async (agents, { agent, path, glob }, output) => {
    const question = { agentId: agent, ...pickDefined({ path, glob }) }
    const { files, fileCount } = await agents.call<FilesView>('wasm_agent_files', question)
    output.value({ files, fileCount })
    const [file] = files
    if (path !== undefined && file !== undefined && !output.json)
      writeContent(file.content ?? Buffer.from(file.contentBase64 ?? '', 'base64'))
    else
      for (const each of files)
        output.line(
          `${String(each.bytes).padStart(9)}  ${each.modifiedAt}  ${printable(each.path)}`,
        )
  },
})

/** The bytes as they are, for a pipe or a file. On a terminal, what a model wrote must not control it. */
function writeContent(content: string | Buffer): void {
  if (!process.stdout.isTTY) process.stdout.write(content)
  else process.stdout.write(visibleLines(content.toString()).replace(/\r(?!\n)/g, '\\u{d}'))
}
