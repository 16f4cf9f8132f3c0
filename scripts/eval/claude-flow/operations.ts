// The operations that are sent to Claude Flow's agents and to ours, one after the other: arguments,
// and where an answer is meant to differ, why. `$AGENT` is the agent that each side has made.

/** A difference on purpose: the paths of the answer that it concerns, and the reason. */
export interface Difference {
  readonly at: RegExp
  readonly why: string
}

export interface Operation {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly differs?: readonly Difference[]
  /** The answer has texts of the built-in templates, which each side writes itself. */
  readonly isOfTemplates?: boolean
}

const op = (name: string, args: object = {}, ...differs: Difference[]): Operation => ({
  name,
  args: args as Operation['args'],
  differs,
})
const tool = (toolName: string, toolInput?: object, ...differs: Difference[]): Operation =>
  one('wasm_agent_tool', { toolName, ...(toolInput ? { toolInput } : {}) }, ...differs)
const one = (name: string, more: object = {}, ...differs: Difference[]): Operation =>
  op(name, { agentId: '$AGENT', ...more }, ...differs)
const ofTemplates = (name: string, args: object = {}, ...differs: Difference[]): Operation => ({
  ...op(name, args, ...differs),
  isOfTemplates: true,
})
/** The one side answers and the other refuses. */
const whole = (why: string): Difference => ({ at: /^$/, why })
const at = (path: RegExp, why: string): Difference => ({ at: path, why })

const UNKNOWN_AGENT = whole('an unknown agent is an error with a code here')
const INVALID = whole('an invalid argument is a failed call here, a refusal there')
const MORE_TOOLS = at(/^tools$/, 'agents here have more tools')
const SCANNED = at(/^warning$/, 'it warns that nothing was scanned; here every template is')
const ONE_MATCH = at(/^(success|output)$/, 'an edit that fits several places is refused here')
const RELATIVE = at(/^output$/, 'paths are relative to the files of the agent here')
const OWN_CONTAINER = at(
  /^(rvfBase64|manifest\.rvfSizeBytes)$/,
  'a container has one part for each kind here, and no descriptions that nobody gave',
)
const OWN_MATCHES = at(/^(results|count)/, 'a search finds words of the texts, which are our own')

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

const SEVERAL = { path: 'several.txt', old_string: 'x', new_string: 'y' }

export const OPERATIONS: readonly Operation[] = [
  op('wasm_agent_create', { instructions: 'be good', maxTurns: 9 }),
  tool('list_files'),
  tool('write_file', { path: 'a.txt', content: 'one' }),
  tool('write_file', { path: 'src/b.txt', content: 'two' }),
  tool('write_file', { path: 'B.txt', content: '' }),
  tool('write_file', { path: './letters.txt', content: 'äß€😀\r\n\tend\n' }),
  tool('write_file', { path: 'long.txt', content: 'line\n'.repeat(3_000) }),
  tool('read_file', { path: 'a.txt' }),
  tool('read_file', { path: 'src/b.txt' }),
  tool('read_file', { path: 'B.txt' }),
  tool('read_file', { path: 'letters.txt' }),
  tool('read_file', { path: 'long.txt' }),
  tool('read_file', { path: 'none' }),
  tool('read_file', {}, INVALID),
  tool('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' }),
  tool('edit_file', { path: 'letters.txt', old_string: '€', new_string: 'euro' }),
  tool('read_file', { path: 'letters.txt' }),
  tool('edit_file', { path: 'none', old_string: 'one', new_string: 'two' }),
  tool('edit_file', { path: 'a.txt', old_string: 'not there', new_string: 'x' }),
  tool('write_file', { path: '../up.txt', content: 'x' }),
  tool('list_files'),
  tool('write_todos', { todos: [{ content: 'first', status: 'pending' }] }),
  tool('write_todos', {
    todos: [
      { content: 'first', status: 'completed' },
      { content: 'second', status: 'in_progress' },
    ],
  }),
  one('wasm_agent_todos'),
  tool('write_todos', {}, INVALID),
  tool('write_todos', { todos: [{ content: 'first', status: 'nope' }] }, INVALID),
  tool('nope'),
  one('wasm_agent_todos'),
  one('wasm_agent_tools', {}, MORE_TOOLS),
  one('wasm_agent_files', {}, MORE_TOOLS),
  one('wasm_agent_turn_count'),
  one('wasm_agent_is_stopped'),
  one('wasm_agent_state'),
  one('wasm_agent_export', {}, MORE_TOOLS),
  op('wasm_agent_list'),
  one(
    'wasm_agent_prompt',
    { input: 'hi' },
    whole('without a model it echoes; here the error says what to set'),
  ),
  one('wasm_agent_prompt'),
  tool('write_file', { path: 'several.txt', content: 'x x x' }),
  tool('edit_file', SEVERAL, ONE_MATCH),
  tool('write_file', { path: '/root.txt', content: 'x' }),
  tool('list_files', undefined, RELATIVE),
  tool('delete_file', { path: 'a.txt' }, at(/^success$/, 'it has no delete_file')),
  tool('write_file', { path: 'a.txt', content: 'again' }),
  tool('write_todos', { todos: [] }),
  one('wasm_agent_todos'),
  tool('write_todos', { todos: ['text'] }, whole('todos may be plain texts here')),
  tool('write_todos', { todos: [{ content: 'x' }] }, whole('a todo is pending by default here')),
  one('wasm_agent_reset'),
  one('wasm_agent_todos'),
  one('wasm_agent_state'),
  one('wasm_agent_turn_count'),
  one('wasm_agent_files', {}, MORE_TOOLS),
  tool('list_files', undefined, RELATIVE),
  ofTemplates('wasm_agent_create', { template: 'coder' }),
  op('wasm_agent_create', { template: 'nope' }),
  op('wasm_agent_create', { template: '../x' }),
  op('wasm_agent_create', { model: 'anthropic:claude-sonnet-4-6' }),
  op('wasm_agent_create', { maxTurns: 1 }),
  ofTemplates('wasm_gallery_list'),
  op('wasm_gallery_categories'),
  ofTemplates('wasm_gallery_search', { query: 'code' }, OWN_MATCHES),
  op('wasm_gallery_search', { query: 'zzzz' }),
  ofTemplates('wasm_gallery_list_by_category', { category: 'development' }),
  ofTemplates('wasm_gallery_list_by_category', { category: 'security' }),
  op(
    'wasm_gallery_list_by_category',
    { category: 'nope' },
    whole('an unknown category is an empty list here'),
  ),
  ...['coder', 'researcher', 'tester', 'reviewer', 'security', 'swarm-orchestrator'].map(
    (template) => ofTemplates('wasm_gallery_create', { template }),
  ),
  op('wasm_gallery_create', { template: 'nope' }),
  ofTemplates('wasm_gallery_load_rvf', { id: 'coder' }),
  op('wasm_gallery_load_rvf', { id: 'nope' }),
  op('wasm_gallery_active'),
  op('wasm_gallery_config'),
  op(
    'wasm_gallery_configure',
    { config: { maxTurns: 9 } },
    whole('settings need no active template here'),
  ),
  op('wasm_gallery_add_custom', { template: { id: 'bare', name: 'Bare' } }),
  op('wasm_gallery_add_custom', { template: TEMPLATE }),
  op('wasm_gallery_create', { template: 'mine' }),
  op(
    'wasm_gallery_export',
    {},
    at(/^exported\[0\]\.prompts\[0\]\.name$/, "prompts become one text with the template's name"),
  ),
  op('wasm_gallery_import', { templatesJson: '[]' }, SCANNED),
  op(
    'wasm_gallery_import',
    { templatesJson: JSON.stringify([{ ...TEMPLATE, id: 'second' }]) },
    SCANNED,
  ),
  op('wasm_gallery_import', { templatesJson: 'nope' }),
  op('wasm_gallery_remove_custom', { id: 'mine' }),
  op('wasm_gallery_remove_custom', { id: 'nope' }),
  op('wasm_agent_compose', { name: 'n', skills: ['a', 'b'] }, OWN_CONTAINER),
  op(
    'wasm_agent_compose',
    { mcpTools: ['memory_search'], includePlugins: ['none'] },
    OWN_CONTAINER,
  ),
  op('wasm_agent_compose', { prompts: [{ name: 'p', system_prompt: 's', version: '1.0.0' }] }),
  op('wasm_agent_compose', { mcpTools: ['memory_delete'] }),
  op(
    'wasm_agent_compose',
    { mcpTools: ['memory_delete'], mcpToolsAllowDestructive: true },
    OWN_CONTAINER,
  ),
  op('wasm_agent_compose'),
  ...['todos', 'tools', 'state', 'is_stopped', 'turn_count', 'export'].map((word) =>
    op(`wasm_agent_${word}`, { agentId: 'none' }),
  ),
  op('wasm_agent_files', { agentId: '../x' }),
  op('wasm_agent_reset', { agentId: 'none' }, UNKNOWN_AGENT),
  op('wasm_agent_terminate', { agentId: 'none' }, UNKNOWN_AGENT),
  one('wasm_agent_terminate'),
]
