// `sluice policy check`: is the document right, and what does it say of the tools that are known?
// Problems go to stderr with the line they are about, the summary to stdout.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { GateConfig } from '@sluice/gateway/config/config'
import { LOCAL_POLICY } from '@sluice/gateway/config/grants'
import type { ProtectionLevel, TrustedField } from '@sluice/policy/calls/provenance'
import { type KnownTool, toToolId } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import {
  describeProtectionAnswers,
  listProtectionParts,
} from '@sluice/policy/compile/protection-guardrails'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { PROBLEMS_MAX } from '@sluice/policy/document/limits'
import { errorsIn } from '@sluice/policy/document/problem'
import { trustInForce } from '@sluice/policy/model/answer-trust'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { CONFIG } from '../connect/find-config.ts'
import { findPolicy, POLICY, type PolicySource, readPolicyText } from '../connect/gate-policy.ts'
import { loadEnvironment } from '../connect/load-environment.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { loadBasePolicy } from '../terminal/load-policy.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readTools } from '../terminal/read-tools.ts'

const EXAMPLES = `
Examples:
  sluice policy check                                    # the gate's policy, with its base policy
  sluice policy check policy.yaml --tools tools.json     # rules are checked against these tools
  sluice policy check policy.yaml --house house.yaml     # with the guardrails that lie over all
  sluice policy check --config sluice.yaml               # every policy it names, with the base policy over them
  sluice policy check hosted.json --server shop          # a PolicyLayer policy, as its import would be
  sluice policy check policy.yaml --json

A file is named as an argument or with --policy, which is the same.`

const OPTIONS = {
  '--config <file>': 'check every policy that a configuration names, as a gate loads them',
  '--policy <file>': "a policy document, instead of the gate's",
  '--tools <file>': 'known tools, as `sluice scan --out` writes them',
  '--house <file>': POLICY['--house <file>'],
  '--server <name>': 'of a PolicyLayer policy: which server its tools are of',
  '--show': 'print what `protect` stands for, with what each part stops and costs',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'check',
  args: { '[file]': "a policy document, instead of the gate's" },
  options: OPTIONS,
  examples: EXAMPLES,
  run: async ({ file, ...options }, output) => {
    const policy = file ?? options.policy
    if (file !== undefined && options.policy !== undefined)
      throw new ArgumentError(
        `both \`${file}\` and --policy \`${options.policy}\` name a policy`,
        'name one',
      )
    if (options.config === undefined || policy !== undefined)
      return check(findPolicy({ ...options, policy }), options, output)
    // Loaded only if it is asked for, as every command is.
    const { checkConfigured } = await import('./check-configured.ts')
    return checkConfigured(options.config, options.tools, output)
  },
})

async function check(source: PolicySource, options: Options, output: Output): Promise<0 | 1> {
  const { file } = source
  const tools = options.tools === undefined ? undefined : await readTools(options.tools)
  const base = loadBasePolicy(source.house, output)
  const text = readPolicyText(source)
  const config = await readConfigOf(source, output)
  // Against the tools names of servers are checked, too.
  const servers = config === undefined ? {} : { servers: Object.keys(config.servers) }
  const known = tools !== undefined ? { tools } : servers
  const { policy, problems } = compile({ file, text }, { ...known, ...base })
  if (policy === undefined && (await isForeign(text))) {
    const { checkImported } = await import('./check-imported.ts')
    return checkImported({ file, text, server: options.server, tools }, output)
  }
  for (const problem of problems) output.problem(problem, text)
  if (policy !== undefined && tools === undefined)
    output.remark('note: no --tools, so names of tools and arguments are not checked')
  const errors = errorsIn(problems).length
  const warnings = problems.length - errors
  if (policy === undefined) {
    output.value({ ok: false, file, errors, warnings, problems })
    output.line(
      `${output.paint('red', 'not ok')}: ${printable(file)}, ${plural(errors, 'error')}${errors === PROBLEMS_MAX ? ' or more' : ''}, ${plural(warnings, 'warning')}`,
    )
    return 1
  }
  // Loaded only with tools: it needs the whole decision.
  const counting = tools === undefined ? undefined : await import('./count-decisions.ts')
  const decisions = tools && counting?.countDecisions(policy, tools)
  const guesses = tools && guessesOf(policy, tools)
  const notInForce = config && (await whyNotInForce(config))
  output.value({
    ok: true,
    file,
    errors,
    warnings,
    problems,
    ...(decisions ? { tools: decisions } : {}),
    ...(guesses ? { unknown: guesses } : {}),
    ...pickDefined({ notInForce }),
    ...(options.show === true ? toProtectionView(policy) : {}),
  })
  printPolicy({ file, policy, warnings }, notInForce, output)
  if (counting && decisions)
    output.line(`${plural(tools?.length ?? 0, 'tool')}: ${counting.summarizeDecisions(decisions)}`)
  if (guesses !== undefined && guesses.length > 0) printGuesses(guesses, output)
  if (config !== undefined) await printLastWeek(config, { file, text, policy }, output)
  if (options.show === true) showProtection(policy, output)
  return 0
}

function printPolicy(
  { file, policy, warnings }: { file: string; policy: CompiledPolicy; warnings: number },
  notInForce: string | undefined,
  output: Output,
): void {
  const { tools, categories, resources, prompts, methods, guardrails, fallback } = policy
  const rules = tools.size + categories.size + resources.size + prompts.size + methods.size
  output.line(
    `${output.paint('green', 'ok')}: ${printable(file)}, ${plural(rules, 'rule')}, ${plural(guardrails.length, 'guardrail')}, default ${fallback}${warnings ? `, ${plural(warnings, 'warning')}` : ''}`,
  )
  printNotInForce(notInForce, output)
  if (policy.shadow)
    output.line(output.paint('yellow', 'the document is in shadow mode: nothing is enforced'))
}

/** What the document would have decided on the calls of the last week, if the gate has recorded any. */
async function printLastWeek(
  { data, policies }: GateConfig,
  { file, text, policy }: { file: string; text: string; policy: CompiledPolicy },
  output: Output,
): Promise<void> {
  // Loaded only here: it needs the whole decision.
  const { tryLastWeek } = await import('./last-week.ts')
  const named = Object.entries(policies).find(([, path]) => path === resolve(file))
  const week = tryLastWeek({ data, name: named?.[0] ?? LOCAL_POLICY, text, policy })
  if (week !== undefined) output.line(week.says)
}

/** The gate goes on by the policy before. */
export function printNotInForce(why: string | undefined, output: Output): void {
  if (why !== undefined) output.line(`${output.paint('yellow', 'not in force')}: ${printable(why)}`)
}

/** A document that only an import can read. */
async function isForeign(text: string): Promise<boolean> {
  const { isPolicyLayer } = await import('@sluice/import-policylayer/import-policy')
  return isPolicyLayer(text)
}

/** The stronger of `protect` of the document and of the base policy over it. */
function findProtection({ protect, base }: CompiledPolicy): ProtectionLevel | undefined {
  const isStrict = protect === 'strict' || base?.protect === 'strict'
  return isStrict ? 'strict' : (protect ?? base?.protect)
}

function toProtectionView(policy: CompiledPolicy) {
  const level = findProtection(policy)
  if (level === undefined) return { protect: [], trust: {} }
  const answers = describeProtectionAnswers(level)
  const trust = trustInForce(policy)
    .entries()
    .map(([tool, fields]) => [tool, fields === 'all' ? fields : describeFields(fields)])
  return {
    protect: listProtectionParts(level),
    trust: Object.fromEntries(trust),
    ...pickDefined({ answers }),
  }
}

/** As a document writes them. */
function describeFields(fields: readonly TrustedField[]): Record<string, string> {
  return Object.fromEntries(fields.map(({ path, word }) => [path.join('.') || '.', word]))
}

/** As the guardrails that a document would write itself. */
function showProtection(policy: CompiledPolicy, output: Output): void {
  const { protect: parts, trust, answers } = toProtectionView(policy)
  output.line()
  if (parts.length === 0)
    return output.line('the document has no `protect`; `protect: balanced` is a good start')
  output.line(`# what \`protect\` stands for`)
  output.line('guardrails:')
  for (const { name, when, stops, costs, measured } of parts) {
    output.line(`  # stops: ${stops}`)
    output.line(`  # costs: ${costs}`)
    output.line(`  # measured: ${measured}`)
    output.line(`  - name: "${name}"`)
    output.line('    match: { methods: [tools/call] }')
    output.line(`    when: ${when}`)
    output.line('    action: require_approval')
  }
  if (Object.keys(trust).length > 0) output.line('trust:')
  for (const [tool, fields] of Object.entries(trust))
    output.line(printable(`  ${JSON.stringify(tool)}: ${JSON.stringify(fields)}`))
  if (answers === undefined) return
  output.line('answers:')
  output.line(`  # stops: ${answers.stops}`)
  output.line(`  # costs: ${answers.costs}`)
  output.line(
    `  "*/*": { redact: [${answers.redact.join(', ')}], links: [${answers.links.join(', ')}] }`,
  )
}

/** The configuration that names the policy: the gate's, or the one beside the file. Warns of servers that can
 * reach the gate's own files. */
async function readConfigOf(
  { file: policy, config: gate }: PolicySource,
  output: Output,
): Promise<GateConfig | undefined> {
  const file = gate ?? join(dirname(policy), CONFIG)
  if (!existsSync(file)) return undefined
  const text = readText(file)
  const { readConfig } = await import('@sluice/gateway/config/config')
  const { config, problems } = readConfig({ file, text }, loadEnvironment(file, undefined))
  for (const problem of problems)
    if (problem.severity === 'warning' && problem.code === 'CONFIG_SERVER')
      output.problem(problem, text)
  if (config === undefined) return undefined
  const named = [config.policy, ...Object.values(config.policies)]
  return named.includes(resolve(policy)) ? config : undefined
}

/** Loaded here: most documents that are checked are not those of a gate. */
async function whyNotInForce(config: GateConfig): Promise<string | undefined> {
  return (await import('./policy-in-force.ts')).explainNotInForce(config)
}

/** `line`: under `classify:`, once somebody has looked. */
type SchemaGuess = ReturnType<typeof guessesOf>[number]

/** Tools whose class is a guess, and that the document says nothing of. */
function guessesOf(policy: CompiledPolicy, tools: readonly KnownTool[]) {
  return tools
    .filter((tool) => tool.unknown === true && !getRulesForTool(policy, tool).classified)
    .map((known) => {
      const tool = toToolId(known)
      const { category, risk } = known
      return { tool, category, risk, unknown: true, line: `${JSON.stringify(tool)}: ${category}` }
    })
}

function printGuesses(guesses: readonly SchemaGuess[], output: Output): void {
  const count = plural(guesses.length, 'tool')
  output.line(
    `${count} of unknown class, judged as the guess or as Execute, whichever is stricter. Where the guess is right, its line settles it:`,
  )
  output.line('  classify:')
  for (const { line } of guesses) output.line(`    ${printable(line)}`)
}
