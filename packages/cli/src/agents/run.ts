// `sluice agents create` and `prompt`: make an agent, give it something to do. While it works, each
// turn is a line on stderr, and the todo list is printed again when it changes.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { parseObject } from '@sluice/policy/values/json'
import { many, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import type { AgentsApi, ProgressWatch } from './agents-api.ts'
import { type AgentToolView, defineAgentsCommand } from './open-agents.ts'
import { readAmount, readWhole } from './read-options.ts'
import { type FileContent, readSkill } from './read-skill.ts'
import { startFollowing } from './watch.ts'

const CREATE_EXAMPLES = `
Examples:
  sluice agents create                                   on anthropic:claude-sonnet-4-6
  sluice agents create --model ollama:llama3 --template researcher
  sluice agents create --model lab:llama3 --provider lab=http://127.0.0.1:8000/v1
  sluice agents create --file notes.md --max-turns 20 --instructions "sum up the notes"
  sluice agents create --skill ./skills/release-notes    a folder with a SKILL.md
  sluice agents create --tools "github/*" --max-turns 20 --max-cost 0.50 --price anthropic:claude-sonnet-4-6=3/15

A model's key is read from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY) when it is asked.`

const PROMPT_EXAMPLES = `
Examples:
  sluice agents prompt agent_… "write a README for these files"
  sluice agents prompt agent_… "go on" --max-turns 5 --json
  sluice agents prompt agent_… "which tickets are open?" --schema tickets.json

Turns and todos are shown on stderr as they come; Ctrl-C cancels the run. Exit code 0 if the agent
answered, 1 if it stopped for another reason.`

export const CREATE_OPTIONS = {
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
  '--skill <dir>': many('a folder with a SKILL.md that the agent can read; may be repeated'),
} as const

export type CreateOptions = OptionsOf<typeof CREATE_OPTIONS>

/** The arguments of `wasm_agent_create`. */
export interface CreateRequest {
  readonly template?: string
  readonly model?: string
  readonly instructions?: string
  readonly sees?: string
  readonly tools?: readonly string[]
  readonly limits: Readonly<Record<string, number>>
  readonly code?: { readonly timeoutMs: number }
  /** By path in the agent. */
  readonly files: Readonly<Record<string, FileContent>>
}

export const addAgentsCreate = defineAgentsCommand({
  name: 'create',
  description: 'create an agent',
  options: CREATE_OPTIONS,
  examples: CREATE_EXAMPLES,
  run: async (agents, options, output) => {
    const request = toCreateRequest(options)
    const { agent } = await agents.call<{ agent: AgentToolView }>('wasm_agent_create', request)
    output.value({ success: true, agent })
    output.line(agent.id)
  },
})

const PROMPT_ARGS = { '<agent>': '', '<text>': '' } as const

const PROMPT_OPTIONS = {
  '--max-turns <n>': 'turns of this run',
  '--schema <file>':
    'JSON Schema of the final answer, which is printed as JSON; asked for again once',
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

/** Prompts an agent and waits for the end of the run. */
export async function promptToEnd(
  agents: AgentsApi,
  request: PromptRequest,
  watch?: ProgressWatch,
): Promise<PromptView> {
  const { agentId, schema } = request
  const waited = schema === undefined ? { agentId } : { agentId, schema }
  let view = await agents.call<PromptView>('wasm_agent_prompt', request, watch)
  while (view.stop === undefined && watch?.signal.aborted !== true)
    view = await agents.call('wasm_agent_wait', { ...waited, runId: view.runId }, watch)
  return view
}

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
  const schema = options.schema === undefined ? {} : { schema: readSchema(options.schema) }
  const request = { agentId, input, ...maxTurns, ...schema }
  const view = await promptToEnd(agents, request, watch)
  await drawing
  if (following !== undefined) {
    await following.drain()
    live.line(`in all: ${await following.total()}`)
  }
  output.value(view)
  const { response = '', stop, outputFault } = view
  if (view.output !== undefined) output.line(JSON.stringify(view.output))
  else if (response !== '') output.line(printableLines(response))
  if (stop !== undefined && stop.reason !== 'answered')
    output.remark(`stopped: ${stop.reason} ${printable(stop.detail)}`)
  if (outputFault !== undefined)
    output.remark(`the answer does not fit the schema: ${printable(outputFault)}`)
  return stop?.reason === 'answered' && outputFault === undefined ? 0 : 1
}

function readSchema(file: string): object {
  const schema = parseObject(readText(file))
  if (schema !== undefined) return schema
  throw new CliError('CLI_FILE', `\`${file}\` is no JSON object`, 'write a JSON Schema')
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
interface PromptRequest {
  readonly agentId: string
  readonly input: string
  readonly maxTurns?: number
  /** JSON Schema of the final answer. */
  readonly schema?: object
}

export interface PromptView {
  readonly response?: string
  readonly stop?: { readonly reason: string; readonly detail: string }
  readonly runId?: string
  /** The value of an answer that fits the schema. */
  readonly output?: unknown
  /** Why the answer does not fit it. */
  readonly outputFault?: string
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

/** Reads the files and skills that the options name. */
export function toCreateRequest(options: CreateOptions): CreateRequest {
  const { template, model, sees } = options
  const skills = options.skill.map(readSkill)
  const told = [options.instructions, ...skills.map(({ line }) => line)].filter(Boolean)
  const files = Object.fromEntries(options.file.map(readFile))
  return {
    ...pickDefined({ template, model, sees }),
    ...(told.length === 0 ? {} : { instructions: told.join('\n') }),
    ...(options.tools.length === 0 ? {} : { tools: options.tools }),
    ...limitsOf(options),
    files: Object.assign(files, ...skills.map((skill) => skill.files)),
  }
}

function limitsOf({
  maxTurns,
  maxTokens,
  maxCost,
  codeTimeout,
}: CreateOptions): Pick<CreateRequest, 'limits' | 'code'> {
  const limits = {
    ...(maxTurns === undefined ? {} : { maxTurns: readWhole('--max-turns', maxTurns, 1) }),
    ...(maxTokens === undefined ? {} : { maxTokens: readWhole('--max-tokens', maxTokens, 1) }),
    ...(maxCost === undefined ? {} : { maxCost: readAmount('--max-cost', maxCost) }),
  }
  const timeoutMs = codeTimeout && readWhole('--code-timeout', codeTimeout, 1)
  return { limits, ...(timeoutMs ? { code: { timeoutMs } } : {}) }
}

function readFile(path: string): [string, FileContent] {
  try {
    const bytes = readFileSync(path)
    return [basename(path), { base64: bytes.toString('base64') }]
  } catch (error) {
    throw new CliError('CLI_FILE', `\`${path}\`: ${(error as Error).message}`, 'name a file')
  }
}
