// opencode. It has no hooks in its settings: what asks the gate is a plugin in its own process
// (cli/bin/opencode-plugin.js), which sends payloads like those of Claude Code by the same command lines.

import {
  listEvents,
  nameByTable,
  readClaudePayload,
  runLine,
  writeClaudeAnswer,
} from './claude-shape.ts'
import type { ClientEvents, CodingClient } from './coding-client.ts'

const EVENTS: ClientEvents = {
  start: 'start',
  prompt: 'chat.message',
  before: 'tool.execute.before',
  after: 'tool.execute.after',
  end: 'dispose',
}

const TOOLS: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read: 'Read',
  write: 'Write',
  edit: 'Edit',
  glob: 'Glob',
  grep: 'Grep',
  list: 'Glob',
  webfetch: 'WebFetch',
  websearch: 'WebSearch',
  skill: 'Skill',
  task: 'Agent',
  todowrite: 'TodoWrite',
  todoread: 'TodoWrite',
  question: 'AskUserQuestion',
  plan_exit: 'ExitPlanMode',
}

export const opencode: CodingClient = {
  title: 'opencode',
  program: 'opencode',
  settings: {
    folder: '.config/opencode',
    file: 'plugins/sluice.js',
    plugin: 'opencode-plugin.js',
    emptyFile: '',
    readsComments: true,
  },
  events: EVENTS,
  directories: ['workdir'],
  sender: 'script',
  abilities: { rewrites: true, answersQuestion: false, notes: 'output' },
  nameTool: nameByTable(TOOLS),
  // A tool of its own is never one of a server, whatever servers are called.
  readPayload: (payload) => {
    const read = readClaudePayload(payload)
    return Object.hasOwn(TOOLS, String(read.tool_name)) ? { ...read, mcpServers: [] } : read
  },
  writeAnswer: writeClaudeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => runLine(setup, event)),
}
