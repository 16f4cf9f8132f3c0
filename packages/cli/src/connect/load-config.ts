// The configuration and the policies it names, for the commands that run a gate or reach one. What
// is wrong is shown with its place before the command gives up.

import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { whatIsWrong } from '@sluice/gateway/config/cluster'
import { type GateConfig, readConfig } from '@sluice/gateway/config/config'
import type { Environment } from '@sluice/gateway/config/values'
import { withData } from '@sluice/gateway/config/work-directory'
import type { Log } from '@sluice/gateway/shared/log'
import {
  type CompiledDocuments,
  compileDocuments,
  readDocuments,
} from '@sluice/gateway/state/documents'
import { errorsIn, type Problem } from '@sluice/policy/document/problem'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import type { DataOptions } from './find-data.ts'
import { loadEnvironment } from './load-environment.ts'
import { readCount } from './read-option.ts'

export interface ConfigOptions extends DataOptions {
  readonly port?: string
  /** The address of a shared store. */
  readonly store?: string
}

/** The options of commands that read the whole configuration. */
export const CONFIG_OPTIONS = {
  '--config <file>': ['the configuration', 'sluice.yaml'],
  '--data <dir>': "the data directory, if it is not the configuration's",
} as const

export function loadConfig(
  { config: file, port, data, store }: ConfigOptions,
  output: Output,
): GateConfig {
  const text = readText(file)
  const environment = loadEnvironment(file, output)
  const { config, problems } = readConfig({ file, text }, environment)
  for (const problem of problems) output.problem(problem, text)
  if (config === undefined)
    throw new CliError('CLI_POLICY', `\`${file}\` has errors`, 'fix the errors shown above')
  const number = port === undefined ? config.port : readCount(port, '--port', 65_535, 0)
  const moved = data === undefined ? config : withData(config, resolve(data))
  return { ...moved, ...withStore(config, store, environment), port: number }
}

function withStore(
  { cluster, clusterSettings }: GateConfig,
  store: string | undefined,
  environment: Environment,
): Pick<GateConfig, 'cluster'> {
  if (store === undefined) return {}
  const settings = cluster ??
    clusterSettings ?? { name: hostname(), key: environment.SLUICE_CLUSTER_KEY ?? '' }
  const wrong = whatIsWrong(store, settings.key)
  if (wrong !== undefined) throw new ArgumentError(wrong.what, wrong.help)
  return { cluster: { ...settings, store } }
}

/** As `loadConfig` reads it, for a gate that reads its configuration again: throws the first mistake. */
export function parseConfigFor({
  config: file,
  data,
}: ConfigOptions): (text: string) => GateConfig {
  return (text) => {
    const { config, problems } = readConfig({ file, text }, loadEnvironment(file, undefined))
    const wrong = errorsIn(problems)[0]
    if (config !== undefined) return data === undefined ? config : withData(config, resolve(data))
    throw new Error(`${file}:${wrong?.line}:${wrong?.column}: ${wrong?.message} [${wrong?.code}]`)
  }
}

/** The local user's document, those that grants name and the base policy, with every problem shown. */
export function loadDocuments(config: GateConfig, output: Output, log: Log): CompiledDocuments {
  // For the words: they say which file is not there, and which is beside it.
  for (const file of [config.policy, config.basePolicy, ...Object.values(config.policies)])
    if (file !== undefined) readText(file)
  if (config.policy === undefined)
    log('warn', 'the configuration names no policy: everything the local user asks is denied')
  const { compiled, problems } = compileConfigured(config, output)
  if (compiled === undefined) throw withErrors(problems, config.file)
  for (const [name, { shadow }] of compiled.policies)
    if (shadow) log('warn', `\`${name}\` is in shadow mode: nothing of it is enforced`)
  return compiled
}

/** The documents that a configuration names; every problem of them is printed. */
export function compileConfigured(
  config: GateConfig,
  output: Output,
): { compiled: CompiledDocuments | undefined; problems: Problem[] } {
  const { compiled, problems } = compileDocuments(
    readDocuments(config),
    Object.keys(config.servers),
  )
  for (const { problem, text } of problems) output.problem(problem, text)
  return { compiled, problems: problems.map(({ problem }) => problem) }
}

function withErrors(problems: readonly Problem[], configFile: string): CliError {
  const errors = errorsIn(problems)
  const file = errors[0]?.file
  const help =
    file === configFile
      ? 'fix the errors shown above'
      : `fix them; \`sluice policy check ${file}\` shows them again`
  const message = `\`${file}\` has ${plural(errors.length, 'error')}`
  return new CliError('CLI_POLICY', message, help, problems)
}
