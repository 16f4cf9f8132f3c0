// The configuration and the policies it names, for the commands that run a gate or reach one. What
// is wrong is shown with its place before the command gives up.

import { resolve } from 'node:path'
import { type GateConfig, readConfig } from '../gateway/config.ts'
import type { Log } from '../gateway/upstream/upstream.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import { CliError } from './errors.ts'
import type { Output } from './output.ts'
import { loadHouse, loadPolicy, readText } from './read-input.ts'

export interface ConfigOptions {
  readonly config: string
  readonly port?: string
  readonly data?: string
}

export function loadConfig(
  { config: file, port, data }: ConfigOptions,
  output: Output,
): GateConfig {
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

export function loadPolicies(
  config: GateConfig,
  output: Output,
  log: Log,
): { policy: CompiledPolicy; text: string } {
  const options = loadHouse(config.house, output)
  if (config.policy === undefined) {
    log('warn', 'the configuration names no policy: everything is denied')
    return { policy: loadPolicy('no policy', options, output, DENY_ALL).policy, text: DENY_ALL }
  }
  const { policy, problems, text } = loadPolicy(config.policy, options, output)
  for (const problem of problems) output.problem(problem, text)
  return { policy, text }
}
