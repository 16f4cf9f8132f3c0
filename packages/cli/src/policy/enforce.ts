// `sluice enforce`: ends observe mode. Shows first what will change, from the recorded calls and for the known
// tools, then takes `mode: shadow` out of the policy. That only tightens, so a running gate takes it at once.

import { readFileSync } from 'node:fs'
import type { GateConfig } from '@sluice/gateway/config/config'
import { isHookClient } from '@sluice/gateway/hooks/clients/table'
import { listDecisionChanges } from '@sluice/gateway/state/decision-changes'
import { removeObserveMode } from '@sluice/gateway/state/observe-mode'
import { gatherReport } from '@sluice/ledger/report/gather'
import type { ShadowRow } from '@sluice/ledger/report/report'
import { writeWhole } from '@sluice/ledger/store/files/write-whole'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { runSteps } from '@sluice/policy/structures/steps'
import type { JsonObject } from '@sluice/policy/values/json'
import { CONFIG_OPTIONS, loadConfig } from '../connect/load-config.ts'
import { withIndex, withLedger } from '../ledger/source.ts'
import { CODING_PACK } from '../packs/load-pack.ts'
import { confirm } from '../terminal/ask.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { GATE_RELOAD_MS_MAX } from '../terminal/limits.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { type PolicyInForce, readPolicyInForce } from './policy-in-force.ts'
import { readSeenTools } from './seen-tools.ts'

type ObservedDocument = ReturnType<typeof listObserved>[number]

const EXAMPLES = `
Examples:
  sluice enforce --dry-run         what will change; changes nothing
  sluice enforce                   shows it, asks, and turns the policy on
  sluice enforce --yes             without the question

A policy with \`mode: shadow\` (\`sluice init --observe\`) decides nothing: every call passes, and what the
policy would have said is recorded. This takes the line out of the file, and ends when a running gate enforces it.
Exit code 0 if something is or would be turned on, 1 if nothing is observed, nobody agreed, or what was saved
waits for \`sluice policy apply\` because something else in it may loosen.`

const OPTIONS = {
  ...CONFIG_OPTIONS,
  '--yes': 'do not ask',
  '--dry-run': 'only show what will change',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'enforce',
  options: OPTIONS,
  examples: EXAMPLES,
  run: enforce,
})

async function enforce(options: Options, output: Output): Promise<0 | 1> {
  const config = loadConfig(options, output)
  const documents = listObserved(config)
  if (documents.length === 0) {
    output.value({ enforced: false, documents: [], calls: [], tools: [], known: 0, unused: [] })
    output.line('nothing is observed: the policy is enforced already')
    return 1
  }
  const calls = recordedChanges(config.data)
  const known = readSeenTools(config.data)
  const tools = documents.flatMap((each) => toolChanges(known, each))
  const used = new Set(known.map(({ definition }) => definition.server))
  const unused = Object.keys(config.servers).filter((name) => !used.has(name))
  const changes = { calls, tools, known: known.length, unused }
  showChanges(calls, tools, changes, output)
  showMissingPacks(config, documents, output)
  const isAgreed =
    options.dryRun !== true &&
    (options.yes === true || (await confirm('enforce the policy from now on?', output)))
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

function listObserved(config: GateConfig) {
  const { policies, policy, basePolicy: house } = config
  const named = Object.entries({ ...policies, ...pickDefined({ policy, house }) })
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
    const range = { sinceMs: 0, untilMs: Date.now() }
    const { shadow } = withLedger(data, (ledger) =>
      withIndex(data, ledger, (index) => gatherReport({ ledger, index: index.database }, range)),
    )
    return shadow.filter((row) => !row.shadow.startsWith('allow by '))
  } catch {
    return [] // No gate has run here yet.
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

/** A client with hooks calls tools that no other rule is about: `default` would refuse all of its command lines. */
function showMissingPacks(
  { servers }: GateConfig,
  documents: readonly ObservedDocument[],
  output: Output,
): void {
  for (const [name, server] of Object.entries(servers)) {
    const isClient = server.kind === 'builtin' && isHookClient(server.builtin)
    const hasRules = documents.some(({ file, after }) => {
      const { policy } = compile({ file, text: after })
      return [...(policy?.tools.values() ?? [])].some(
        ({ key }) => key.startsWith(`${name}/`) || key.startsWith('*/'),
      )
    })
    if (isClient && !hasRules)
      output.line(
        `${output.paint('yellow', 'no rule')} is for the tools of ${printable(name)}: \`sluice policy add ${CODING_PACK} --server ${printable(name)}\` adds rules for them`,
      )
  }
}

function write({ file, before, after }: ObservedDocument): void {
  if (readFileSync(file, 'utf8') !== before)
    throw new CliError('CLI_FILE', `\`${file}\` has just been changed`, 'run the command again')
  try {
    writeWhole(file, after)
  } catch (error) {
    throw new CliError(
      'CLI_FILE',
      `\`${file}\` cannot be written: ${(error as Error).message}`,
      'take `mode: shadow` out of it by hand',
    )
  }
}
