// What clients send and what they are answered: payloads as the published clients sent them.

import type { JsonObject } from '@sluice/policy/core/json'
import { describe, expect, test } from 'vitest'
import { CLIENT_TOOLS, listClientTools } from './client-tools.ts'
import type { HookClient } from './hook-event.ts'
import { readHookEvent } from './read-event.ts'
import { writeHookAnswer } from './write-answer.ts'

/** As received from Claude Code 2.1.326, Codex 0.169.0, Copilot CLI 1.0.102 and Gemini CLI 0.61.0. */
const CLAUDE: JsonObject = {
  session_id: '5b2c',
  transcript_path: '/srv/transcripts/5b2c.jsonl',
  cwd: '/srv/app',
  prompt_id: 'p1',
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls', description: 'List files', timeout: 60_000 },
  tool_use_id: 'toolu_1',
}
const CODEX: JsonObject = {
  session_id: '019a',
  turn_id: '1',
  transcript_path: null,
  cwd: '/srv/app',
  hook_event_name: 'PreToolUse',
  model: 'gpt',
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'call_1',
}
const COPILOT: JsonObject = {
  hook_event_name: 'PreToolUse',
  session_id: 'c1',
  timestamp: '2026-11-17T10:00:00Z',
  cwd: '/srv/app',
  tool_name: 'Read',
  tool_input: { path: 'src/a.ts' },
}
const GEMINI: JsonObject = {
  session_id: 'g1',
  transcript_path: '/t',
  cwd: '/srv/app',
  hook_event_name: 'BeforeTool',
  timestamp: '2026-11-17T10:00:00Z',
  tool_name: 'run_shell_command',
  tool_input: { command: 'ls' },
}

describe('before a tool', () => {
  test.each<[HookClient, JsonObject, object]>([
    [
      'claude-code',
      CLAUDE,
      {
        tool: 'Bash',
        id: 'toolu_1',
        args: { command: 'ls', cwd: '/srv/app' },
      },
    ],
    ['codex', CODEX, { tool: 'Bash', id: 'call_1', args: { command: 'ls', cwd: '/srv/app' } }],
    ['copilot', COPILOT, { tool: 'Read', args: { file_path: '/srv/app/src/a.ts' } }],
    ['gemini', GEMINI, { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app' } }],
    [
      'gemini',
      {
        ...GEMINI,
        tool_name: 'mcp_x_echo',
        tool_input: { path: 'a' },
        mcp_context: { server_name: 'x', tool_name: 'echo' },
      },
      { tool: 'mcp_x_echo', mcpServer: 'x', args: { path: 'a' } },
    ],
    [
      'claude-code',
      { ...CLAUDE, tool_name: 'mcp__x__echo', mcp_server: { name: 'x', source: 'user' } },
      { tool: 'mcp__x__echo', mcpServer: 'x' },
    ],
    ['codex', { ...CODEX, tool_name: 'mcp__x__echo' }, { tool: 'mcp__x__echo', mcpServer: 'x' }],
    ['claude-code', { ...CLAUDE, tool_name: 'Grep' }, { tool: 'Grep' }],
  ])('%s', (client, payload, call) => {
    expect(readHookEvent(client, payload)).toMatchObject({ kind: 'before', call })
  })

  test('a command line is the line and its directory, not what a model says about it', () => {
    const event = readHookEvent('claude-code', CLAUDE)
    expect('call' in event && event.call.args).toEqual({ command: 'ls', cwd: '/srv/app' })
  })

  test.each([
    ['/etc/passwd', '/etc/passwd'],
    ['../x', '/srv/app/../x'],
    ['~/.ssh/id', '~/.ssh/id'],
    ['C:\\x', 'C:\\x'],
  ])('the path %s is judged as %s', (file_path, judged) => {
    const event = readHookEvent('claude-code', {
      ...CLAUDE,
      tool_name: 'Write',
      tool_input: { file_path },
    })
    expect(event).toMatchObject({ call: { args: { file_path: judged } } })
  })

  test('a name that every object inherits is no event', () => {
    expect(readHookEvent('codex', { ...CODEX, hook_event_name: 'constructor' })).toMatchObject({
      why: expect.stringContaining('no event'),
    })
  })
})

test.each<[JsonObject, object]>([
  [{ source: undefined as unknown as string }, { isTyped: true }],
  [{ source: 'user' }, { isTyped: true }],
  [{ source: 'sdk' }, { isTyped: true }],
  [{ source: 'loop' }, { isTyped: false }],
  [{ source: null }, { isTyped: false }],
])('a prompt with %j', (source, read) => {
  const payload = {
    session_id: 's',
    hook_event_name: 'UserPromptSubmit',
    prompt: 'Do it',
    ...source,
  }
  const given = Object.fromEntries(Object.entries(payload).filter(([, one]) => one !== undefined))
  expect(readHookEvent('claude-code', given)).toMatchObject({
    kind: 'prompt',
    text: 'Do it',
    ...read,
  })
})

test.each<[HookClient, object]>([
  [
    'claude-code',
    {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'no',
      },
    },
  ],
  ['gemini', { decision: 'deny', reason: 'no' }],
])('a denial for %s', (client, written) => {
  expect(writeHookAnswer(client, 'before', { kind: 'deny', reason: 'no' })).toEqual(written)
  expect(writeHookAnswer(client, 'before', { kind: 'pass' })).toEqual({})
})

test('every tool of the catalogue has a schema and hints, a name beside it has none', () => {
  const tools = listClientTools('codex', ['New'])
  expect(tools).toHaveLength(CLIENT_TOOLS.size + 1)
  expect(tools.at(-1)).toEqual({
    name: 'New',
    inputSchema: { type: 'object', additionalProperties: true },
  })
})
