// Qwen Code: the hooks of Claude Code, and tools that mostly have the names of Gemini CLI. It runs no other line
// than that of its model (0.24.4), and shows the model the reason of a stop in place of an output.

import type { JsonObject } from '@sluice/policy/values/json'
import {
  forAllTools,
  listEvents,
  nameByTable,
  readClaudePayload,
  runLine,
  writeClaudeAnswer,
} from './claude-shape.ts'
import type { ClientEvents, CodingClient } from './coding-client.ts'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  failed: 'PostToolUseFailure',
  end: 'SessionEnd',
}

const TOOLS: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  read_file: 'Read',
  write_file: 'Write',
  edit: 'Edit',
  glob: 'Glob',
  grep_search: 'Grep',
  list_directory: 'Glob',
  web_fetch: 'WebFetch',
  todo_write: 'TodoWrite',
  get_goal: 'TodoWrite',
  update_goal: 'TodoWrite',
  notebook_edit: 'NotebookEdit',
  tool_search: 'ToolSearch',
  // Calls a tool by its name, whatever that is.
  tool_call: 'Workflow',
  list_agents: 'ListAgents',
  skill: 'Skill',
  agent: 'Agent',
  ask_user_question: 'AskUserQuestion',
  exit_plan_mode: 'ExitPlanMode',
  enter_plan_mode: 'ExitPlanMode',
}

export const qwen: CodingClient = {
  title: 'Qwen Code',
  program: 'qwen',
  settings: {
    folder: '.qwen',
    file: 'settings.json',
    emptyFile: '',
    readsComments: true,
  },
  events: EVENTS,
  directories: ['directory'],
  sender: 'script',
  abilities: { rewrites: false, answersQuestion: false, notes: 'output' },
  nameTool: nameByTable(TOOLS),
  readPayload: readClaudePayload,
  writeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => forAllTools(runLine(setup, event))),
}

function writeAnswer(event: AnsweredEvent, answer: HookAnswer): JsonObject {
  if (answer.kind !== 'replace') return writeClaudeAnswer(event, answer)
  const { output, reason, note } = answer
  const said = reason ?? (typeof output === 'string' ? output : JSON.stringify(output))
  return { continue: false, stopReason: note === undefined ? said : `${said}\n${note}` }
}
