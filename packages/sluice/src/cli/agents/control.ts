// `sluice agents stop`, `pause`, `resume`, `fork`, `upgrade`, `rm`, `export` and `import`: what is done to an
// agent from outside. Each answers with the agent as it is after it.

import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { escapeUnseenJson } from '../../core/visible-text.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, printable } from '../../terminal/output.ts'
import type { AgentsApi } from './agents-api.ts'
import {
  type AgentsOptions,
  type AgentToolView,
  addAgentsOptions,
  gather,
  OWNER,
  withAgents,
} from './open-agents.ts'
import { readWhole } from './read-options.ts'

interface ControlOptions extends AgentsOptions {
  readonly reason?: string
  readonly maxTurns?: string
  readonly count?: string
  readonly at?: string
  readonly out?: string
  readonly bundle?: boolean
  readonly keepSecrets?: boolean
}

interface ReplayView {
  readonly isSame: boolean
  readonly from: number
  readonly to: number
  readonly turn: number
  readonly memories: number
  readonly memoryDigest: string | null
  readonly difference: {
    readonly seq: number
    readonly kind: string
    readonly turn: number
    readonly what: string
    readonly detail: string
  } | null
}

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
  add(parent, answer, {
    name: 'stop',
    description: 'stop an agent',
    work: async (agents, agentId, { reason }) => {
      await agents.call('wasm_agent_stop', { agentId, ...(reason === undefined ? {} : { reason }) })
      return [await stateOf(agents, agentId)]
    },
  }).option('--reason <text>', 'why')
  const description = 'hold an agent between two steps; resume goes on'
  add(parent, answer, {
    name: 'pause',
    description,
    work: async (agents, agentId, { reason }) => {
      const request = { agentId, ...(reason === undefined ? {} : { reason }) }
      const { state } = await agents.call<AgentStateView>('wasm_agent_pause', request)
      return [{ id: agentId, state }]
    },
  }).option('--reason <text>', 'why')
  const goesOn = 'go on after a pause or a limit that is raised; lift a stop'
  add(parent, answer, {
    name: 'resume',
    description: goesOn,
    work: async (agents, agentId, { maxTurns }) => {
      const limits =
        maxTurns === undefined ? {} : { maxTurns: readWhole('--max-turns', maxTurns, 0) }
      const request = { agentId, limits }
      const { state } = await agents.call<AgentStateView>('wasm_agent_resume', request)
      return [{ id: agentId, state }]
    },
  }).option('--max-turns <n>', 'a higher limit')
  add(parent, answer, {
    name: 'fork',
    description: 'copy an agent; the copies go on independently',
    work: async (agents, agentId, options) => {
      const { agents: forks } = await agents.call<{ agents: AgentToolView[] }>('wasm_agent_fork', {
        agentId,
        ...(options.count === undefined ? {} : { count: readWhole('--count', options.count, 0) }),
        ...(options.at === undefined ? {} : { at: readWhole('--at', options.at, 0) }),
      })
      return forks
    },
  })
    .option('--count <n>', 'how many')
    .option('--at <turn>', 'as it was after this turn')
  add(parent, answer, {
    name: 'upgrade',
    description: 'move to the core of this version',
    work: async (agents, agentId) => {
      if (agents.service === undefined)
        throw new CliError(
          'CLI_AGENTS',
          'a gate runs these agents',
          'an agent moves by itself at its next prompt',
        )
      return [await agents.service.move(OWNER, agentId)]
    },
  })
  add(parent, answer, {
    name: 'rm',
    description: 'remove an agent and all its data',
    work: async (agents, agentId) => {
      await agents.call('wasm_agent_terminate', { agentId })
      return []
    },
  })
}

interface ControlCommand {
  readonly name: string
  readonly description: string
  readonly work: (
    agents: AgentsApi,
    agentId: string,
    options: ControlOptions,
  ) => Promise<readonly AgentStateView[]>
}

function add(
  parent: Command,
  answer: SetExitCode,
  { name, description, work }: ControlCommand,
): Command {
  return addAgentsOptions(parent.command(`${name} <agent>`))
    .description(description)
    .option('--json', 'print JSON')
    .action(async (agentId: string, options: ControlOptions) => {
      const output = new Output(options)
      await withAgents(options, async (api) => {
        const states = await work(api, agentId, options)
        const agents = states.map(({ id, state }) => ({ id, state }))
        output.value({ success: true, agents })
        for (const { id, state } of agents) output.line(`${id} ${state}`)
      })
      answer(0)
    })
}

async function stateOf(agents: AgentsApi, agentId: string): Promise<AgentStateView> {
  const { isStopped } = await agents.call<{ isStopped: boolean }>('wasm_agent_is_stopped', {
    agentId,
  })
  return { id: agentId, state: isStopped ? 'stopped' : 'idle' }
}

export function addAgentsReplay(parent: Command, answer: SetExitCode): void {
  addAgentsOptions(parent.command('replay <agent>'))
    .description('run its journal again in a fresh sandbox and compare byte for byte')
    .option('--to <turn>', 'up to this turn')
    .option('--json', 'print JSON')
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(async (agentId: string, options: AgentsOptions & { readonly to?: string }) => {
      const output = new Output(options)
      const to = options.to === undefined ? {} : { to: readWhole('--to', options.to, 0) }
      const isSame = await withAgents(options, async (agents) => {
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
        return view.isSame
      })
      answer(isSame ? 0 : 1)
    })
}

export function addAgentsExport(parent: Command, answer: SetExitCode): void {
  addAgentsOptions(parent.command('export <agent>'))
    .description('everything of an agent as JSON, or as a signed bundle')
    .option('--out <file>', 'into a file instead of stdout')
    .option('--bundle', 'with its exact memory, signed')
    .option('--keep-secrets', 'do not replace secrets that are found')
    .action(async (agentId: string, options: ControlOptions) => {
      await withAgents(options, async (agents) => {
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
        if (options.out === undefined) process.stdout.write(written)
        else writeFileSync(options.out, written, { mode: 0o600 })
      })
      answer(0)
    })
}

export function addAgentsImport(parent: Command, answer: SetExitCode): void {
  addAgentsOptions(parent.command('import <file>'))
    .description('import an agent from an export or a bundle')
    .option('--tool <server/tool>', 'a tool to give it; may be repeated', gather, [])
    .option('--json', 'print JSON')
    .action(async (file: string, options: AgentsOptions & { readonly tool: readonly string[] }) => {
      const output = new Output(options)
      const bytes = readBytes(file)
      await withAgents(options, async (agents) => {
        const bundle = bytes.toString(bytes[0] === 0x7b ? 'utf8' : 'base64')
        const { agent, restored, notGranted } = await agents.call<ImportView>('wasm_agent_import', {
          bundle,
          ...(options.tool.length === 0 ? {} : { tools: options.tool }),
        })
        output.value({ success: true, agent, restored, ...(notGranted ? { notGranted } : {}) })
        output.line(`${agent.id} restored from ${restored === 'memory' ? 'its memory' : 'JSON'}`)
        if (notGranted !== undefined)
          output.line(`without ${notGranted.map(printable).join(', ')}: give tools with --tool`)
      })
      answer(0)
    })
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CliError('CLI_FILE', `\`${file}\`: ${(error as Error).message}`, 'name an export')
  }
}
