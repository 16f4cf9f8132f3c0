// `sluice agents stop`, `resume`, `fork`, `upgrade`, `rm`, `export` and `import`: what is done to an
// agent from outside. Each answers with the agent as it is after it.

import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { AgentRow } from '../agents/rows.ts'
import type { Service } from '../agents/service.ts'
import { type AgentsOptions, addAgentsOptions, OWNER, withAgents } from './agents-source.ts'
import type { Answer } from './answer.ts'
import { CliError } from './errors.ts'
import { Output, printable } from './output.ts'

interface ControlOptions extends AgentsOptions {
  readonly reason?: string
  readonly maxTurns?: string
  readonly count?: string
  readonly at?: string
  readonly out?: string
  readonly bundle?: boolean
  readonly keepSecrets?: boolean
}

export function addAgentsControl(parent: Command, answer: Answer): void {
  add(parent, answer, 'stop', 'stop an agent', async (service, agent, { reason }) => [
    await service.stop(OWNER, agent, reason ?? 'asked to stop'),
  ]).option('--reason <text>', 'why')
  add(parent, answer, 'resume', 'lift a stop', async (service, agent, { maxTurns }) => [
    await service.resume(
      OWNER,
      agent,
      maxTurns === undefined ? {} : { maxTurns: readNumber('--max-turns', maxTurns) },
    ),
  ]).option('--max-turns <n>', 'a higher limit')
  add(parent, answer, 'fork', 'copies that go their own way', async (service, agent, options) =>
    service.fork(
      OWNER,
      agent,
      options.count === undefined ? 1 : readNumber('--count', options.count),
      options.at === undefined ? null : readNumber('--at', options.at),
    ),
  )
    .option('--count <n>', 'how many')
    .option('--at <turn>', 'as it was after this turn')
  add(parent, answer, 'upgrade', 'move to the core of this version', async (service, agent) => [
    await service.steps.move(OWNER, agent, Date.now()),
  ])
  add(parent, answer, 'rm', 'remove an agent and all of it', async (service, agent) => {
    await service.terminate(OWNER, agent)
    return []
  })
}

function add(
  parent: Command,
  answer: Answer,
  name: string,
  description: string,
  work: (service: Service, agent: string, options: ControlOptions) => Promise<AgentRow[]>,
): Command {
  return addAgentsOptions(parent.command(`${name} <agent>`))
    .description(description)
    .option('--json', 'answer as JSON')
    .action(async (agent: string, options: ControlOptions) => {
      const output = new Output(options)
      await withAgents(options, async (service) => {
        const { agentView } = await import('../agents/views.ts')
        const agents = (await work(service, agent, options)).map(agentView)
        output.value({ success: true, agents })
        for (const { id, state } of agents) output.line(`${id} ${state}`)
      })
      answer(0)
    })
}

export function addAgentsExport(parent: Command, answer: Answer): void {
  addAgentsOptions(parent.command('export <agent>'))
    .description('everything of an agent as JSON, or as a signed bundle')
    .option('--out <file>', 'into a file instead of stdout')
    .option('--bundle', 'with its exact memory, signed')
    .option('--keep-secrets', 'do not replace secrets that are found')
    .action(async (agent: string, options: ControlOptions) => {
      await withAgents(options, async (service) => {
        const format = options.bundle === true ? 'bundle' : 'json'
        const secrets = options.keepSecrets === true ? 'keep' : 'redact'
        const { exported, bundle } = await service.export(OWNER, agent, format, secrets)
        for (const { kind, where, count } of exported.secrets)
          process.stderr.write(
            `${secrets === 'keep' ? 'kept' : 'replaced'}: ${count} ${kind} in ${printable(where)}\n`,
          )
        const written =
          bundle === undefined
            ? Buffer.from(`${JSON.stringify(exported, null, 2)}\n`)
            : Buffer.from(bundle, 'base64')
        if (options.out === undefined) process.stdout.write(written)
        else writeFileSync(options.out, written, { mode: 0o600 })
      })
      answer(0)
    })
}

export function addAgentsImport(parent: Command, answer: Answer): void {
  addAgentsOptions(parent.command('import <file>'))
    .description('an agent from an export or a bundle')
    .option('--json', 'answer as JSON')
    .action(async (file: string, options: AgentsOptions) => {
      const output = new Output(options)
      const bytes = readBytes(file)
      await withAgents(options, async (service) => {
        const { agentView } = await import('../agents/views.ts')
        const isJson = bytes[0] === 0x7b
        const given = bytes.toString(isJson ? 'utf8' : 'base64')
        const { agent, restored } = await service.import(OWNER, given)
        output.value({ success: true, agent: agentView(agent), restored })
        output.line(`${agent.id} restored from ${restored === 'memory' ? 'its memory' : 'JSON'}`)
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

function readNumber(option: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new CliError('CLI_ARGUMENT', `${option} is \`${text}\``, 'a whole number')
  return number
}
