// The conformance fixture: one MCP server with everything the two conformance suites ask a server
// for, on SDK v2, so that one definition serves both generations. `serve.ts` puts it on HTTP or stdio.

import { McpServer } from '@modelcontextprotocol/server'
import { addAskingTools } from './asking-tools.ts'
import { addContentTools } from './content-tools.ts'
import { addInputPrompt, addInputTools } from './input-tools.ts'
import { addPrompts } from './prompts.ts'
import { state } from './request-state.ts'
import { addResources } from './resources.ts'
import { SKILLS } from './skills.ts'
import { addStreamTools, type Changes } from './stream-tools.ts'
import { addTaskTools, TASKS } from './tasks.ts'

export function makeServer(changes: Changes): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
        extensions: { [TASKS]: {} },
      },
      requestState: { verify: state.verify },
    },
  )
  addContentTools(server)
  addStreamTools(server, changes)
  addAskingTools(server)
  addInputTools(server)
  addInputPrompt(server)
  addResources(server)
  addPrompts(server)
  addTaskTools(server)
  SKILLS.attach(server)
  return server
}
