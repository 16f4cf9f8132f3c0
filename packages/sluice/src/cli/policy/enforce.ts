// `sluice enforce`: ends observe mode. Shows first what will change, from the recorded calls and for the known
// tools, then takes `mode: shadow` out of the policy. That only tightens, so a running gate takes it at once.

import { randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { compile } from '@sluice/policy/compile/compile'
import type { JsonObject } from '@sluice/policy/core/json'
import { runSteps } from '@sluice/policy/core/steps'
import type { Command } from 'commander'
import type { GateConfig } from '../../gateway/config/config.ts'
import { readGateStore } from '../../gateway/data/gate-store.ts'
import { removeObserveMode } from '../../gateway/state/observe-mode.ts'
import { verdictChanges } from '../../gateway/state/verdict-changes.ts'
import { readKeptTools } from '../../gateway/tools/stored-tools.ts'
import { RecordIndex } from '../../ledger/query/record-index.ts'
import { gatherReport } from '../../ledger/report/gather.ts'
import type { ShadowRow } from '../../ledger/report/report.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { loadConfig } from '../connect/load-config.ts'
import { withLedger } from '../ledger/source.ts'

interface Options {
  readonly config: string
  readonly data?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface ObservedDocument {
  readonly name: string
  readonly file: string
  readonly before: string
  readonly after: string
}

const EXAMPLES = `
Examples:
  sluice enforce --dry-run         what will change; changes nothing
  sluice enforce                   shows it, asks, and turns the policy on
  sluice enforce --yes             without the question

A policy with \`mode: shadow\` (\`sluice init --observe\`) decides nothing: every call passes, and what the
policy would have said is recorded. This takes the line out of the file; a running gate enforces it at once.
Exit code 0 if something is or would be turned on, 1 if nothing is observed or nobody agreed.`

export function addEnforce(parent: Command, answer: SetExitCode): void {
  parent
    .command('enforce')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'data directory, instead of the one in the configuration')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show what will change')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => answer(await enforce(options, new Output(options))))
}

async function enforce(options: Options, output: Output): Promise<0 | 1> {
  const config = loadConfig(options, output)
  const documents = listObserved(config)
  if (documents.length === 0) {
    output.value({ enforced: false, documents: [], calls: [], tools: [] })
    output.line('nothing is observed: the policy is enforced already')
    return 1
  }
  const calls = recordedChanges(config.data)
  const tools = documents.flatMap((each) => toolChanges(config.data, each))
  showChanges(calls, tools, output)
  const isAgreed = options.dryRun !== true && (options.yes === true || (await agrees(output)))
  if (isAgreed) for (const each of documents) write(each)
  const files = documents.map(({ name, file }) => ({ name, file }))
  output.value({ enforced: isAgreed, documents: files, calls, tools })
  for (const { file } of isAgreed ? files : []) output.line(`enforced: ${printable(file)}`)
  if (!isAgreed) output.line(`nothing was changed${options.dryRun === true ? '' : ': see --yes'}`)
  return isAgreed || options.dryRun === true ? 0 : 1
}

function listObserved(config: GateConfig): ObservedDocument[] {
  const named = Object.entries({
    ...config.policies,
    ...(config.policy === undefined ? {} : { policy: config.policy }),
    ...(config.house === undefined ? {} : { house: config.house }),
  })
  return named.flatMap(([name, file]) => {
    const before = readFileSync(file, 'utf8')
    // In the configuration itself it is no document of its own.
    if (compile({ file, text: before }).policy?.shadow !== true) return []
    const after = removeObserveMode(before)
    if (after === undefined)
      throw new CliError(
        'CLI_POLICY',
        `\`mode: shadow\` in \`${file}\` does not stand on a line of its own`,
        'take it out by hand: the gate enforces the policy as soon as it is gone',
      )
    return [{ name, file, before, after }]
  })
}

/** What the recorded calls would have met, but for those that would have passed. */
function recordedChanges(data: string): ShadowRow[] {
  try {
    return withLedger(data, (ledger) => {
      const index = new RecordIndex(data, ledger)
      try {
        index.catchUp()
        const { shadow } = gatherReport(
          { ledger, index: index.database },
          { sinceMs: 0, untilMs: Date.now() },
        )
        return shadow.filter((row) => !row.shadow.startsWith('allow by '))
      } finally {
        index.close()
      }
    })
  } catch {
    return [] // No gate has run here yet.
  }
}

function toolChanges(data: string, { name, file, before, after }: ObservedDocument): JsonObject[] {
  const [old, now] = [before, after].map((text) => compile({ file, text }).policy)
  if (old === undefined || now === undefined) return []
  try {
    return runSteps(verdictChanges(name, old, now, readGateStore(data, readKeptTools)))
  } catch {
    return []
  }
}

function showChanges(
  calls: readonly ShadowRow[],
  tools: readonly JsonObject[],
  output: Output,
): void {
  const total = calls.reduce((sum, { count }) => sum + count, 0)
  output.line(
    output.paint('bold', `${plural(total, 'recorded call')} would not simply have passed:`),
  )
  for (const { tool, shadow, count } of calls)
    output.line(`  ${String(count).padStart(5)} x ${printable(tool)}: ${printable(shadow)}`)
  if (calls.length === 0) output.line('  none')
  output.line(
    output.paint('bold', `${plural(tools.length, 'known tool')} will be treated differently:`),
  )
  for (const { tool, to } of tools)
    output.line(`  ${printable(String(tool))}: ${printable(String(to))}`)
  if (tools.length === 0) output.line('  none')
}

async function agrees(output: Output): Promise<boolean> {
  if (output.json || !process.stdin.isTTY || !process.stderr.isTTY) return false
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test(
      (await lines.question('enforce the policy from now on? [y/N] ')).trim(),
    )
  } finally {
    lines.close()
  }
}

/** Beside it and renamed: a gate must not read half of it. A link to it stays one. */
function write({ file, before, after }: ObservedDocument): void {
  if (readFileSync(file, 'utf8') !== before)
    throw new CliError('CLI_FILE', `\`${file}\` has just been changed`, 'run the command again')
  const target = realpathSync(file)
  const fresh = `${target}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(fresh, after, { mode: statSync(target).mode & 0o777, flag: 'wx' })
    renameSync(fresh, target)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw new CliError(
      'CLI_FILE',
      `\`${file}\` cannot be written: ${(error as Error).message}`,
      'take `mode: shadow` out of it by hand',
    )
  }
}
