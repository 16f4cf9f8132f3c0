// Gemini CLI. It has names of its own for events, counts in milliseconds, and shows the model the reason of a
// denial in place of an output.

import type { JsonObject } from '@sluice/policy/values/json'
import {
  forAllTools,
  listEvents,
  nameByTable,
  readClaudePayload,
  runLine,
  toContext,
} from './claude-shape.ts'
import type { ClientEvents, CodingClient, HookSetup } from './coding-client.ts'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'
import { CLIENT_SECONDS } from './hook-lines.ts'

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'BeforeAgent',
  before: 'BeforeTool',
  after: 'AfterTool',
  end: 'SessionEnd',
}

const TOOLS: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  read_file: 'Read',
  write_file: 'Write',
  replace: 'Edit',
  glob: 'Glob',
  grep_search: 'Grep',
  search_file_content: 'Grep',
  web_fetch: 'WebFetch',
  google_web_search: 'WebSearch',
  list_directory: 'Glob',
  activate_skill: 'Skill',
  invoke_agent: 'Agent',
  read_background_output: 'BashOutput',
  list_background_processes: 'BashOutput',
  update_topic: 'TodoWrite',
  write_todos: 'TodoWrite',
  enter_plan_mode: 'ExitPlanMode',
  exit_plan_mode: 'ExitPlanMode',
  ask_user: 'AskUserQuestion',
}

export const gemini: CodingClient = {
  title: 'Gemini CLI',
  program: 'gemini',
  settings: {
    folder: '.gemini',
    file: 'settings.json',
    emptyFile: '',
    readsComments: true,
    managed: { file: 'etc/gemini-cli/settings.json', members: {} },
  },
  events: EVENTS,
  directories: ['dir_path', 'directory'],
  sender: 'script',
  abilities: { rewrites: true, answersQuestion: false, notes: 'output' },
  nameTool: nameByTable(TOOLS),
  readPayload: readClaudePayload,
  writeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => forAllTools(runHook(setup, event))),
}

function runHook(setup: HookSetup, event: string): JsonObject {
  return { ...runLine(setup, event), timeout: CLIENT_SECONDS * 1_000 }
}

function writeAnswer(event: AnsweredEvent, answer: HookAnswer): JsonObject {
  switch (answer.kind) {
    // It has no hook for the question to its user.
    case 'allow':
    case 'pass':
      return {}
    case 'deny':
      return { decision: 'deny', reason: answer.reason }
    case 'rewrite':
      return {
        decision: 'allow',
        hookSpecificOutput: { hookEventName: EVENTS.before, tool_input: answer.input },
      }
    case 'note': {
      const hookEventName = event === 'prompt' ? EVENTS.prompt : EVENTS.after
      return { hookSpecificOutput: { hookEventName, ...toContext(answer.note) } }
    }
    case 'replace': {
      const { output, reason, note } = answer
      const text = typeof output === 'string' ? output : JSON.stringify(output)
      const said = reason ?? text
      return { decision: 'deny', reason: note === undefined ? said : `${said}\n${note}` }
    }
  }
}
