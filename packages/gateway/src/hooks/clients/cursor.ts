// Cursor, by its documents. Its event for every tool is the only one that is written: the one for its shell comes
// beside it, and each line would be decided twice. The arguments of MCP tools are a text.

import { getOwn, type JsonObject, parseObject } from '@sluice/policy/values/json'
import { listEvents, readClaudePayload, runLine } from './claude-shape.ts'
import type { ClientEvents, ClientPayload, CodingClient } from './coding-client.ts'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'
import { CLIENT_SECONDS } from './hook-lines.ts'

const EVENTS: ClientEvents = {
  start: 'sessionStart',
  prompt: 'beforeSubmitPrompt',
  before: 'preToolUse',
  after: 'postToolUse',
  failed: 'postToolUseFailure',
  end: 'sessionEnd',
}

const TOOLS: Readonly<Record<string, string>> = { Shell: 'Bash', Task: 'Agent' }
const MCP = /^MCP:([^:]+):(.+)$/

export const cursor: CodingClient = {
  title: 'Cursor',
  program: 'cursor',
  isUntested: true,
  settings: {
    folder: '.cursor',
    file: 'hooks.json',
    emptyFile: '{ "version": 1 }\n',
    readsComments: false,
    runsHooksOf: ['claude-code'],
  },
  events: EVENTS,
  directories: ['working_directory'],
  sender: 'script',
  abilities: { rewrites: false, answersQuestion: false, notes: 'output' },
  nameTool: (name) => getOwn(TOOLS, name) ?? name.replace(MCP, 'mcp__$1__$2'),
  readPayload,
  writeAnswer,
  listEntries: (setup) =>
    listEvents(EVENTS, (event) => ({
      ...runLine(setup, event),
      timeout: CLIENT_SECONDS * 1_000,
    })),
}

function readPayload(payload: JsonObject): ClientPayload {
  const { conversation_id, workspace_roots, tool_input, tool_name, tool_output } = payload
  const [root] = Array.isArray(workspace_roots) ? workspace_roots : []
  const input = typeof tool_input === 'string' ? parseObject(tool_input) : tool_input
  const [, server] = MCP.exec(String(tool_name)) ?? []
  const read = readClaudePayload(payload)
  return {
    ...read,
    session_id: conversation_id,
    tool_input: input,
    cwd: payload.cwd ?? root,
    output: tool_output ?? read.output,
    mcpServers: [server],
  }
}

/** It replaces no output: what a tool has said can only be noted. */
function writeAnswer(event: AnsweredEvent, answer: HookAnswer): JsonObject {
  switch (answer.kind) {
    case 'deny':
      return event === 'prompt'
        ? { continue: false, user_message: answer.reason }
        : { permission: 'deny', agent_message: answer.reason }
    case 'note':
    case 'replace':
      return answer.note === undefined ? {} : { additional_context: answer.note }
    case 'pass':
    case 'allow':
    case 'rewrite':
      return {}
  }
}
