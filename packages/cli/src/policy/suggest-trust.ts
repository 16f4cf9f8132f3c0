// `sluice policy suggest --trust`: entries for `trust` from recorded sessions, with what each buys and lets through.

import { writeFileSync } from 'node:fs'
import { proposeTrust, writeTrust } from '@sluice/gateway/operations/suggest-trust'
import { ATTACK_TEXT } from '@sluice/policy/cases/attack-answer'
import { simulate } from '@sluice/policy/cases/simulate'
import { loadGatePolicy, type PolicyOptions } from '../connect/gate-policy.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readTools } from '../terminal/read-tools.ts'
import { readInjections, readTraces } from '../terminal/read-traces.ts'
import { simulationOptions } from './simulate.ts'

export interface TrustOptions extends PolicyOptions {
  readonly traces?: string
  readonly tools?: string
  readonly injections?: string
  readonly prompt: boolean
  readonly accept?: boolean
  readonly out?: string
}

export async function suggestTrust(options: TrustOptions, output: Output): Promise<0> {
  const { traces: file, tools: toolsFile } = options
  if (file === undefined || toolsFile === undefined)
    throw new ArgumentError(
      `--trust needs ${file === undefined ? '--traces' : '--tools'}`,
      'it learns from recorded sessions: see `sluice policy simulate --help`',
    )
  const { policy } = loadGatePolicy(options, output)
  const tools = await readTools(toolsFile)
  const traces = readTraces(file)
  const injections = options.injections === undefined ? [] : readInjections(options.injections)
  const attack = { attack: 'forged', attackText: ATTACK_TEXT, hasPrompts: options.prompt } as const
  const playing = await simulationOptions(policy, tools, attack)
  const proposals = proposeTrust(policy, traces, (one) =>
    simulate(one, traces, injections, playing),
  )
  const text = writeTrust(proposals, options.accept === true)
  if (options.out !== undefined) writeFileSync(options.out, text)
  output.value({ proposals, trust: text })
  // Comments, so that all of it can be saved as a file.
  const note = (line: string) => output.line(`# ${line}`)
  for (const { tool, path, word, sessions, attacks } of proposals)
    note(
      `${printable(`${tool} ${path}: ${word}`)}  ${plural(sessions, 'session')}  ${injections.length === 0 ? 'attacks not measured: see --injections' : plural(attacks, 'attack')}`,
    )
  if (proposals.length === 0) note('no call that is held has a value of a field before it')
  note(
    'check who writes each field: an entry is right if nobody else can choose its value; addresses are written only with --accept',
  )
  if (text !== '') for (const line of text.trimEnd().split('\n')) output.line(printable(line))
  return 0
}
