// Codex. It runs the original command on every answer that has a member which it does not know, so before a
// tool nothing is written for it but a denial with a reason, or a yes with another input.

import {
  forAllTools,
  listEvents,
  nameByTable,
  readClaudePayload,
  runLine,
  writeClaudeAnswer,
} from './claude-shape.ts'
import type { ClientEvents, CodingClient, HookSetup, WrittenEntry } from './coding-client.ts'

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  end: 'SessionEnd',
}

const TOOLS: Readonly<Record<string, string>> = {
  shell: 'Bash',
  exec_command: 'Bash',
  write_stdin: 'BashInput',
  view_image: 'Read',
  web_search: 'WebSearch',
  update_plan: 'TodoWrite',
  create_goal: 'TodoWrite',
  get_goal: 'TodoWrite',
  update_goal: 'TodoWrite',
  request_user_input: 'AskUserQuestion',
  spawn_agent: 'Agent',
  send_input: 'Agent',
  resume_agent: 'Agent',
  wait_agent: 'Agent',
  close_agent: 'Agent',
}

export const codex: CodingClient = {
  title: 'Codex',
  program: 'codex',
  settings: {
    homeVariable: 'CODEX_HOME',
    folder: '.codex',
    file: 'hooks.json',
    emptyFile: '',
    readsComments: false,
    managed: { file: 'etc/codex/requirements.toml', members: {}, write: writeRequirements },
  },
  events: EVENTS,
  directories: ['workdir'],
  sender: 'script',
  abilities: { rewrites: true, answersQuestion: false, notes: 'output' },
  nameTool: nameByTable(TOOLS),
  readPayload: readClaudePayload,
  writeAnswer: writeClaudeAnswer,
  listEntries,
  afterInit: 'Codex asks you to trust the new hooks: open `/hooks` in it',
}

function listEntries(setup: HookSetup): WrittenEntry[] {
  return listEvents(EVENTS, (event) => forAllTools(runLine(setup, event)))
}

/** The machine-wide file is TOML. */
function writeRequirements(entries: readonly WrittenEntry[]): string {
  const tables = entries.map(([event, { hooks }]) => {
    const [hook] = hooks as [{ command: string; timeout: number }]
    return `\n[[hooks.${event}]]\nmatcher = "*"\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${JSON.stringify(hook.command)}\ntimeout = ${hook.timeout}\n`
  })
  return `# Written by \`sluice init --managed\`.\nallow_managed_hooks_only = true\n${tables.join('')}`
}
