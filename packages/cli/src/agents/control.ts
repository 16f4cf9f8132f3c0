// `sluice agents stop`, `pause`, `resume`, `fork`, `upgrade`, `rm`, `export` and `import`: what is done to an
// agent from outside. Each answers with the agent as it is after it.

import { readFileSync } from 'node:fs'
import type { ReplayReport } from '@sluice/agents/steps/replay-journal'
import { escapeUnseenJson } from '@sluice/guard/show/visible-text'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { Command } from 'commander'
import { type Flags, many, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { newNameLine } from '../terminal/lazy-commands.ts'
import { printable } from '../terminal/output.ts'
import { writeOutput } from '../terminal/write-new-file.ts'
import type { AgentsApi } from './agents-api.ts'
import { type AgentToolView, defineAgentsCommand, OWNER } from './open-agents.ts'
import { readWhole } from './read-options.ts'
import { promptToEnd } from './run.ts'
import { readHistory } from './watch.ts'

type ReplayView = Omit<ReplayReport, 'events'> & { readonly isSame: boolean }

const REPLAY_EXAMPLES = `
Examples:
  sluice agents replay agent_…
  sluice agents replay agent_… --to 3 --json

Exit code 0 if all is the same, 1 if something differs; nothing of the agent changes.`

type AgentStateView = Pick<AgentToolView, 'id' | 'state'>

interface ImportView {
  readonly agent: AgentToolView
  readonly restored: string
  readonly notGranted?: readonly string[]
}

interface ExportView {
  readonly bundle?: string
  readonly secrets: readonly {
    readonly kind: string
    readonly where: string
    readonly count: number
  }[]
}

export function addAgentsControl(parent: Command, answer: SetExitCode): void {
  for (const add of [
    defineControl({
      name: 'stop',
      description: 'stop an agent',
      options: REASON,
      work: async (agents, { agent: agentId, reason }) => {
        const request = { agentId, ...pickDefined({ reason }) }
        await agents.call('wasm_agent_stop', request)
        return [await stateOf(agents, agentId)]
      },
    }),
    defineControl({
      name: 'pause',
      description: 'hold an agent between two steps; resume goes on',
      options: REASON,
      work: async (agents, { agent: agentId, reason }) => {
        const request = { agentId, ...pickDefined({ reason }) }
        const { state } = await agents.call<AgentStateView>('wasm_agent_pause', request)
        return [{ id: agentId, state }]
      },
    }),
    defineControl({
      name: 'resume',
      description: 'go on after a pause or a limit that is raised; lift a stop',
      options: { '--max-turns <n>': 'a higher limit' },
      work: async (agents, { agent: agentId, maxTurns }) => {
        const limits =
          maxTurns === undefined ? {} : { maxTurns: readWhole('--max-turns', maxTurns, 0) }
        const request = { agentId, limits }
        const { state } = await agents.call<AgentStateView>('wasm_agent_resume', request)
        return [{ id: agentId, state }]
      },
    }),
    addAgentsFork,
    defineControl({
      name: 'upgrade',
      description: 'move to the core of this version',
      work: async ({ service }, { agent: agentId }) => {
        if (service !== undefined) return [await service.move(OWNER, agentId)]
        throw new CliError(
          'CLI_AGENTS',
          'a gate runs these agents',
          'an agent moves by itself at its next prompt',
        )
      },
    }),
    defineControl({
      name: 'rm',
      description: 'remove an agent and all its data',
      work: async (agents, { agent: agentId }) => {
        await agents.call('wasm_agent_terminate', { agentId })
        return []
      },
    }),
  ])
    add(parent, answer)
}

const REASON = { '--reason <text>': 'why' } as const

const addAgentsFork = defineControl({
  name: 'fork',
  description: 'copy an agent; the copies go on independently',
  options: {
    '--count <n>': 'how many',
    '--at <turn>': 'as it was after this turn',
    '--name <text>': 'for people',
    '--model <provider:model>': 'another model',
    '--again': 'give the copies the prompts that the agent got after the turn of --at',
  },
  work: async (agents, { agent: agentId, count, at, name, model, again }) => {
    if (again === true && at === undefined)
      throw new ArgumentError(
        '--again goes with --at',
        'name the turn after which the prompts are given again',
      )
    const request = {
      agentId,
      ...(count === undefined ? {} : { count: readWhole('--count', count, 0) }),
      ...(at === undefined ? {} : { at: readWhole('--at', at, 0) }),
      ...pickDefined({ name, model }),
    }
    const forked = await agents.call<{ agents: AgentToolView[] }>('wasm_agent_fork', request)
    if (again === true) await promptAgain(agents, agentId, forked.agents, request.at ?? 0)
    return forked.agents
  },
})

/** Gives the forks the prompts that their origin got after a turn, one after the other. */
async function promptAgain(
  agents: AgentsApi,
  origin: string,
  forks: readonly AgentStateView[],
  turn: number,
): Promise<void> {
  const history = await readHistory(agents, origin)
  const prompts = history.filter((event) => event.kind === 'prompt' && event.turn >= turn)
  for (const { id: agentId } of forks)
    for (const { input } of prompts) {
      const ended = await promptToEnd(agents, { agentId, input: String(input) })
      if (ended.stop?.reason !== 'answered') break
    }
}

/** Each answers with the agents as they are after it. */
// biome-ignore lint/complexity/noBannedTypes: without a table there are no values
function defineControl<const All extends Flags = {}>({
  work,
  ...definition
}: {
  readonly name: string
  readonly description: string
  readonly options?: All
  readonly work: (
    agents: AgentsApi,
    options: OptionsOf<All> & { readonly agent: string },
  ) => Promise<readonly AgentStateView[]>
}) {
  return defineAgentsCommand({
    ...definition,
    args: { '<agent>': '' },
    run: async (api, options, output) => {
      // Of a table that is not known yet the compiler derives no options.
      const states = await work(api, options as never)
      const agents = states.map(({ id, state }) => ({ id, state }))
      output.value({ success: true, agents })
      for (const { id, state } of agents) output.line(`${id} ${state}`)
    },
  })
}

async function stateOf(agents: AgentsApi, agentId: string): Promise<AgentStateView> {
  const { isStopped } = await agents.call<{ isStopped: boolean }>('wasm_agent_is_stopped', {
    agentId,
  })
  return { id: agentId, state: isStopped ? 'stopped' : 'idle' }
}

export const addAgentsReplay = defineAgentsCommand({
  name: 'replay',
  description: 'run its journal again in a fresh sandbox and compare byte for byte',
  args: { '<agent>': '' },
  options: { '--to <turn>': 'up to this turn' },
  examples: REPLAY_EXAMPLES,
  run: async (agents, { agent: agentId, ...options }, output) => {
    const to = options.to === undefined ? {} : { to: readWhole('--to', options.to, 0) }
    const view = await agents.call<ReplayView>('wasm_agent_replay', { agentId, ...to })
    const { difference, memories } = view
    output.value(view)
    const run = `events ${view.from} to ${view.to}, turn ${view.turn}`
    if (difference === null)
      output.line(`same: ${run}; ${memories} memories, sha256 ${view.memoryDigest}`)
    else
      output.line(
        `different at event ${difference.seq} (${difference.kind || 'none'}, turn ${difference.turn}): ${difference.what}: ${printable(difference.detail)}`,
      )
    return view.isSame ? 0 : 1
  },
})

export const addAgentsExport = defineAgentsCommand({
  name: 'export',
  description: 'everything of an agent as JSON, or as a signed bundle',
  args: { '<agent>': '' },
  options: {
    '--out <file>': 'into a file instead of stdout',
    '--bundle': 'with its exact memory, signed',
    '--keep-secrets': 'do not replace secrets that are found',
  },
  json: false,
  run: async (agents, { agent: agentId, ...options }) => {
    const format = options.bundle === true ? 'bundle' : 'json'
    const secrets = options.keepSecrets === true ? 'keep' : 'redact'
    const request = { agentId, format, secrets }
    const { bundle, ...exported } = await agents.call<ExportView>('wasm_agent_export', request)
    for (const { kind, where, count } of exported.secrets)
      process.stderr.write(
        `${secrets === 'keep' ? 'kept' : 'replaced'}: ${count} ${kind} in ${printable(where)}\n`,
      )
    const written =
      bundle === undefined
        ? Buffer.from(`${escapeUnseenJson(JSON.stringify(exported, null, 2))}\n`)
        : Buffer.from(bundle, 'base64')
    writeOutput(written, options.out, 0o600)
  },
})

export const addAgentsImport = defineAgentsCommand({
  name: 'import',
  description: 'import an agent from an export or a bundle',
  args: { '<file>': '' },
  options: {
    '--tools <server/tool>': many('tools to give it, such as "github/*"; may be repeated'),
    // The name that it had, which `create` never had.
    '--tool <server/tool>': { ...many(''), hidden: true },
  },
  run: async (agents, { file, ...options }, output) => {
    if (options.tool.length > 0) process.stderr.write(newNameLine('--tool', '--tools'))
    const tools = [...options.tools, ...options.tool]
    const bytes = readBytes(file)
    const bundle = bytes.toString(bytes[0] === 0x7b ? 'utf8' : 'base64')
    const { agent, restored, notGranted } = await agents.call<ImportView>('wasm_agent_import', {
      bundle,
      ...(tools.length === 0 ? {} : { tools }),
    })
    output.value({ success: true, agent, restored, ...(notGranted ? { notGranted } : {}) })
    output.line(`${agent.id} restored from ${restored === 'memory' ? 'its memory' : 'JSON'}`)
    if (notGranted !== undefined)
      output.line(`without ${notGranted.map(printable).join(', ')}: give tools with --tools`)
  },
})

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CliError('CLI_FILE', `\`${file}\`: ${(error as Error).message}`, 'name an export')
  }
}
