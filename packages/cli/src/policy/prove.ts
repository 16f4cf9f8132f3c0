// `sluice policy prove`: properties over every known tool and every branch of every rule. What is
// refuted comes with the command that shows it.

import { UNSEEN } from '@sluice/guard/show/visible-text'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { bindClaim } from '@sluice/policy/cases/find-call'
import { GUARD_LABELS } from '@sluice/policy/cases/label-sources'
import { type Property, readProperties } from '@sluice/policy/cases/properties'
import { listCovered, type PropertyProof, prove, type ToolProof } from '@sluice/policy/cases/prove'
import { nearest } from '@sluice/policy/document/nearest'
import { globMatches } from '@sluice/policy/language/glob'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import {
  loadGatePolicy,
  POLICY,
  type PolicyOptions,
  type PolicySource,
} from '../connect/gate-policy.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { getRuleLocation } from '../terminal/explanation.ts'
import { type Output, plural, printable, toJsonLine } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readTools, suggestTool } from '../terminal/read-tools.ts'

const EXAMPLES = `
Examples:
  sluice policy prove properties.yaml --policy policy.yaml --tools tools.json

A file of properties:
  properties:
    - name: nothing destructive runs without a person
      never: { category: Destructive, action: allow }
    - always: { tool: "docs/*", action: [allow, require_approval] }
    - never: { tool: shop/refund, when: "args.amount > 5000.0", action: allow }
    - name: private data reaches no mail without a person
      never: { tool: "mail/send_*", after: [private, untrusted], action: allow }
Claims take category, risk, tool, server and action, each one or a list. when is a condition as in a
rule: the claim is about calls of which it is true. after names labels: the claim is about calls of
a session that has all of them, after any sequence of calls that passed without a person.

proved      no branch of any rule breaks it, every branch taken as possible
refuted     a call that breaks it, or the shortest sequence, with the commands that show it
not proved  a branch would break it, and no call was found that reaches the branch
Limits are taken as not yet reached, and so are time and counts of calls taken as possible. Exit
code 0 only if all are proved. A tool, server, label or argument that is named and not known is
an error.`

const OPTIONS = {
  ...POLICY,
  '--tools <file>': { doc: 'known tools', required: true },
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'prove',
  args: { '<properties>': 'a YAML file of properties' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: ({ properties: file, ...options }, output) => run(file, options, output),
})

async function run(file: string, options: Options, output: Output): Promise<0 | 1> {
  const { policy, source, proofs } = await proveFile(file, options, output)
  output.value({
    proved: proofs.every((proof) => proof.result === 'proved'),
    proofs: proofs.map(toProofView),
  })
  const files = { policy: source.file, house: source.house, tools: options.tools }
  for (const proof of proofs) print(proof, policy, files, output)
  return proofs.every((proof) => proof.result === 'proved') ? 0 : 1
}

interface ProvedFile {
  readonly policy: CompiledPolicy
  /** Where the policy was read from. */
  readonly source: PolicySource
  readonly proofs: readonly PropertyProof[]
}

/** The files that a command needs to show a call again. */
interface UsedFiles {
  readonly policy: string
  readonly house: string | undefined
  readonly tools: string
}

/** Reads one file of properties with the policy and the tools, and proves it. */
export async function proveFile(
  file: string,
  options: PolicyOptions & Pick<Options, 'tools'>,
  output: Output,
): Promise<ProvedFile> {
  const properties = loadProperties(file, output)
  const tools = await readTools(options.tools)
  for (const property of properties) checkNames(property, tools, file, options.tools)
  const { policy, source } = loadGatePolicy(options, output)
  for (const property of properties) {
    checkLabels(property, policy, file)
    checkArguments(property, listCovered(policy, property, tools), file)
  }
  return { policy, source, proofs: properties.map((property) => prove(policy, property, tools)) }
}

function loadProperties(file: string, output: Output): Property[] {
  const text = readText(file)
  const { properties, problems } = readProperties({ file, text })
  for (const problem of problems) output.problem(problem, text)
  if (properties === undefined)
    throw new CliError(
      'CLI_ARGUMENT',
      `\`${file}\` is not a file of properties`,
      '`sluice policy prove --help` has an example',
      problems,
    )
  if (properties.length > 0) return properties
  throw new ArgumentError(`\`${file}\` claims nothing`, 'add a property')
}

/** Nothing is easily proved of a tool that is not there: a misspelt name must not read as proved. */
function checkNames(
  { line, tools: globs = [], servers = [] }: Property,
  tools: readonly KnownTool[],
  file: string,
  toolsFile: string,
): void {
  const known = new Set(tools.map(({ definition }) => definition.server))
  const tool = globs.find(
    (glob) => !tools.some(({ definition: one }) => globMatches(glob, one.server, one.name)),
  )?.key
  const server = servers.find((one) => !known.has(one))
  if (tool === undefined && server === undefined) return
  const near = server === undefined ? undefined : nearest(server, known)
  const meant = tool === undefined ? near && `did you mean \`${near}\`?` : suggestTool(tool, tools)
  throw new ArgumentError(
    `${file}:${line}: no tool in \`${toolsFile}\` is \`${tool ?? server}\`, so nothing would be proved`,
    meant ?? 'check the spelling, or take the property out',
  )
}

/** A label that nothing brings is in no session: a claim after it would always read as proved. */
function checkLabels(
  { line, after = [] }: Property,
  { labels, file: policyFile }: CompiledPolicy,
  file: string,
): void {
  const known = new Set([...labels.values().flat(), ...GUARD_LABELS])
  const unknown = after.find((label) => !known.has(label))
  if (unknown === undefined) return
  const near = nearest(unknown, known)
  throw new ArgumentError(
    `${file}:${line}: nothing in \`${policyFile}\` brings the label \`${unknown}\`, so nothing would be proved`,
    near ? `did you mean \`${near}\`?` : 'add it to `labels` of the policy, or take the claim out',
  )
}

/** An argument that no tool declares is a typo, although a call could have it. */
function checkArguments(property: Property, covered: readonly KnownTool[], file: string): void {
  const { line, when } = property
  if (when === undefined || covered.length === 0) return
  if (covered.some((tool) => bindClaim({ ...property, kind: 'always' }, tool) !== undefined)) return
  throw new ArgumentError(
    `${file}:${line}: \`${when.text}\` fits the arguments of no tool that the claim is about, so nothing would be proved`,
    'check the names and types of the arguments in the file of tools',
  )
}

const STYLES = { proved: 'green', refuted: 'red', 'not proved': 'yellow' } as const

function print(
  { property, result, tools }: PropertyProof,
  policy: CompiledPolicy,
  files: UsedFiles,
  output: Output,
): void {
  output.line(
    `${output.paint(STYLES[result], result.padEnd(10))}  ${printable(property.name)} ${output.paint('dim', `(${plural(tools.length, 'tool')})`)}`,
  )
  if (tools.length === 0)
    output.line(
      output.paint('yellow', '            no known tool is one of these: nothing was tried'),
    )
  for (const proof of tools.filter((one) => one.result !== 'proved').slice(0, 5))
    printTool(proof, policy, files, output)
  const more = tools.filter((one) => one.result !== 'proved').length - 5
  if (more > 0) output.dim(`            and ${plural(more, 'tool')} more (--json has all)`)
}

function printTool(
  proof: ToolProof,
  policy: CompiledPolicy,
  files: UsedFiles,
  output: Output,
): void {
  if (proof.result === 'refuted') {
    const by = getRuleLocation(policy, proof.rule)
    for (const [index, step] of (proof.sequence ?? []).entries()) {
      const brings = step.brings.length > 0 ? `, brings ${printable(step.brings.join(', '))}` : ''
      output.line(`            ${index + 1}. ${printable(step.tool)}: allow${brings}`)
      if (!step.tool.includes(' ')) output.dim(`               ${command(step, files)}`)
    }
    const number = proof.sequence === undefined ? '' : `${proof.sequence.length + 1}. `
    output.line(`            ${number}${printable(proof.tool)}: ${proof.action} by ${by}`)
    output.dim(`            ${command(proof, files)}`)
  } else if (proof.result === 'not proved')
    output.line(
      `            ${printable(proof.tool)}: ${printable(proof.branch)}, but no call was found that does this`,
    )
}

/** What a person types to see the call that breaks the property. */
function command(
  { tool, sample }: Pick<ToolProof & { result: 'refuted' }, 'tool' | 'sample'>,
  files: UsedFiles,
): string {
  const parts = [
    'sluice policy explain',
    quote(tool),
    '--policy',
    quote(files.policy),
    '--tools',
    quote(files.tools),
  ]
  if (files.house !== undefined) parts.push('--house', quote(files.house))
  if (Object.keys(sample.args).length > 0) parts.push('--args', quote(toJsonLine(sample.args)))
  if (Object.keys(sample.facts).length > 0) parts.push('--facts', quote(toJsonLine(sample.facts)))
  if (sample.nowMs !== 0) parts.push('--at', new Date(sample.nowMs).toISOString())
  return parts.join(' ')
}

/** For a POSIX shell; control characters in the form of bash and zsh, which the screen survives. */
function quote(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text
  if (printable(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`
  const point = (character: string) => (character.codePointAt(0) as number).toString(16)
  const shown = text
    .replace(/[\\']/g, '\\$&')
    .replace(UNSEEN, (character) => `\\U${point(character).padStart(8, '0')}`)
  return `$'${shown}'`
}

function toProofView({ property, result, tools }: PropertyProof) {
  return { name: property.name, result, tools }
}
