// What clients send and what they are answered: payloads as the published clients sent them.

import type { JsonObject } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { CLIENT_TOOLS, listClientTools } from './client-tools.ts'
import { readHookEntry } from './clients/hook-lines.ts'
import { CODING_CLIENTS, HOOK_CLIENTS, type HookClient } from './clients/table.ts'
import { isAtLeast } from './clients/version.ts'
import { OFFERED_TOOLS } from './offered-tools.ts'
import { readHookEvent } from './read-event.ts'

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

/** As received from the plugin in opencode 1.18.33, and from Qwen Code 0.24.4. */
const OPENCODE: JsonObject = {
  hook_event_name: 'tool.execute.before',
  cwd: '/srv/app',
  session_id: 'ses_1',
  tool_name: 'bash',
  tool_input: { command: 'ls', description: 'List files', timeout: 60_000, workdir: 'src' },
  tool_use_id: 'toolu_1',
}
const QWEN: JsonObject = {
  session_id: '6d5a',
  transcript_path: '/srv/.qwen/6d5a.jsonl',
  cwd: '/srv/app',
  hook_event_name: 'PreToolUse',
  timestamp: '2026-11-19T01:33:53.519Z',
  permission_mode: 'yolo',
  prompt_id: '6d5a########0',
  tool_name: 'run_shell_command',
  tool_input: { command: 'ls', description: 'List files' },
  tool_use_id: 'toolu_1',
  tool_call_id: 'call_1',
}
/** As their documents have them. */
const VSCODE: JsonObject = {
  timestamp: '2026-02-09T10:30:00.000Z',
  cwd: '/srv/app',
  sessionId: 'v1',
  hookEventName: 'PreToolUse',
  tool_name: 'run_in_terminal',
  tool_input: { command: 'ls' },
  tool_use_id: 'tool-123',
}
const CURSOR: JsonObject = {
  conversation_id: 'u1',
  hook_event_name: 'preToolUse',
  workspace_roots: ['/srv/app'],
  tool_name: 'Shell',
  tool_input: { command: 'ls', working_directory: '/srv/app/src' },
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
    [
      'copilot',
      COPILOT,
      { tool: 'Read', args: { file_path: '/srv/app/src/a.ts', cwd: '/srv/app' } },
    ],
    ['gemini', GEMINI, { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app' } }],
    [
      'opencode',
      OPENCODE,
      { tool: 'Bash', id: 'toolu_1', args: { command: 'ls', cwd: '/srv/app/src' } },
    ],
    [
      'opencode',
      { ...OPENCODE, tool_name: 'mcp__mail__send', mcp_server: { name: 'mail' }, tool_input: {} },
      { tool: 'mcp__mail__send', mcpServer: 'mail' },
    ],
    // A server with the name of a tool does not take the tool out of the rules.
    [
      'opencode',
      { ...OPENCODE, mcp_server: { name: 'bash' } },
      { tool: 'Bash', mcpServer: undefined },
    ],
    ['qwen', QWEN, { tool: 'Bash', id: 'toolu_1', args: { command: 'ls', cwd: '/srv/app' } }],
    ['vscode', VSCODE, { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app' } }],
    ['cursor', CURSOR, { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app/src' } }],
    [
      'cursor',
      { ...CURSOR, tool_name: 'MCP:mail:send', tool_input: '{"to":"ann"}' },
      { tool: 'mcp__mail__send', mcpServer: 'mail', args: { to: 'ann' } },
    ],
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
    [
      'claude-code',
      { ...CLAUDE, tool_name: 'Grep', tool_input: { pattern: 'a' } },
      { tool: 'Grep', args: { pattern: 'a', path: '/srv/app', cwd: '/srv/app' } },
    ],
    [
      'gemini',
      { ...GEMINI, tool_input: { command: 'ls', dir_path: '.gemini' } },
      { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app/.gemini' } },
    ],
    [
      'gemini',
      { ...GEMINI, tool_input: { command: 'ls', directory: '/srv/b' } },
      { tool: 'Bash', args: { command: 'ls', cwd: '/srv/b' } },
    ],
    [
      'codex',
      { ...CODEX, tool_input: { command: 'ls', workdir: '.codex' } },
      { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app/.codex' } },
    ],
    // Claude Code has no such argument, and ignores it.
    [
      'claude-code',
      { ...CLAUDE, tool_input: { command: 'ls', dir_path: '/srv/b', cwd: '/srv/b' } },
      { tool: 'Bash', args: { command: 'ls', cwd: '/srv/app' } },
    ],
    [
      'copilot',
      { ...COPILOT, tool_name: 'Grep', tool_input: { pattern: 'a', paths: ['.ssh'] } },
      { tool: 'Grep', args: { pattern: 'a', path: '/srv/app/.ssh' } },
    ],
    [
      'codex',
      {
        ...CODEX,
        tool_name: 'apply_patch',
        tool_input: { command: '*** Begin Patch\n*** Update File: a.ts\n*** Move to: ../b.ts\n@@' },
      },
      {
        tool: 'apply_patch',
        args: { cwd: '/srv/app', paths: ['/srv/app/a.ts', '/srv/app/../b.ts'] },
      },
    ],
    // The client takes blanks before the line, and ends it at a line feed alone.
    [
      'codex',
      {
        ...CODEX,
        tool_name: 'apply_patch',
        tool_input: { command: '*** Begin Patch\n \u0085 *** Add File: a\r/../../b\r\n+x\n' },
      },
      { tool: 'apply_patch', args: { paths: ['/srv/app/a\r/../../b'] } },
    ],
    [
      'gemini',
      { ...GEMINI, tool_name: 'activate_skill', tool_input: { name: 'review' } },
      { tool: 'Skill', args: { skill: 'review' } },
    ],
    [
      'copilot',
      { ...COPILOT, tool_name: 'skill', tool_input: { skill: 'review' } },
      { tool: 'Skill', args: { skill: 'review' } },
    ],
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

  test.each<[HookClient, string, JsonObject, string]>([
    [
      'copilot',
      'Write',
      { path: '.claude/settings.json', file_path: 'ok' },
      '`file_path` and `path`',
    ],
    ['copilot', 'Read', { path: '.env', absolute_path: '/srv/app/a' }, 'both name a place'],
    ['copilot', 'Grep', { pattern: 'a', paths: ['a', '/etc'] }, 'not one path'],
    ['gemini', 'run_shell_command', { command: 'ls', dir_path: 'a', directory: 'b' }, 'give one'],
    ['gemini', 'run_shell_command', { command: 'ls', dir_path: ['a'] }, 'not one path'],
    ['gemini', 'glob', { pattern: '/etc/**' }, 'leads out'],
    ['gemini', 'glob', { pattern: '{src,../../x}/*' }, 'leads out'],
    ['gemini', 'glob', { pattern: 'src/../../x' }, 'leads out'],
    ['claude-code', 'Write', { content: '' }, 'names no file'],
    ['gemini', 'activate_skill', { name: 'evil', skill: 'review' }, 'both name a skill'],
  ])(
    'H5: %s %s %j is refused, as its place is not certain',
    (client, tool_name, tool_input, why) => {
      const payload = { ...(client === 'gemini' ? GEMINI : CLAUDE), tool_name, tool_input }
      expect(readHookEvent(client, payload)).toEqual({
        isBefore: true,
        why: expect.stringContaining(why),
      })
      // What the tool said is inspected all the same.
      const after = {
        ...payload,
        hook_event_name: CODING_CLIENTS[client].events.after,
      }
      expect(readHookEvent(client, after)).toMatchObject({ kind: 'after' })
    },
  )

  test.each([
    ['mcp__notes__evil__x', ['notes'], 'notes__evil'],
    ['mcp__notes__evil__x', ['notes__evil'], 'notes'],
    ['mcp__notes__evil__x', ['notes', 'notes__evil'], 'notes__evil'],
    ['mcp__notes__x', ['notes'], 'notes'],
  ])('%s beside the servers %j is a tool of %s', (tool_name, gated, mcpServer) => {
    const isGated = (name: string) => gated.includes(name)
    const event = readHookEvent('codex', { ...CODEX, tool_name }, isGated)
    expect(event).toMatchObject({ call: { mcpServer } })
  })

  test.each<[string, object, string]>([
    ['a command', { command: 'rm -rf x' }, 'Bash'],
    ['a socket', { ws: { url: 'wss://x.example' } }, 'Monitor'],
    ['both', { command: 'ls', ws: { url: 'wss://x.example' } }, 'Monitor'],
  ])('B1: Monitor with %s is judged as %j', (_, tool_input, tool) => {
    const payload = { ...CLAUDE, tool_name: 'Monitor', tool_input: { ...tool_input } }
    expect(readHookEvent('claude-code', payload)).toMatchObject({ kind: 'before', call: { tool } })
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
  expect(CODING_CLIENTS[client].writeAnswer('before', { kind: 'deny', reason: 'no' })).toEqual(
    written,
  )
  expect(CODING_CLIENTS[client].writeAnswer('before', { kind: 'pass' })).toEqual({})
})

/** Codex and Claude Code ignore an answer with a member that they do not know, and run the original. */
test.each<[HookClient, object]>([
  ['claude-code', { hookEventName: 'PreToolUse', updatedInput: { command: 'x' } }],
  [
    'codex',
    { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command: 'x' } },
  ],
  [
    'copilot',
    { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command: 'x' } },
  ],
])('a rewritten line for %s', (client, hookSpecificOutput) => {
  const answer = { kind: 'rewrite', input: { command: 'x' } } as const
  expect(CODING_CLIENTS[client].writeAnswer('before', answer)).toEqual({ hookSpecificOutput })
})

test('a rewritten line for Gemini CLI, and notes', () => {
  const { writeAnswer } = CODING_CLIENTS.gemini
  expect(writeAnswer('before', { kind: 'rewrite', input: { command: 'x' } })).toEqual({
    decision: 'allow',
    hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: { command: 'x' } },
  })
  expect(writeAnswer('after', { kind: 'note', note: 'n' })).toEqual({
    hookSpecificOutput: { hookEventName: 'AfterTool', additionalContext: 'n' },
  })
  expect(CODING_CLIENTS['claude-code'].writeAnswer('failed', { kind: 'note', note: 'n' })).toEqual({
    hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'n' },
  })
  expect(CODING_CLIENTS['claude-code'].writeAnswer('asked', { kind: 'allow' })).toEqual({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
  })
})

test('a client that is about to ask its user names the call without an id', () => {
  const { tool_use_id: _, ...given } = CLAUDE
  const asked = { ...given, hook_event_name: 'PermissionRequest' }
  expect(readHookEvent('claude-code', asked)).toMatchObject({
    kind: 'asked',
    call: { tool: 'Bash', args: { command: 'ls' }, input: { command: 'ls' } },
  })
})

describe('the hooks that init writes', () => {
  const setup = {
    url: 'http://127.0.0.1:7433/hooks/claude-code',
    token: 't',
    ask: "'/opt/sluice-hook' 'u' 'h' 50",
    start: "'node' '/opt/sluice.js' up --ensure",
    blocks: true,
  }
  const before = (client: HookClient, version?: string) => {
    const name = client === 'gemini' ? 'BeforeTool' : 'PreToolUse'
    const entries = CODING_CLIENTS[client].listEntries({ ...setup, version })
    return entries.find(([event]) => event === name)?.[1] ?? {}
  }

  test.each([
    ['2.1.294', '2.1.295', false],
    ['2.1.295', '2.1.295', true],
    ['2.1.1000', '2.1.295', true],
    ['2.2.0', '2.1.295', true],
    ['1.9.999', '2.1.295', false],
    ['3.0.0', '2.1.295', true],
    [undefined, '2.1.295', false],
  ])('version %s is at least %s: %s', (version, wanted, is) => {
    expect(isAtLeast(version, wanted)).toBe(is)
  })

  test.each<[string, string | undefined, string, boolean]>([
    ['2.1.327', '2.1.327', 'http', true],
    ['2.1.197', '2.1.197', 'command', false],
    ['a version that is not known', undefined, 'command', false],
  ])('H4: block in Claude Code %s', (_, version, type, isByOnFailure) => {
    const entry = before('claude-code', version)
    expect(entry).toMatchObject({ hooks: [{ type }] })
    expect(readHookEntry(entry)).toEqual({ blocks: true, isByOnFailure, isOld: false })
  })

  test('are old if an older version wrote them, and known all the same', () => {
    const old = (command: string) => readHookEntry({ hooks: [{ type: 'command', command }] })
    expect(old("'/opt/sluice-hook' 'u' 'h' 50 block")).toMatchObject({ blocks: true, isOld: true })
    expect(old("'/opt/sluice-hook' 'u' 'h' 50 open")).toMatchObject({ blocks: false, isOld: true })
    expect(old("'node' '/opt/sluice.js' up --ensure")).toMatchObject({
      blocks: false,
      isOld: false,
    })
    const http = { type: 'http', url: setup.url, headers: { Authorization: 'Bearer t' } }
    expect(readHookEntry({ hooks: [http] })).toMatchObject({ blocks: false, isOld: true })
    expect(readHookEntry({ hooks: [{ type: 'command', command: './lint.sh' }] })).toBeUndefined()
    // What a hook runs counts, not what else its entry says.
    const named = { type: 'command', command: './lint.sh "see /opt/sluice-hook"', url: 'none' }
    expect(readHookEntry({ matcher: "'/opt/sluice.js' up ", hooks: [named] })).toBeUndefined()
    for (const client of HOOK_CLIENTS)
      for (const [, entry] of CODING_CLIENTS[client].listEntries({
        ...setup,
        blocks: false,
        version: undefined,
      }))
        expect(readHookEntry(entry)).toMatchObject({ blocks: false, isOld: false })
  })
})

test('every tool of the catalogue has a schema and hints, and a name beside it is Execute', () => {
  const tools = listClientTools('codex', ['New'])
  expect(tools).toHaveLength(CLIENT_TOOLS.size + 1)
  expect(tools.at(-1)).toEqual({
    name: 'New',
    description: 'A tool that this version of Sluice does not know (codex)',
    inputSchema: { type: 'object', additionalProperties: true },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  })
})

/** What the published clients offer their models: `npm run eval -- client-tools` derives it again. */
describe.each(HOOK_CLIENTS.filter((client) => OFFERED_TOOLS[client] !== undefined))(
  'B1: the tools that %s offers',
  (client) => {
    const tools = Object.entries<readonly string[]>(OFFERED_TOOLS[client]?.tools ?? {})
    const judged = (tool_name: string, given: readonly string[]) => {
      const tool_input = Object.fromEntries(given.map((name) => [name, 'x']))
      const event = readHookEvent(client, {
        ...(client === 'gemini' ? GEMINI : CLAUDE),
        // Of a tool that has run nothing is refused.
        hook_event_name: CODING_CLIENTS[client].events.after,
        tool_name,
        tool_input,
      })
      if ('why' in event) return event.why
      return 'call' in event ? event.call.tool : event.kind
    }

    test('are all in the catalogue', () => {
      const names = tools.map(([name]) => judged(name, []))
      expect(names.filter((name) => !CLIENT_TOOLS.has(name))).toEqual([])
    })

    test('run a command line as Bash, or are Execute', () => {
      const shells = tools.flatMap(([name, given]) => {
        const lines = given.filter((argument) => /^(?:cmd|command|script|chars)$/.test(argument))
        // A subagent of opencode is told which command of the user it came from.
        return lines.length === 0 || name === 'task' ? [] : [judged(name, lines)]
      })
      expect(shells).not.toEqual([])
      for (const tool of shells) expect(CLIENT_TOOLS.get(tool)?.category).toBe('Execute')
    })

    test('that name a file are judged by it', () => {
      const isPath = (argument: string) => /^(?:.*_path|paths?)$/.test(argument)
      const files = tools.flatMap(([name, given]) => (given.some(isPath) ? [judged(name, [])] : []))
      const others = files.filter((tool) => CLIENT_TOOLS.get(tool)?.path === undefined)
      // A shell has a directory, and a working tree of git is changed to, not read.
      expect(others.filter((tool) => tool !== 'Bash' && tool !== 'EnterWorktree')).toEqual([])
    })
  },
)
