// `sluice policy add PACK`: adds the rules of a pack to a policy, and says how the server here differs from
// the one that the pack was tested with. Without a name it lists the packs.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, pinOf } from '@sluice/catalogue/pins/pin'
import { sha256 } from '@sluice/gateway/tools/pins'
import { writeWhole } from '@sluice/ledger/store/files/write-whole'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { DIRECTORY } from '../connect/find-data.ts'
import { findPolicy, TOOLS } from '../connect/gate-policy.ts'
import { listPacks, loadPack, type Pack, type PackDefinitions } from '../packs/load-pack.ts'
import { type MergedPolicy, mergePack, renameServer } from '../packs/merge-pack.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { loadPolicy } from '../terminal/load-policy.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readDefinitions } from '../terminal/read-tools.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'
import { readSeenTools } from './seen-tools.ts'

const EXAMPLES = `
Examples:
  sluice policy add                           # which packs there are
  sluice policy add github                    # its rules into the gate's policy
  sluice policy add github --server gh        # the server is called gh here
  sluice policy add github --tests tests      # and its cases and properties beside them
  sluice policy add github --check            # is the server still the one it was tested with?
  sluice policy add github --policy new.yaml  # into a file, which is made if it is missing

Comments and rules of the policy stay; a rule that it already has is kept instead of the pack's.
The server here is compared by the definitions that the gate has seen of it, or by --tools. Rules for tools
that it does not have are left out. Exit code 1 with --check if it differs.`

const OPTIONS = {
  ...DIRECTORY,
  '--policy <file>': "a policy document, instead of the gate's; made if it is missing",
  '--server <name>': 'name of the server here, if not that of the pack',
  ...TOOLS,
  '--tests <folder>': 'write the cases and properties of the pack there',
  '--check': 'only compare the server with the version that the pack was tested with',
  '--dry-run': 'print the merged policy and write nothing',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'add',
  args: { '[pack]': 'the name of the pack' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: ({ pack: name, ...options }, output) => {
    return name === undefined ? list(output) : addPack(loadPack(name), options, output)
  },
})

function list(output: Output): 0 {
  const packs = listPacks().map((name) => {
    const { definitions } = loadPack(name)
    const { package: server, version, tools } = definitions
    return { name, server, version, tools: Object.keys(tools).length }
  })
  output.value({ packs })
  for (const { name, server, version, tools } of packs)
    output.line(`${name.padEnd(12)} ${plural(tools, 'tool')} of ${server} ${version}`)
  return 0
}

function addPack(pack: Pack, options: Options, output: Output): 0 | 1 {
  const server = options.server ?? pack.name
  if (!/^[\w.-]+$/.test(server))
    throw new ArgumentError(`--server is \`${server}\``, 'the name in sluice.yaml')
  const known = findTools(server, options)
  const differences = known && compareDefinitions(pack.definitions, known, sha256)
  if (options.check === true) return check(pack, differences, output)
  const { file, isNew, before } = readTarget(options, output)
  const tools = known && new Set(known.map(({ name }) => name))
  const merged = merge(before, file, { pack, server, tools })
  if (options.dryRun === true) process.stdout.write(merged.text)
  else if (isNew) writeFileSync(file, merged.text, { flag: 'wx' })
  else writeWhole(file, merged.text)
  const { text: _, ...result } = merged
  output.value({ pack: pack.name, file, ...result, differences })
  if (options.dryRun !== true) printMerged(pack, file, merged, output)
  printDifferences(pack, differences, output)
  if (options.tests !== undefined && options.dryRun !== true)
    writeTests(pack, server, { folder: options.tests, policy: file }, output)
  return 0
}

const NEW_POLICY = `# yaml-language-server: $schema=./node_modules/sluice/schema/policy.json
version: 1
default: deny
`

interface PolicyTarget {
  readonly file: string
  /** The file is not there yet. */
  readonly isNew: boolean
  /** Its text, or that of an empty policy. */
  readonly before: string
}

/** Only a file that `--policy` names is made: a policy that no gate reads would protect nobody. */
function readTarget(options: Options, output: Output): PolicyTarget {
  const { file, isWithin, config } = findPolicy(options)
  if (isWithin)
    throw new CliError(
      'CLI_POLICY',
      `the policy is a part of \`${file}\`, and the pack's rules are added to a file`,
      'move what is under `policy:` to a file of its own and name it there, or pass --policy FILE',
    )
  const isNew = config === undefined && !existsSync(file)
  if (isNew) return { file, isNew, before: NEW_POLICY }
  return { file, isNew, before: loadPolicy(file, {}, output).text }
}

/** Undefined if nothing is known of the server. */
function findTools(server: string, options: Options): readonly ToolDefinition[] | undefined {
  const all =
    options.tools === undefined
      ? readSeenTools(options.data).map(({ definition }) => definition)
      : readDefinitions(options.tools)
  const own = all.filter((definition) => definition.server === server)
  if (own.length > 0) return own
  if (options.tools === undefined) return undefined
  const names = [...new Set(all.map((definition) => definition.server))]
  throw new CliError(
    'CLI_TOOLS',
    `\`${options.tools}\` has no tools of \`${server}\``,
    `pass --server: it has ${names.map((name) => `\`${name}\``).join(', ')}`,
  )
}

function merge(
  before: string,
  file: string,
  options: Parameters<typeof mergePack>[1],
): MergedPolicy {
  let merged: MergedPolicy
  try {
    merged = mergePack(before, options)
  } catch (error) {
    throw new CliError(
      'CLI_POLICY',
      `the pack cannot be added to \`${file}\`: ${(error as Error).message}`,
      '`sluice policy add PACK --dry-run --policy new.yaml` prints its rules to copy',
    )
  }
  const { policy, problems } = compile({ file, text: merged.text })
  if (policy !== undefined) return merged
  throw new CliError(
    'CLI_POLICY',
    `\`${file}\` would have errors with the pack: ${problems[0]?.message}`,
    'nothing was written; fix what the message names, or add the rules by hand',
    problems,
  )
}

function check(pack: Pack, differences: PackDifferences | undefined, output: Output): 0 | 1 {
  output.value({ pack: pack.name, differences: differences ?? null })
  printDifferences(pack, differences, output)
  return differences !== undefined && isSameServer(differences) ? 0 : 1
}

function printMerged(
  { name }: Pack,
  file: string,
  { added, kept, leftOut }: MergedPolicy,
  output: Output,
): void {
  const counts = Object.entries(added).map(([section, count]) => `${count} under ${section}`)
  output.line(
    counts.length === 0
      ? `${printable(file)} has everything of \`${name}\` already`
      : `added \`${name}\` to ${printable(file)}: ${counts.join(', ')}`,
  )
  if (kept.length > 0) output.line(`yours stay: ${[...new Set(kept)].map(printable).join(', ')}`)
  if (leftOut.length > 0)
    output.line(`left out, the server has no such tool: ${[...new Set(leftOut)].join(', ')}`)
  if (counts.length > 0)
    output.dim(
      `next: \`sluice policy check ${printable(file)}\`; if a gate runs with it, \`sluice policy apply\``,
    )
}

function printDifferences(
  { name, definitions }: Pack,
  differences: PackDifferences | undefined,
  output: Output,
): void {
  const tested = `${definitions.package} ${definitions.version}`
  if (differences === undefined)
    return output.dim(
      `tested with ${tested}; not compared with your server: connect a client once, or pass --tools`,
    )
  if (isSameServer(differences))
    return output.line(`your server is the one it was tested with: ${tested}`)
  output.line(
    output.paint('yellow', `your server is not the one \`${name}\` was tested with, ${tested}:`),
  )
  const lines: [string, readonly string[]][] = [
    ['new, no rule of the pack names them', differences.added],
    ['another definition: look at their rules', differences.changed],
    ['not there', differences.missing],
  ]
  for (const [what, names] of lines)
    if (names.length > 0) output.line(`  ${what}: ${names.map(printable).join(', ')}`)
}

function writeTests(
  pack: Pack,
  server: string,
  { folder, policy }: { readonly folder: string; readonly policy: string },
  output: Output,
): void {
  mkdirSync(folder, { recursive: true })
  for (const part of ['cases', 'properties'] as const) {
    const file = join(folder, `${server}.${part}.yaml`)
    // The policy is named with --policy: where it is, seen from the folder, is not known for sure.
    const text = renameServer(pack[part], pack.name, server).replace(/^policy: .*\n/, '')
    if (existsSync(file) && readText(file) === text) continue
    writeNewFile(file, text)
    output.line(`wrote ${printable(file)}`)
  }
  const file = (part: string) => printable(join(folder, `${server}.${part}.yaml`))
  const by = `--policy ${printable(policy)}`
  for (const line of [
    `run them: \`sluice policy test ${file('cases')} ${by}\``,
    `\`sluice scan --config sluice.yaml --out tools.json\`, then \`sluice policy prove ${file('properties')} ${by} --tools tools.json\``,
  ])
    output.dim(line)
}

type PackDifferences = ReturnType<typeof compareDefinitions>

/**
 * How the tools of a server differ from those that a pack was tested with: new ones, missing ones, and ones
 * whose definition is another. Pure.
 */
function compareDefinitions(
  { tools: tested }: PackDefinitions,
  definitions: readonly ToolDefinition[],
  digest: Digest,
) {
  const known = new Map(definitions.map((definition) => [definition.name, definition]))
  const isChanged = (name: string) => {
    const definition = known.get(name)
    return definition !== undefined && pinOf(definition, digest) !== tested[name]
  }
  return {
    added: [...known.keys()].filter((name) => !Object.hasOwn(tested, name)).sort(),
    missing: Object.keys(tested).filter((name) => !known.has(name)),
    changed: Object.keys(tested).filter(isChanged),
  }
}

function isSameServer({ added, missing, changed }: PackDifferences): boolean {
  return added.length + missing.length + changed.length === 0
}
