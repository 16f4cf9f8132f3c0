// `sluice up`: runs the gate on sluice.yaml until it is told to stop. One line on stdout when it
// serves; everything else is the log, on stderr.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type GateConfig, readConfig } from '../gateway/config.ts'
import { runGate } from '../gateway/run-gate.ts'
import type { Log } from '../gateway/upstream/upstream.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { Answer } from './answer.ts'
import { CliError } from './errors.ts'
import { Output, printable } from './output.ts'
import { loadPolicy, readText } from './read-input.ts'

interface Options {
  config: string
  port?: string
  data?: string
}

const EXAMPLES = `
Examples:
  sluice up                                  runs ./sluice.yaml
  sluice up --config gate/sluice.yaml --port 8080

The smallest sluice.yaml:
  version: 1
  servers:
    notes: { command: [npx, -y, "@modelcontextprotocol/server-memory"] }
  policy: ./policy.yaml

Point an MCP client at http://127.0.0.1:7433/mcp/notes. Without a policy everything is denied.`

export function addUp(parent: Command, answer: Answer): void {
  parent
    .command('up')
    .description('run the gate')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--port <n>', 'another port than the configuration says; 0 takes a free one')
    .option('--data <dir>', 'another data directory than the configuration says')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      await up(options)
      answer(0)
    })
}

async function up(options: Options): Promise<void> {
  const output = new Output({})
  const config = loadConfig(options, output)
  const { policy, text } = loadPolicies(config, output)
  if (policy.shadow) log('warn', 'the policy is in shadow mode: nothing is enforced')
  const gate = await runGate(config, policy, text, log).catch((error: Error) => {
    throw new CliError('CLI_START', error.message, 'mend it and start again')
  })
  process.stdout.write(`sluice ready ${gate.url}\n`)
  const signal = await stopSignal()
  log('info', `stopping (${signal})`)
  await gate.stop('the gate is stopping')
}

function loadConfig({ config: file, port, data }: Options, output: Output): GateConfig {
  const text = readText(file)
  const { config, problems } = readConfig({ file, text }, process.env)
  for (const problem of problems) output.problem(problem, text)
  if (config === undefined)
    throw new CliError('CLI_POLICY', `\`${file}\` has errors`, 'mend what is shown above')
  const number = port === undefined ? config.port : Number(port)
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new CliError('CLI_ARGUMENT', `--port is \`${port}\``, 'a number from 0 to 65535')
  return { ...config, port: number, ...(data === undefined ? {} : { data: resolve(data) }) }
}

const DENY_ALL = 'version: 1\ndefault: deny\n'

function loadPolicies(
  config: GateConfig,
  output: Output,
): { policy: CompiledPolicy; text: string } {
  const house =
    config.house === undefined
      ? undefined
      : loadPolicy(config.house, { name: 'house' }, output).policy
  const options = house === undefined ? {} : { house }
  if (config.policy === undefined) {
    log('warn', 'the configuration names no policy: everything is denied')
    return { policy: loadPolicy('no policy', options, output, DENY_ALL).policy, text: DENY_ALL }
  }
  const { policy, problems, text } = loadPolicy(config.policy, options, output)
  for (const problem of problems) output.problem(problem, text)
  return { policy, text }
}

function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
  })
}

/** A line a happening: level, text, then what belongs to it. */
const log: Log = (level, message, fields = {}) => {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}=${printable(String(value))}`],
  )
  process.stderr.write(`${[level.padEnd(5), printable(message), ...parts].join(' ')}\n`)
}
