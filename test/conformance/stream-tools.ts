// Tools of the fixture that say something on the way to their answer: log lines, progress, a stream
// closed in the middle, lists that change.

import { setTimeout as sleep } from 'node:timers/promises'
import type { McpServer, ServerContext, ServerNotifier } from '@modelcontextprotocol/server'
import { answer } from './content.ts'

const STEP_MS = 20

export interface Changes {
  /** Tells every open `subscriptions/listen`; sessions are told by the server itself. */
  readonly notify: Pick<ServerNotifier, 'toolsChanged' | 'promptsChanged'>
}

export function addStreamTools(server: McpServer, { notify }: Changes): void {
  const add = (name: string, does: string, run: (ctx: ServerContext) => Promise<void>): void =>
    void server.registerTool(name, { description: does }, async (ctx) => {
      await run(ctx)
      return answer(`${name} is done`)
    })
  add('test_tool_with_logging', 'logs three times', logThrice)
  add('test_logging_tool', 'logs where the client asked for it', logThrice)
  add('test_tool_with_progress', 'tells of its progress', tellProgress)
  add('test_reconnection', 'closes its stream before it answers', async ({ http }) => {
    await sleep(STEP_MS)
    http?.closeSSE?.()
    await sleep(STEP_MS)
  })
  add('test_trigger_tool_change', 'changes the list of tools', async () => {
    notify.toolsChanged()
    server.sendToolListChanged()
  })
  add('test_trigger_prompt_change', 'changes the list of prompts', async () => {
    notify.promptsChanged()
    server.sendPromptListChanged()
  })
}

async function logThrice({ mcpReq }: ServerContext): Promise<void> {
  for (const line of ['started', 'processing data', 'completed']) {
    await mcpReq.log('info', `Tool execution ${line}`)
    await sleep(STEP_MS)
  }
}

async function tellProgress({ mcpReq }: ServerContext): Promise<void> {
  const { progressToken } = mcpReq._meta ?? {}
  if (progressToken === undefined) return
  for (const progress of [0, 50, 100]) {
    const params = { progressToken, progress, total: 100 }
    await mcpReq.notify({ method: 'notifications/progress', params })
    await sleep(STEP_MS)
  }
}
