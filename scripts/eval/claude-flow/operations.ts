// The operations that are sent to Claude Flow's agents and to ours, one after the other: arguments,
// and where an answer is meant to differ, why. `$AGENT` is the agent that each side has made.

export interface Operation {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Why the two differ on purpose; without it they must agree. */
  readonly differs?: string
}

const op = (name: string, args: object = {}, differs?: string): Operation => ({
  name,
  args: args as Operation['args'],
  ...(differs === undefined ? {} : { differs }),
})
const tool = (toolName: string, toolInput?: object, differs?: string): Operation =>
  op(
    'wasm_agent_tool',
    { agentId: '$AGENT', toolName, ...(toolInput ? { toolInput } : {}) },
    differs,
  )
const one = (name: string, more: object = {}, differs?: string): Operation =>
  op(name, { agentId: '$AGENT', ...more }, differs)

const UNKNOWN_AGENT = 'an unknown agent is an error with a code here'
const SCANNED = 'it warns that nothing was scanned; here every template is'
const STRICT = 'an unknown category is an empty list here'

/** As its gallery writes one. */
export const TEMPLATE = {
  id: 'mine',
  name: 'Mine',
  description: 'a template',
  category: 'custom',
  version: '1.0.0',
  author: 'me',
  tags: ['own'],
  tools: [],
  prompts: [{ name: 'main', system_prompt: 'be mine', version: '1.0.0' }],
  skills: [],
  mcp_tools: [],
  capabilities: [],
  builtin: false,
}

export const OPERATIONS: readonly Operation[] = [
  op('wasm_agent_create', { instructions: 'be good', maxTurns: 9 }),
  tool('write_file', { path: 'a.txt', content: 'one' }),
  tool('write_file', { path: 'src/b.txt', content: 'two' }),
  tool('read_file', { path: 'a.txt' }),
  tool('read_file', { path: 'src/b.txt' }),
  tool('read_file', { path: 'none' }),
  tool('read_file', {}, 'a missing argument is a failed call here, a protocol error there'),
  tool('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' }),
  tool('edit_file', { path: 'none', old_string: 'one', new_string: 'two' }),
  tool('edit_file', { path: 'a.txt', old_string: 'not there', new_string: 'x' }),
  tool('list_files'),
  tool('write_todos', { todos: [{ content: 'first', status: 'pending' }] }),
  tool('write_todos', {
    todos: [
      { content: 'first', status: 'completed' },
      { content: 'second', status: 'in_progress' },
    ],
  }),
  tool('write_todos', { todos: [] }),
  tool('write_todos', { todos: ['text'] }, 'todos may be plain texts here'),
  tool('nope'),
  tool('delete_file', { path: 'a.txt' }, 'it has no delete_file'),
  one('wasm_agent_todos'),
  one('wasm_agent_tools'),
  one('wasm_agent_files'),
  one('wasm_agent_turn_count'),
  one('wasm_agent_is_stopped'),
  one('wasm_agent_state'),
  one('wasm_agent_export'),
  op('wasm_agent_list'),
  one(
    'wasm_agent_prompt',
    { input: 'hi' },
    'without a model it echoes; here the error says what to set',
  ),
  one('wasm_agent_prompt', {}),
  one('wasm_agent_reset'),
  one('wasm_agent_state'),
  one('wasm_agent_turn_count'),
  op('wasm_agent_create', { template: 'coder' }),
  op('wasm_agent_create', { template: 'nope' }),
  op('wasm_agent_create', { template: '../x' }),
  op('wasm_agent_create', { model: 'anthropic:claude-sonnet-4-6' }),
  op('wasm_agent_create', { maxTurns: 1 }),
  op('wasm_gallery_list'),
  op('wasm_gallery_categories'),
  op('wasm_gallery_search', { query: 'code' }),
  op('wasm_gallery_search', { query: 'zzzz' }),
  op('wasm_gallery_list_by_category', { category: 'development' }),
  op('wasm_gallery_list_by_category', { category: 'security' }),
  op('wasm_gallery_list_by_category', { category: 'nope' }, STRICT),
  ...['coder', 'researcher', 'tester', 'reviewer', 'security', 'swarm-orchestrator'].map(
    (template) => op('wasm_gallery_create', { template }),
  ),
  op('wasm_gallery_create', { template: 'nope' }),
  op('wasm_gallery_load_rvf', { id: 'coder' }),
  op('wasm_gallery_load_rvf', { id: 'nope' }),
  op('wasm_gallery_active'),
  op('wasm_gallery_config'),
  op(
    'wasm_gallery_configure',
    { config: { maxTurns: 9 } },
    'settings need no active template here',
  ),
  op('wasm_gallery_add_custom', { template: { id: 'bare', name: 'Bare' } }),
  op('wasm_gallery_add_custom', { template: TEMPLATE }),
  op('wasm_gallery_create', { template: 'mine' }),
  op('wasm_gallery_export'),
  op('wasm_gallery_import', { templatesJson: '[]' }, SCANNED),
  op(
    'wasm_gallery_import',
    { templatesJson: JSON.stringify([{ ...TEMPLATE, id: 'second' }]) },
    SCANNED,
  ),
  op('wasm_gallery_import', { templatesJson: 'nope' }),
  op('wasm_gallery_remove_custom', { id: 'mine' }),
  op('wasm_gallery_remove_custom', { id: 'nope' }),
  op('wasm_agent_compose', { name: 'n', skills: ['a', 'b'] }),
  op('wasm_agent_compose', { mcpTools: ['memory_search'], includePlugins: ['none'] }),
  op('wasm_agent_compose', { prompts: [{ name: 'p', system_prompt: 's', version: '1.0.0' }] }),
  op('wasm_agent_compose', { mcpTools: ['memory_delete'] }),
  op('wasm_agent_compose', { mcpTools: ['memory_delete'], mcpToolsAllowDestructive: true }),
  op('wasm_agent_compose'),
  ...['todos', 'tools', 'state', 'is_stopped', 'turn_count', 'export'].map((word) =>
    op(`wasm_agent_${word}`, { agentId: 'none' }),
  ),
  op('wasm_agent_files', { agentId: '../x' }),
  op('wasm_agent_reset', { agentId: 'none' }, UNKNOWN_AGENT),
  op('wasm_agent_terminate', { agentId: 'none' }, UNKNOWN_AGENT),
  one('wasm_agent_terminate'),
]
