// `sluice agents ls`, `todos` and `files`: what there is, and how far it has come. With --json the
// same as the MCP tools answer.

import type { Command } from 'commander'
import { type AgentsOptions, addAgentsOptions, OWNER, withAgents } from './agents-source.ts'
import type { Answer } from './answer.ts'
import { Output, printable } from './output.ts'

interface FilesOptions extends AgentsOptions {
  readonly glob?: string
}

export function addAgentsLs(parent: Command, answer: Answer): void {
  addAgentsOptions(parent.command('ls'))
    .description('the agents')
    .option('--json', 'answer as JSON')
    .action(async (options: AgentsOptions) => {
      const output = new Output(options)
      await withAgents(options, async (service) => {
        const { agentView } = await import('../agents/views.ts')
        const all = []
        for (let after = 0; ; ) {
          const page = await service.steps.list(OWNER, null, after, 100)
          all.push(...page.map(agentView))
          if (page.length < 100) break
          after = page.at(-1)?.key ?? after
        }
        output.value({ agents: all, count: all.length })
        for (const { id, state, turnCount, fileCount, model } of all)
          output.line(
            `${id}  ${state.padEnd(8)} ${turnCount} turns  ${fileCount} files  ${printable(model)}`,
          )
        if (all.length === 0) output.line('no agents')
      })
      answer(0)
    })
}

export function addAgentsTodos(parent: Command, answer: Answer): void {
  addAgentsOptions(parent.command('todos <agent>'))
    .description("an agent's todo list")
    .option('--json', 'answer as JSON')
    .action(async (agent: string, options: AgentsOptions) => {
      const output = new Output(options)
      await withAgents(options, async (service) => {
        const { todoView } = await import('../agents/views.ts')
        const view = todoView(
          agent,
          (await service.ask<never[]>(OWNER, agent, { ask: 'todos' })).value,
        )
        output.value(view)
        for (const { id, status, content } of view.todos)
          output.line(`${id.padEnd(4)} ${status.padEnd(11)} ${printable(content)}`)
        if (view.todos.length === 0) output.line('no todos')
      })
      answer(0)
    })
}

export function addAgentsFiles(parent: Command, answer: Answer): void {
  addAgentsOptions(parent.command('files <agent> [path]'))
    .description("an agent's files, or the content of one")
    .option('--glob <pattern>', 'only those that match')
    .option('--json', 'answer as JSON')
    .action(async (agent: string, path: string | undefined, options: FilesOptions) => {
      const output = new Output(options)
      await withAgents(options, async (service) => {
        const { fileView } = await import('../agents/views.ts')
        const question = {
          ...(path === undefined ? {} : { path }),
          ...(options.glob === undefined ? {} : { glob: options.glob }),
        }
        const found = await service.steps.files(OWNER, agent, question, Date.now())
        const files = found.files.map(fileView)
        output.value({ files, fileCount: found.agent.summary.fileCount })
        const [content] = found.files.map((file) => file.content)
        // The bytes as they are: a file may go into a pipe.
        if (path !== undefined && content !== undefined && !output.json)
          process.stdout.write(content)
        else
          for (const file of files)
            output.line(
              `${String(file.bytes).padStart(9)}  ${file.modifiedAt}  ${printable(file.path)}`,
            )
      })
      answer(0)
    })
}
