// The configuration and the policies it names, for the commands that run a gate or reach one. What
// is wrong is shown with its place before the command gives up.

import { resolve } from 'node:path'
import { type GateConfig, readConfig } from '../gateway/config.ts'
import { LOCAL_POLICY } from '../gateway/config-grants.ts'
import { type BoundPolicy, PolicySet } from '../gateway/policy-set.ts'
import type { Log } from '../gateway/upstream/upstream.ts'
import { digestOf } from '../ledger/record.ts'
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

/** The local user's document and those that grants name, each with the house over it. */
export function loadPolicies(config: GateConfig, output: Output, log: Log): PolicySet {
  const house = loadHouse(config.house, output)
  const denyAll = loadPolicy('no policy', house, output, DENY_ALL).policy
  const none = { policy: denyAll, id: `none ${digestOf(DENY_ALL)}` }
  const load = (file: string, name: string): BoundPolicy => {
    const { policy, problems, text } = loadPolicy(file, { ...house, name }, output)
    for (const problem of problems) output.problem(problem, text)
    if (policy.shadow) log('warn', `\`${name}\` is in shadow mode: nothing of it is enforced`)
    return { policy, id: `${name} ${digestOf(text)}` }
  }
  if (config.policy === undefined)
    log('warn', 'the configuration names no policy: everything the local user asks is denied')
  const files = Object.entries(config.policies)
  if (config.policy !== undefined) files.unshift([LOCAL_POLICY, config.policy])
  return new PolicySet(new Map(files.map(([name, file]) => [name, load(file, name)])), none)
}
