// What clients have in common because they took it from Claude Code: the members of payloads, the list of hooks
// in each entry, and denials and replacements in `hookSpecificOutput`.

import { getOwn, isObject, type JsonObject } from '@sluice/policy/values/json'
import type {
  ClientEvents,
  ClientPayload,
  CodingClient,
  HookSetup,
  WrittenEntry,
} from './coding-client.ts'
import type { AnsweredEvent, HookAnswer } from './hook-event.ts'
import { CLIENT_SECONDS, writeHookLine } from './hook-lines.ts'

/** Who submits a prompt that a person wrote; some versions of the clients do not say it. */
const TYPED: readonly unknown[] = [undefined, 'user', 'sdk']

export function readClaudePayload(payload: JsonObject): ClientPayload {
  const { mcp_server, mcp_context } = payload
  return {
    hook_event_name: payload.hook_event_name,
    session_id: payload.session_id,
    prompt: payload.prompt,
    tool_name: payload.tool_name,
    tool_input: payload.tool_input,
    tool_use_id: payload.tool_use_id,
    cwd: payload.cwd,
    scratch: payload.scratchpad_dir,
    permission_mode: payload.permission_mode,
    permission_suggestions: payload.permission_suggestions,
    mcpServers: [
      isObject(mcp_server) ? mcp_server.name : undefined,
      isObject(mcp_context) ? mcp_context.server_name : undefined,
    ],
    output: payload.tool_response ?? payload.tool_result ?? payload.error ?? null,
    isTyped: TYPED.includes(payload.source),
  }
}

/** Names tools by a table; a tool that is not in it keeps its name. */
export function nameByTable(table: Readonly<Record<string, string>>): CodingClient['nameTool'] {
  return (name) => getOwn(table, name) ?? name
}

/** The rewritten arguments go with a yes: these clients ignore them else. */
export function writeClaudeAnswer(event: AnsweredEvent, answer: HookAnswer): JsonObject {
  const hookEventName = EVENT_NAMES[event]
  switch (answer.kind) {
    case 'pass':
      return {}
    case 'rewrite': {
      const { input, note } = answer
      const allowed = { permissionDecision: 'allow', updatedInput: input }
      return { hookSpecificOutput: { hookEventName, ...allowed, ...toContext(note) } }
    }
    case 'allow':
      return { hookSpecificOutput: { hookEventName, decision: { behavior: 'allow' } } }
    case 'note':
      return { hookSpecificOutput: { hookEventName, ...toContext(answer.note) } }
    case 'replace': {
      const { output, reason, note } = answer
      const why = reason === undefined ? {} : { decision: 'block', reason }
      const shown = { updatedToolOutput: output, ...toContext(note) }
      return { ...why, hookSpecificOutput: { hookEventName: EVENT_NAMES.after, ...shown } }
    }
    case 'deny': {
      const { reason } = answer
      if (event !== 'before') return { decision: 'block', reason }
      const denied = { permissionDecision: 'deny', permissionDecisionReason: reason }
      return { hookSpecificOutput: { hookEventName, ...denied } }
    }
  }
}

const EVENT_NAMES: Readonly<Record<AnsweredEvent, string>> = {
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  asked: 'PermissionRequest',
  after: 'PostToolUse',
  failed: 'PostToolUseFailure',
  end: 'SessionEnd',
}

/** The member with what the model reads beside the rest. */
export function toContext(note: string | undefined): JsonObject {
  return note === undefined ? {} : { additionalContext: note }
}

/** An entry for each event, `hook` being what it does. */
export function listEvents(
  events: ClientEvents,
  toEntry: (event: string) => JsonObject,
): WrittenEntry[] {
  return Object.entries(events).map(([event, name]) => [name, toEntry(event)])
}

/** A hook that runs for every tool. */
export function forAllTools(hook: JsonObject): JsonObject {
  return { matcher: '*', hooks: [hook] }
}

/** A hook that runs the script, or at the start of a session a gate. */
export function runLine(setup: HookSetup, event: string): JsonObject {
  return { type: 'command', command: writeHookLine(setup, event), timeout: CLIENT_SECONDS }
}
