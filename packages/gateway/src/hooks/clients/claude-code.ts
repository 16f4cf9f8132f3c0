// Claude Code. It connects to the gate itself, over HTTP; only what has to block is a script in versions that
// ignore `onFailure`.

import type { JsonObject } from '@sluice/policy/values/json'
import {
  forAllTools,
  listEvents,
  readClaudePayload,
  runLine,
  toContext,
  writeClaudeAnswer,
} from './claude-shape.ts'
import type { ClientEvents, CodingClient, HookSetup } from './coding-client.ts'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'
import { CLIENT_SECONDS, EVENT_HEADER, isBlocking, SHELL_HEADER } from './hook-lines.ts'
import { isAtLeast } from './version.ts'

/** Before it a hook over HTTP goes on without a gate. */
const ON_FAILURE_SINCE = '2.1.295'

const NESTED = ['CLAUDECODE']
const SHELLS = ['CLAUDE_CODE_SHELL', 'SHELL']

const EVENTS: ClientEvents = {
  start: 'SessionStart',
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  asked: 'PermissionRequest',
  after: 'PostToolUse',
  failed: 'PostToolUseFailure',
  end: 'SessionEnd',
}

export const claudeCode: CodingClient = {
  title: 'Claude Code',
  program: 'claude',
  settings: {
    homeVariable: 'CLAUDE_CONFIG_DIR',
    folder: '.claude',
    file: 'settings.json',
    emptyFile: '',
    readsComments: false,
    managed: {
      file: 'etc/claude-code/managed-settings.json',
      members: { allowManagedHooksOnly: true },
      servers: 'etc/claude-code/managed-mcp.json',
    },
  },
  events: EVENTS,
  directories: [],
  sender: 'client',
  abilities: { rewrites: true, answersQuestion: true, notes: 'output' },
  failClosedSince: ON_FAILURE_SINCE,
  nameTool,
  readPayload: readClaudePayload,
  writeAnswer,
  listEntries: (setup) => listEvents(EVENTS, (event) => forAllTools(writeHook(setup, event))),
}

/** A yes before the tool would lift blocks of the client, and let pass what another hook puts in the place of the
 * line. It is given when the client asks, and only for the line that is to run then. */
function writeAnswer(event: AnsweredEvent, answer: HookAnswer): JsonObject {
  if (answer.kind !== 'rewrite') return writeClaudeAnswer(event, answer)
  const { input, note } = answer
  const shown = { hookEventName: 'PreToolUse', updatedInput: input, ...toContext(note) }
  return { hookSpecificOutput: shown }
}

/** What watches a command is a shell; what listens to a socket has no line. */
function nameTool(name: string, input: JsonObject): string {
  const isShell = typeof input.command === 'string' && input.ws === undefined
  return name === 'Monitor' && isShell ? 'Bash' : name
}

function writeHook(setup: HookSetup, event: string): JsonObject {
  return event === 'start' || asksByScript(setup, event)
    ? runLine(setup, event)
    : askOverHttp(setup, event)
}

/** A prompt stays with HTTP: of a script nobody knows who started it. */
function asksByScript({ blocks, version }: HookSetup, event: string): boolean {
  return blocks && event === 'before' && !isAtLeast(version, ON_FAILURE_SINCE)
}

function askOverHttp(setup: HookSetup, event: string): JsonObject {
  return {
    type: 'http',
    url: setup.url,
    timeout: CLIENT_SECONDS,
    ...(isBlocking(setup, event) ? { onFailure: 'block' } : {}),
    headers: {
      Authorization: `Bearer ${setup.token}`,
      [EVENT_HEADER]: event,
      // Set if the client was started by another agent: then nobody typed its prompt.
      'Sluice-Nested': '$CLAUDECODE',
      ...(event === 'asked' ? { [SHELL_HEADER]: '$CLAUDE_CODE_SHELL:$SHELL' } : {}),
    },
    allowedEnvVars: event === 'asked' ? [...NESTED, ...SHELLS] : NESTED,
  }
}
