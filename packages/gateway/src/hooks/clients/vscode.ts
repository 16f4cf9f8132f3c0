// The local agent of VS Code, by its documents of 14 October 2026; its Claude, Codex and Copilot agents run the hooks
// of those clients. The payloads are those of Claude Code, but for two names in camel case; a turn has an end, a
// session has none.

import type { JsonObject } from '@sluice/policy/values/json'
import {
  listEvents,
  nameByTable,
  readClaudePayload,
  runLine,
  writeClaudeAnswer,
} from './claude-shape.ts'
import type { ClientEvents, ClientPayload, CodingClient } from './coding-client.ts'

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  end: 'Stop',
}

const TOOLS: Readonly<Record<string, string>> = {
  run_in_terminal: 'Bash',
  runTerminalCommand: 'Bash',
  read_file: 'Read',
  readFile: 'Read',
  create_file: 'Write',
  createFile: 'Write',
  replace_string_in_file: 'Edit',
  apply_patch: 'apply_patch',
  file_search: 'Glob',
  grep_search: 'Grep',
  list_dir: 'Glob',
  fetch_webpage: 'WebFetch',
  manage_todo_list: 'TodoWrite',
  runSubagent: 'Agent',
}

export const vscode: CodingClient = {
  title: 'VS Code',
  program: 'code',
  isUntested: true,
  settings: {
    folder: '.copilot',
    file: 'hooks/sluice-vscode.json',
    emptyFile: '',
    readsComments: false,
    runsHooksOf: ['claude-code', 'copilot'],
  },
  events: EVENTS,
  directories: [],
  sender: 'script',
  abilities: { rewrites: false, answersQuestion: false, notes: 'output' },
  nameTool: nameByTable(TOOLS),
  readPayload,
  writeAnswer: writeClaudeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => runLine(setup, event)),
}

function readPayload(payload: JsonObject): ClientPayload {
  const { hookEventName, sessionId } = payload
  return readClaudePayload({
    ...(hookEventName === undefined ? {} : { hook_event_name: hookEventName }),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...payload,
  })
}
