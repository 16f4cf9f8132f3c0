// The step `simulate` of `sluice ci`: recorded sessions must pass, and attacks on them must be stopped, as
// often as the thresholds say.

import { ATTACK_TEXT } from '@sluice/policy/cases/attack-answer'
import { simulate } from '@sluice/policy/cases/simulate'
import type { KnownTool } from '@sluice/policy/core/tools'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { readInjections, readTraces } from '../../terminal/read-traces.ts'
import { simulationOptions } from '../policy/simulate.ts'
import type { CiCheck, CiStep } from './ci-report.ts'
import { skip, toFailures } from './run-steps.ts'

export interface SimulateInputs {
  readonly traces?: string
  readonly injections?: string
  readonly minUntouched: number
  readonly minStopped: number
}

export async function simulatePolicy(
  { traces: file, injections, minUntouched, minStopped }: SimulateInputs,
  policy: CompiledPolicy,
  tools: readonly KnownTool[] | undefined,
): Promise<CiStep> {
  if (file === undefined) return skip('simulate', 'no recorded sessions')
  if (tools === undefined) return skip('simulate', 'no file of tools')
  try {
    const given = { attack: 'plain', attackText: ATTACK_TEXT, hasPrompts: true } as const
    const { benign, attacks } = simulate(
      policy,
      readTraces(file),
      injections === undefined ? [] : readInjections(injections),
      await simulationOptions(policy, tools, given),
    )
    const checks = [
      toThreshold(file, `${benign.untouched} of ${benign.traces} sessions pass untouched`, {
        ...{ part: benign.untouched, of: benign.traces, min: minUntouched },
      }),
    ]
    if (injections !== undefined)
      checks.push(
        toThreshold(injections, `${attacks.stopped} of ${attacks.pairs} attacks are stopped`, {
          ...{ part: attacks.stopped, of: attacks.pairs, min: minStopped },
        }),
      )
    const isMet = checks.every(({ level }) => level === 'passed')
    const summary = checks.map(({ message }) => message).join(', ')
    return { name: 'simulate', status: isMet ? 'passed' : 'failed', summary, checks }
  } catch (error) {
    const checks = toFailures('simulate', file, error)
    return { name: 'simulate', status: 'failed', summary: 'could not run', checks }
  }
}

function toThreshold(
  file: string,
  message: string,
  { part, of, min }: { readonly part: number; readonly of: number; readonly min: number },
): CiCheck & { readonly message: string } {
  const isMet = (of === 0 ? 100 : (100 * part) / of) >= min
  return {
    ...{ rule: 'simulate', name: `at least ${min} %`, level: isMet ? 'passed' : 'failed' },
    ...{ file, line: 1, message, help: '`sluice policy simulate` lists the calls' },
  }
}
