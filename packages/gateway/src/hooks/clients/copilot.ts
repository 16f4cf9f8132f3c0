// Copilot CLI. An entry of its file is a hook; it has a file for the hooks of each program that adds some.

import type { JsonObject } from '@sluice/policy/values/json'
import { listEvents, nameByTable, readClaudePayload, writeClaudeAnswer } from './claude-shape.ts'
import type { ClientEvents, CodingClient, HookSetup } from './coding-client.ts'
import { CLIENT_SECONDS, writeHookLine } from './hook-lines.ts'

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  end: 'SessionEnd',
}

const TOOLS: Readonly<Record<string, string>> = {
  bash: 'Bash',
  write_bash: 'BashInput',
  read_bash: 'BashOutput',
  list_bash: 'BashOutput',
  stop_bash: 'TaskStop',
  view: 'Read',
  create: 'Write',
  edit: 'Edit',
  str_replace_editor: 'Edit',
  glob: 'Glob',
  grep: 'Grep',
  web_fetch: 'WebFetch',
  skill: 'Skill',
  task: 'Agent',
  read_agent: 'Agent',
  list_agents: 'Agent',
  write_agent: 'Agent',
  report_intent: 'TodoWrite',
  ask_user: 'AskUserQuestion',
}

export const copilot: CodingClient = {
  title: 'GitHub Copilot',
  program: 'copilot',
  settings: {
    homeVariable: 'COPILOT_HOME',
    folder: '.copilot',
    file: 'hooks/sluice.json',
    emptyFile: '{ "version": 1 }\n',
    readsComments: false,
    managed: { file: 'etc/github-copilot/policy.d/sluice.json', members: {} },
  },
  events: EVENTS,
  directories: [],
  sender: 'script',
  abilities: { rewrites: true, answersQuestion: false, notes: 'next call' },
  nameTool: nameByTable(TOOLS),
  readPayload: readClaudePayload,
  writeAnswer: writeClaudeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => runBash(setup, event)),
}

function runBash(setup: HookSetup, event: string): JsonObject {
  return { type: 'command', bash: writeHookLine(setup, event), timeoutSec: CLIENT_SECONDS }
}
