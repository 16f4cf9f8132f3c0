// `sluice ci`: everything that a policy has to pass before it is merged, in one command: check, test,
// prove, simulate, coverage, and which decisions change against a base revision. Writes JUnit, SARIF and Markdown.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { ATTACK_TEXT } from '@sluice/policy/cases/attack-answer'
import { simulate } from '@sluice/policy/cases/simulate'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { readPercent } from '../connect/read-option.ts'
import { simulationOptions } from '../policy/simulate.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { Output, plural, printable, type Style } from '../terminal/output.ts'
import { readTools } from '../terminal/read-tools.ts'
import { readInjections, readTraces } from '../terminal/read-traces.ts'
import type { CiCheck, CiReport, CiStep } from './ci-report.ts'
import { compareWithBase } from './compare-base.ts'
import {
  type CiInputs,
  checkPolicy,
  measurePolicy,
  provePolicy,
  skip,
  testPolicy,
  toFailures,
} from './run-steps.ts'
import { writeJunit } from './write-junit.ts'
import { writeMarkdown } from './write-markdown.ts'
import { writeSarif } from './write-sarif.ts'

const EXAMPLES = `
Examples:
  sluice ci                                    # the files of this folder
  sluice ci policies --coverage 80             # and at least 80 percent of the branches tried
  sluice ci --base origin/main --markdown summary.md
  sluice ci --junit report.xml --sarif report.sarif

In the folder: policy.yaml, and if they exist tools.json, cases.yaml, properties.yaml, traces.jsonl,
injections.jsonl. A step without its file is skipped, with a note, and fails if a threshold is set for it. With --base, git is asked for the policy of that revision. Exit code 0
if every step passed or was skipped, 1 if one failed.`

const OPTIONS = {
  '--policy <file>': 'another policy than policy.yaml',
  '--house <file>': 'base policy, whose guardrails apply on top',
  '--tools <file>': 'known tools, if not tools.json',
  '--cases <files...>': 'files of cases, if not cases.yaml',
  '--properties <file>': 'a file of properties, if not properties.yaml',
  '--traces <file>': 'recorded sessions, if not traces.jsonl',
  '--injections <file>': 'attacks to play on them, if not injections.jsonl',
  '--min-untouched <percent>': ['fail if fewer sessions pass untouched', '0'],
  '--min-stopped <percent>': ['fail if fewer attacks are stopped', '0'],
  '--coverage <percent>': ['fail if cases try fewer branches', '0'],
  '--base <revision>': 'the git revision to compare decisions with',
  '--fail-on-looser': 'fail if something is looser than in the base revision',
  '--junit <file>': 'write the results as JUnit XML',
  '--sarif <file>': 'write the problems as SARIF 2.1.0',
  '--markdown <file>': 'write a summary as Markdown',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'ci',
  args: { '[folder]': ['where the files are', '.'] },
  options: OPTIONS,
  examples: EXAMPLES,
  run: async ({ folder, ...options }, output) => {
    const report = await run(folder, options)
    output.value(report)
    print(report, output)
    if (options.junit !== undefined) writeFileSync(options.junit, writeJunit(report))
    const checks = report.steps.flatMap((step) => step.checks)
    if (options.sarif !== undefined)
      writeFileSync(options.sarif, writeSarif(checks, readPackageVersion()))
    if (options.markdown !== undefined) writeFileSync(options.markdown, writeMarkdown(report))
    return report.ok ? 0 : 1
  },
})

async function run(folder: string, options: Options): Promise<CiReport> {
  const inputs = findInputs(folder, options)
  // Problems become checks of the report; nothing is printed twice.
  const silent = new Output({ json: true })
  const tools = inputs.tools === undefined ? undefined : await readTools(inputs.tools)
  const { step, policy } = checkPolicy(inputs, tools, silent)
  if (policy === undefined) {
    const rest = (['test', 'prove', 'simulate', 'coverage'] as const).map((name) =>
      skip(name, 'the policy has errors'),
    )
    return { ok: false, steps: [step, ...rest] }
  }
  const tested = await testPolicy(inputs, silent)
  const steps = [
    step,
    tested.step,
    await provePolicy(inputs, silent),
    await simulatePolicy(inputs, policy, tools),
    measurePolicy(inputs, tested.runs),
  ]
  const { base } = options
  if (base === undefined) return toReport(steps)
  try {
    const caseFiles = tested.runs.map(({ file }) => file)
    const files = { policyFile: inputs.policy, basePolicyFile: inputs.house, caseFiles }
    const changes = await compareWithBase({ base, policy, tools: tools ?? [], ...files })
    if (changes === undefined)
      return toReport([...steps, skip('compare', `\`${base}\` has no such policy`)])
    const isKnown = tools !== undefined || tested.runs.length > 0
    return toReport([...steps, toCompareStep(changes, { ...options, isKnown }, inputs.policy)], {
      base,
      ...changes,
    })
  } catch (error) {
    const checks = toFailures('compare', inputs.policy, error)
    const summary = checks[0]?.message ?? 'could not run'
    return toReport([...steps, { name: 'compare', status: 'failed', summary, checks }])
  }
}

function toReport(steps: readonly CiStep[], changes?: CiReport['changes']): CiReport {
  const ok = steps.every(({ status }) => status !== 'failed')
  return { ok, steps, ...pickDefined({ changes }) }
}

function toCompareStep(
  { tools, cases, looser }: Omit<NonNullable<CiReport['changes']>, 'base'>,
  { base = '', failOnLooser, isKnown }: Options & { readonly isKnown: boolean },
  file: string,
): CiStep {
  const count = tools.length + cases.length
  const isFailure = failOnLooser === true && looser.length > 0
  return {
    name: 'compare',
    status: isFailure ? 'failed' : 'passed',
    summary: `${isKnown ? `${plural(count, 'decision')} changed since \`${base}\`` : `only the text is compared with \`${base}\`, as there is no tools.json and no case`}, ${plural(looser.length, 'place')} looser`,
    checks: isFailure
      ? looser.map(({ where, what }) => ({
          rule: 'compare',
          name: where,
          level: 'failed',
          file,
          line: 1,
          message: `${where} ${what}`,
        }))
      : [],
  }
}

/** Files that are named must exist; those with the usual names are used if they do. */
function findInputs(folder: string, options: Options): CiInputs & SimulateInputs {
  const usual = (name: string) => {
    const file = join(folder, name)
    return existsSync(file) ? file : undefined
  }
  const { policy = join(folder, 'policy.yaml'), house } = options
  const tools = options.tools ?? usual('tools.json')
  const properties = options.properties ?? usual('properties.yaml')
  const cases = options.cases ?? [usual('cases.yaml')].filter((file) => file !== undefined)
  const traces = options.traces ?? usual('traces.jsonl')
  const injections = options.injections ?? usual('injections.jsonl')
  const coverageMin = readPercent('--coverage', options.coverage)
  const minUntouched = readPercent('--min-untouched', options.minUntouched)
  const minStopped = readPercent('--min-stopped', options.minStopped)
  return {
    policy,
    cases,
    coverageMin,
    minUntouched,
    minStopped,
    ...pickDefined({ house, tools, properties, traces, injections }),
  }
}

const STYLES = { passed: 'green', failed: 'red', skipped: 'dim' } as const satisfies Record<
  CiStep['status'],
  Style
>

function print({ steps, changes }: CiReport, output: Output): void {
  for (const { name, status, summary, checks } of steps) {
    output.line(
      `${output.paint(STYLES[status], status.padEnd(7))}  ${name.padEnd(8)}  ${printable(summary)}`,
    )
    for (const { level, file, line, name: what, message = '', help } of checks) {
      if (level !== 'failed') continue
      const about = what === `${file}:${line}` ? '' : `${what}: `
      output.line(`         ${printable(`${file}:${line}: ${about}${message}`)}`)
      if (help !== undefined) output.dim(`           help: ${printable(help)}`)
    }
  }
  if (changes === undefined) return
  for (const { name, before, now, direction } of [...changes.tools, ...changes.cases])
    output.line(`  ${printable(name)}: ${before} -> ${now} (${direction})`)
  for (const { where, what } of changes.looser)
    output.line(output.paint('yellow', `  looser: ${printable(`${where} ${what}`)}`))
}

interface SimulateInputs {
  readonly traces?: string
  readonly injections?: string
  readonly minUntouched: number
  readonly minStopped: number
}

/**
 * The step `simulate` of `sluice ci`: recorded sessions must pass, and attacks on them must be stopped, as
 * often as the thresholds say.
 */
async function simulatePolicy(
  { traces: file, injections, minUntouched, minStopped }: SimulateInputs,
  policy: CompiledPolicy,
  tools: readonly KnownTool[] | undefined,
): Promise<CiStep> {
  const hasThreshold = minUntouched > 0 || minStopped > 0
  if (file === undefined) return skip('simulate', 'no recorded sessions', hasThreshold)
  if (tools === undefined) return skip('simulate', 'no file of tools', hasThreshold)
  if (injections === undefined && minStopped > 0) return skip('simulate', 'no attacks', true)
  try {
    const attackOptions = { attack: 'plain', attackText: ATTACK_TEXT, hasPrompts: true } as const
    const { benign, attacks } = simulate(
      policy,
      readTraces(file),
      injections === undefined ? [] : readInjections(injections),
      await simulationOptions(policy, tools, attackOptions),
    )
    const checks = [
      toThreshold(file, `${benign.untouched} of ${benign.traces} sessions pass untouched`, {
        part: benign.untouched,
        of: benign.traces,
        min: minUntouched,
      }),
    ]
    if (injections !== undefined)
      checks.push(
        toThreshold(injections, `${attacks.stopped} of ${attacks.pairs} attacks are stopped`, {
          part: attacks.stopped,
          of: attacks.pairs,
          min: minStopped,
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
  const isMet = 100 * part >= min * Math.max(of, 1)
  return {
    rule: 'simulate',
    name: `at least ${min} %`,
    level: isMet ? 'passed' : 'failed',
    file,
    line: 1,
    message,
    help: '`sluice policy simulate` lists the calls',
  }
}
