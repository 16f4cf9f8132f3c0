// Which policy a `policy` command works on: the file of `--policy`, or the document of the gate that `status`
// and all other commands find. Never a policy.yaml of the current folder that no gate reads.

import { existsSync } from 'node:fs'
import { LOCAL_POLICY, nameOne } from '@sluice/gateway/config/grants'
import { readPolicyLocation } from '@sluice/gateway/config/policy-location'
import { extractDocument } from '@sluice/policy/document/document-within'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { CliError } from '../terminal/errors.ts'
import { loadBasePolicy, loadPolicy } from '../terminal/load-policy.ts'
import type { Output } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { CONFIG, findConfig } from './find-config.ts'
import { loadEnvironment } from './load-environment.ts'

/** The options of a command that only reads a policy. */
export const POLICY = {
  '--config <file>': `the configuration (default: "${CONFIG}", or your own)`,
  '--policy <file>': "a policy document, instead of the gate's",
  '--house <file>':
    "base policy, whose guardrails apply on top (default: the gate's, with its policy)",
} as const

/** The option of a command that compares a policy with the tools of servers. */
export const TOOLS = {
  '--tools <file>': 'tool definitions, instead of those the gate has seen',
} as const

export interface PolicyOptions {
  readonly config?: string | undefined
  readonly policy?: string | undefined
  readonly house?: string | undefined
}

/** A policy and the text it was read from. */
export interface PolicySource {
  /** As `--policy` names it; the whole path if it is the gate's. */
  readonly file: string
  /** The document is a part of the configuration. Nothing else of the file is in `text`. */
  readonly isWithin: boolean
  /** The configuration that names it. Undefined if `--policy` does. */
  readonly config?: string
  /** The base policy over it. */
  readonly house?: string
}

export interface LoadedPolicy {
  readonly policy: CompiledPolicy
  readonly source: PolicySource
  /** The document, without what is around it in a configuration. */
  readonly text: string
}

/** `name`: of the document. The file need not exist if `--policy` names it. */
export function findPolicy(
  { config: named, policy, house }: PolicyOptions,
  name = LOCAL_POLICY,
): PolicySource {
  if (policy !== undefined) return { file: policy, isWithin: false, ...pickDefined({ house }) }
  const config = named ?? findConfig()
  if (config === undefined) throw noGate()
  const location = readPolicyLocation(
    { file: config, text: readText(config) },
    loadEnvironment(config, undefined),
  )
  if (location === undefined)
    throw new CliError(
      'CLI_POLICY',
      `which policy the gate has cannot be read from \`${config}\``,
      '`sluice doctor` shows what is wrong there; or name a policy with --policy FILE',
    )
  const file = location.documents[name]
  if (file === undefined) throw noDocument(config, name, Object.keys(location.documents))
  const base = house ?? location.basePolicy
  return {
    file,
    isWithin: location.isWithin && name === LOCAL_POLICY,
    config,
    ...(base === undefined ? {} : { house: base }),
  }
}

function noDocument(config: string, name: string, known: readonly string[]): CliError {
  if (name === LOCAL_POLICY)
    return new CliError(
      'CLI_POLICY',
      `\`${config}\` names no policy`,
      'add `policy: ./policy.yaml` to it, or name a policy with --policy FILE',
    )
  return new CliError(
    'CLI_POLICY',
    `\`${config}\` has no document \`${name}\``,
    `${nameOne(known)}; or name a policy with --policy FILE`,
  )
}

/** Reads and compiles the policy with its base policy; gives up if it has errors. `name`: of the document. */
export function loadGatePolicy(
  options: PolicyOptions,
  output: Output,
  name?: string,
): LoadedPolicy {
  const source = findPolicy(options, name)
  const base = loadBasePolicy(source.house, output)
  const compileOptions = { ...base, ...pickDefined({ name }) }
  const { policy, text } = loadPolicy(source.file, compileOptions, output, readPolicyText(source))
  return { policy, source, text }
}

export function readPolicyText({ file, isWithin }: PolicySource): string {
  const text = readText(file)
  return isWithin ? extractDocument(text, 'policy') : text
}

function noGate(): CliError {
  const help = existsSync('policy.yaml')
    ? 'for the policy of this folder pass --policy policy.yaml; `sluice init` sets up a gate'
    : 'name a policy with --policy FILE; `sluice init` sets up a gate'
  return new CliError(
    'CLI_FILE',
    `no gate is configured: neither this folder nor your own settings have a \`${CONFIG}\``,
    help,
  )
}
