// `sluice enforce`: ends observe mode. Shows first what will change, from the recorded calls and for the known
// tools, then takes `mode: shadow` out of the policy. That only tightens, so a running gate takes it at once.

import { randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { compile } from '@sluice/policy/compile/compile'
import type { JsonObject } from '@sluice/policy/core/json'
import { runSteps } from '@sluice/policy/core/steps'
import type { KnownTool } from '@sluice/policy/core/tools'
import type { Command } from 'commander'
import type { GateConfig } from '../../gateway/config/config.ts'
import { readGateStore } from '../../gateway/data/gate-store.ts'
import { listDecisionChanges } from '../../gateway/state/decision-changes.ts'
import { removeObserveMode } from '../../gateway/state/observe-mode.ts'
import { readKeptTools } from '../../gateway/tools/stored-tools.ts'
import { RecordIndex } from '../../ledger/query/record-index.ts'
import { gatherReport } from '../../ledger/report/gather.ts'
import type { ShadowRow } from '../../ledger/report/report.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { GATE_RELOAD_MS_MAX } from '../../terminal/limits.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { loadConfig } from '../connect/load-config.ts'
import { withLedger } from '../ledger/source.ts'
import { type PolicyInForce, readPolicyInForce } from './policy-in-force.ts'

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
policy would have said is recorded. This takes the line out of the file, and ends when a running gate enforces it.
Exit code 0 if something is or would be turned on, 1 if nothing is observed, nobody agreed, or what was saved
waits for \`sluice policy apply\` because something else in it may loosen.`

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
    output.value({ enforced: false, documents: [], calls: [], tools: [], known: 0, unused: [] })
    output.line('nothing is observed: the policy is enforced already')
    return 1
  }
  const calls = recordedChanges(config.data)
  const known = readKnownTools(config.data)
  const tools = documents.flatMap((each) => toolChanges(known, each))
  const used = new Set(known.map(({ definition }) => definition.server))
  const unused = Object.keys(config.servers).filter((name) => !used.has(name))
  const changes = { calls, tools, known: known.length, unused }
  showChanges(calls, tools, changes, output)
  const isAgreed = options.dryRun !== true && (options.yes === true || (await agrees(output)))
  if (isAgreed) for (const each of documents) write(each)
  const inForce: PolicyInForce = isAgreed ? await readPolicyInForce(config, GATE_RELOAD_MS_MAX) : {}
  const files = documents.map(({ name, file }) => ({ name, file, ...digestOf(name, inForce) }))
  const enforced = isAgreed && inForce.why === undefined
  output.value({ enforced, documents: files, ...changes })
  if (inForce.why !== undefined) {
    for (const { file } of files) output.line(`saved: ${printable(file)}`)
    output.line(`${output.paint('yellow', 'not in force')}: ${printable(inForce.why)}`)
  } else if (isAgreed)
    for (const { file, digest } of files)
      output.line(
        `enforced: ${printable(file)}, ${digest === undefined ? 'from the next start on: no gate runs' : `in force with the digest ${digest}`}`,
      )
  else output.line(`nothing was changed${options.dryRun === true ? '' : ': see --yes'}`)
  return enforced || options.dryRun === true ? 0 : 1
}

/** The digest of a document at the running gate. */
function digestOf(name: string, { documents }: PolicyInForce): { readonly digest?: string } {
  const one = documents?.find((each) => each.name === name)
  return one === undefined ? {} : { digest: String(one.digest) }
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

/** The tools that clients have listed through the gate so far. */
function readKnownTools(data: string): readonly KnownTool[] {
  try {
    return readGateStore(data, readKeptTools)
  } catch {
    return []
  }
}

function toolChanges(
  known: readonly KnownTool[],
  { name, file, before, after }: ObservedDocument,
): JsonObject[] {
  const [old, now] = [before, after].map((text) => compile({ file, text }).policy)
  return old === undefined || now === undefined
    ? []
    : runSteps(listDecisionChanges(name, old, now, known))
}

/** `known` is how many tools are known at all, `unused` the servers of which none is. */
function showChanges(
  calls: readonly ShadowRow[],
  tools: readonly JsonObject[],
  { known, unused }: { readonly known: number; readonly unused: readonly string[] },
  output: Output,
): void {
  const total = calls.reduce((sum, { count }) => sum + count, 0)
  output.line(
    output.paint('bold', `${plural(total, 'recorded call')} would not simply have passed:`),
  )
  for (const { tool, shadow, count } of calls)
    output.line(`  ${String(count).padStart(5)} x ${printable(tool)}: ${printable(shadow)}`)
  if (calls.length === 0) output.line('  none')
  const heading = `${tools.length} of the ${plural(known, 'tool')} that clients have listed so far will be treated differently:`
  output.line(output.paint('bold', heading))
  for (const { tool, to } of tools)
    output.line(`  ${printable(String(tool))}: ${printable(String(to))}`)
  if (tools.length === 0) output.line('  none')
  if (unused.length > 0)
    output.line(
      `no client has listed the tools of ${unused.map(printable).join(', ')} yet: they are not counted here, and the policy holds for them too`,
    )
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
