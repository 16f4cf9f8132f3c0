// `sluice agents create` and `prompt`: make an agent, give it something to do. While it works, each
// turn is a line on stderr, and the todo list is printed again when it changes.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { pickDefined } from '@sluice/policy/core/pick-defined'
import { many, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'
import type { AgentsApi } from './agents-api.ts'
import { type AgentToolView, defineAgentsCommand } from './open-agents.ts'
import { readAmount, readWhole } from './read-options.ts'
import { startFollowing } from './watch.ts'

const CREATE_EXAMPLES = `
Examples:
  sluice agents create                                   on anthropic:claude-sonnet-4-6
  sluice agents create --model ollama:llama3 --template researcher
  sluice agents create --model lab:llama3 --provider lab=http://127.0.0.1:8000/v1
  sluice agents create --file notes.md --max-turns 20 --instructions "sum up the notes"
  sluice agents create --tools "github/*" --max-turns 20 --max-cost 0.50 --price anthropic:claude-sonnet-4-6=3/15

A model's key is read from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY) when it is asked.`

const PROMPT_EXAMPLES = `
Examples:
  sluice agents prompt agent_… "write a README for these files"
  sluice agents prompt agent_… "go on" --max-turns 5 --json

Turns and todos are shown on stderr as they come; Ctrl-C cancels the run. Exit code 0 if the agent
answered, 1 if it stopped for another reason.`

const CREATE_OPTIONS = {
  '--template <id>': 'coder, researcher, tester, reviewer, security, swarm, or your own',
  '--model <provider:model>': 'such as anthropic:claude-sonnet-4-6 or ollama:llama3',
  '--instructions <text>': 'what it is told',
  '--tools <server/tool>': many('tools to give it, such as "github/*"; may be repeated'),
  '--max-turns <n>': 'answered model calls in its life',
  '--max-tokens <n>': 'tokens in its life',
  '--max-cost <amount>': 'cost in its life; the model needs a price',
  '--code-timeout <ms>': 'time of one program of run_code',
  '--sees <family|owner>': 'which agents it sees if it is given tools of agents',
  '--file <path>': many('a file to add; may be repeated'),
} as const

type CreateOptions = OptionsOf<typeof CREATE_OPTIONS>

export const addAgentsCreate = defineAgentsCommand({
  name: 'create',
  description: 'create an agent',
  options: CREATE_OPTIONS,
  examples: CREATE_EXAMPLES,
  run: async (agents, options, output) => {
    const { template, model, instructions, sees } = options
    const request = {
      ...pickDefined({ template, model, instructions, sees }),
      ...(options.tools.length === 0 ? {} : { tools: options.tools }),
      ...limitsOf(options),
      files: Object.fromEntries(options.file.map(readFile)),
    }
    const { agent } = await agents.call<{ agent: AgentToolView }>('wasm_agent_create', request)
    output.value({ success: true, agent })
    output.line(agent.id)
  },
})

const PROMPT_ARGS = { '<agent>': '', '<text>': '' } as const

const PROMPT_OPTIONS = {
  '--max-turns <n>': 'turns of this run',
  '--follow':
    'show the text of the model as it comes and every event, with tokens and cost so far, on stderr',
} as const

type PromptOptions = OptionsOf<typeof PROMPT_OPTIONS & typeof PROMPT_ARGS>

export const addAgentsPrompt = defineAgentsCommand({
  name: 'prompt',
  description: 'give an agent something to do and wait for its answer',
  args: PROMPT_ARGS,
  options: PROMPT_OPTIONS,
  examples: PROMPT_EXAMPLES,
  run: prompt,
})

async function prompt(
  agents: AgentsApi,
  { agent: agentId, text: input, ...options }: PromptOptions,
  output: Output,
): Promise<0 | 1> {
  let drawn = ''
  const draw = async (): Promise<void> => {
    const { todos } = await agents.call<TodosView>('wasm_agent_todos', { agentId })
    const list = todos.map(({ content, status }) => `  ${MARKS[status]} ${printable(content)}`)
    if (list.join('\n') !== drawn && list.length > 0) output.remark(list.join('\n'))
    drawn = list.join('\n')
  }
  const live = new LiveText((text) => process.stderr.write(text))
  const following =
    options.follow === true
      ? await startFollowing(agents, agentId, (line) => live.line(line))
      : undefined
  let drawing = Promise.resolve()
  const cancel = new AbortController()
  process.once('SIGINT', () => cancel.abort())
  const watch = {
    signal: cancel.signal,
    onProgress: (message: string): void => {
      if (following === undefined) output.remark(printable(message))
      drawing = drawing.then(following?.drain ?? draw).catch(() => undefined)
    },
    ...(following === undefined ? {} : { onText: (text: string) => live.text(text) }),
  }
  const maxTurns =
    options.maxTurns === undefined
      ? {}
      : { maxTurns: readWhole('--max-turns', options.maxTurns, 1) }
  const request = { agentId, input, ...maxTurns }
  let view = await agents.call<PromptView>('wasm_agent_prompt', request, watch)
  while (view.stop === undefined && !cancel.signal.aborted)
    view = await agents.call('wasm_agent_wait', { agentId, runId: view.runId }, watch)
  await drawing
  if (following !== undefined) {
    await following.drain()
    live.line(`in all: ${await following.total()}`)
  }
  output.value(view)
  const { response = '', stop } = view
  if (response !== '') output.line(printableLines(response))
  if (stop !== undefined && stop.reason !== 'answered')
    output.remark(`stopped: ${stop.reason} ${printable(stop.detail)}`)
  return stop?.reason === 'answered' ? 0 : 1
}

/** The words of a model as they come, between lines of events. */
class LiveText {
  readonly #write: (text: string) => void
  #isInLine = false

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  text(text: string): void {
    this.#write(printableLines(text))
    this.#isInLine = !text.endsWith('\n')
  }

  line(text: string): void {
    this.#write(`${this.#isInLine ? '\n' : ''}${text}\n`)
    this.#isInLine = false
  }
}

interface TodosView {
  readonly todos: readonly { readonly content: string; readonly status: string }[]
}

/** Without `stop` it goes on. */
interface PromptView {
  readonly response?: string
  readonly stop?: { readonly reason: string; readonly detail: string }
  readonly runId?: string
}

const MARKS: Readonly<Record<string, string>> = {
  pending: '[ ]',
  in_progress: '[~]',
  completed: '[x]',
  cancelled: '[-]',
}

/** A model's words may have lines, and nothing else that drives a terminal. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

function limitsOf({ maxTurns, maxTokens, maxCost, codeTimeout }: CreateOptions): object {
  const limits = {
    ...(maxTurns === undefined ? {} : { maxTurns: readWhole('--max-turns', maxTurns, 1) }),
    ...(maxTokens === undefined ? {} : { maxTokens: readWhole('--max-tokens', maxTokens, 1) }),
    ...(maxCost === undefined ? {} : { maxCost: readAmount('--max-cost', maxCost) }),
  }
  const timeoutMs = codeTimeout && readWhole('--code-timeout', codeTimeout, 1)
  return { limits, ...(timeoutMs ? { code: { timeoutMs } } : {}) }
}

function readFile(path: string): [string, string | { base64: string }] {
  try {
    const bytes = readFileSync(path)
    return [basename(path), { base64: bytes.toString('base64') }]
  } catch (error) {
    throw new CliError('CLI_FILE', `\`${path}\`: ${(error as Error).message}`, 'name a file')
  }
}
