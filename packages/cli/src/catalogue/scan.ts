// `sluice scan`: connects to servers, lists their tools and says what each can do: a table by class
// and risk, JSON, an HTML page, a file of definitions, or a short version for an agent. Fails on what is asked for, in
// a build. Starts nothing that was not named.

import { existsSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type AssessmentWithAttacks, getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import { countTools, serverPage, summaryOf } from '@sluice/catalogue/pages/server-page'
import { readLock } from '@sluice/catalogue/pins/lock-file'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { htmlOf, STYLE } from '@sluice/guard/show/page-html'
import { CATEGORIES, RISKS, type ToolDefinition } from '@sluice/policy/calls/tools'
import { didYouMean } from '@sluice/policy/document/nearest'
import type { CiCheck } from '../ci/ci-report.ts'
import { writeSarif } from '../ci/write-sarif.ts'
import { CONFIG } from '../connect/find-config.ts'
import { loadConfig } from '../connect/load-config.ts'
import { suggestKnownPolicy } from '../packs/known-fields.ts'
import { listAllTools } from '../servers/list-all-tools.ts'
import { listServerTools } from '../servers/list-server-tools.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { BRIEF_CHARS_MAX } from '../terminal/limits.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readDefinitions } from '../terminal/read-tools.ts'
import { listInstructions } from '../terminal/server-instructions.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'
import { formatEvidence } from './classify.ts'
import {
  type ListedTools,
  listConfiguredTools,
  nameBuiltin,
  recogniseOwnTools,
  remarkLeftOut,
} from './list-tools.ts'
import {
  FINDING_KINDS,
  type FindingKind,
  type LockedPin,
  listFindings,
  type ScanFinding,
} from './scan-findings.ts'
import { listSeenTools, writeDefinitions } from './tools.ts'

const EXAMPLES = `
Examples:
  sluice scan -- npx -y @modelcontextprotocol/server-filesystem ./workspace
  sluice scan --url https://mcp.example.com/mcp
  sluice scan --config sluice.yaml           # all servers of a configuration, built-in ones too
  sluice scan --tools tools.json --html scan.html
  sluice scan --config sluice.yaml --policy policy.yaml   # and a policy that fits them
  sluice scan --tools tools.json --brief     # under ${BRIEF_CHARS_MAX} characters, for an agent
  sluice scan --tools tools.json --evidence  # how sure each class is, and the words that say so
  sluice scan --config sluice.yaml --out tools.json       # the file that \`sluice policy … --tools\` reads
  sluice scan --seen --out tools.json        # what the gate has seen of its servers; starts nothing
  sluice scan --config sluice.yaml --fail-on held,changed --sarif scan.sarif

--fail-on names what ends a build with exit code 1: \`held\` a definition that a gate would hold (hidden text, orders to
the model), \`changed\` one that is not, with the instructions of its server, as sluice.lock pins it, or not in it, \`unknown\` a class that is a guess,
\`destructive\` a tool that destroys. \`sluice pin\` writes sluice.lock; what it pins is not held.

A server of the configuration that cannot be listed is left out with a warning, and the exit code is 1.`

const OPTIONS = {
  '--url <url>': 'a server over HTTP',
  '--config <file>': 'the servers of a configuration',
  '--tools <file>':
    'definitions that are known: a JSON array, each with "server"; `-` is standard input',
  '--seen': 'what the gate has seen of its servers; none is started',
  '--data <dir>': 'the data directory, with --seen',
  '--name <name>': ['what to call the server of a command or url', 'server'],
  '--html <file>': 'write a page',
  '--brief': 'a short version for an agent',
  '--evidence': 'how sure each class is, and the words that say so',
  '--out <file>': 'write the definitions, for `sluice policy … --tools`',
  '--fail-on <list>': 'exit with 1 if there is one of these: held, changed, unknown, destructive',
  '--lock <file>': ['what was accepted, for --fail-on', 'sluice.lock'],
  '--sarif <file>': 'with --fail-on: write what was found as SARIF, for code scanning',
  '--policy <file>': 'write a working policy for these tools that denies by default',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'scan',
  args: { '[command...]': 'a server over stdio: its program and arguments, after --' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: async ({ command, ...options }, output) => {
    const listed = await toolsOf(command, options, output)
    const { tools, ignore = [] } = listed
    const kinds = readKinds(options.failOn)
    const pins = readPins(options, kinds)
    const findings = listFindings(tools, kinds, pins, ignore)
    remarkLeftOut(listed, output)
    if (options.out !== undefined) writeDefinitions(listed, options.out)
    if (options.policy !== undefined) writePolicy(options.policy, tools, output)
    if (options.html !== undefined) writeFileSync(options.html, pageOf(tools))
    printTools(listed, findings, options, output)
    if (options.sarif !== undefined)
      writeFileSync(options.sarif, writeSarif(toChecks(findings, options), readPackageVersion()))
    return listed.leftOut.length === 0 && findings.length === 0 ? 0 : 1
  },
})

async function toolsOf(
  command: readonly string[],
  options: Options,
  output: Output,
): Promise<ListedTools> {
  const { url, config, tools, name, seen } = options
  // With --seen the configuration only says where the data are.
  const named = [url, seen ?? config, tools].map((one) => one !== undefined)
  const given = [command.length > 0, ...named]
  if (given.filter(Boolean).length !== 1)
    throw new ArgumentError(
      'what is to be scanned?',
      'name one: `-- COMMAND`, --url, --config, --tools or --seen',
    )
  if (seen === true) return listSeenTools({ ...options, config: config ?? CONFIG })
  if (config !== undefined) return listConfiguredTools(loadConfig({ config }, output), output)
  if (tools !== undefined) return { tools: readDefinitions(tools), leftOut: [] }
  const list = () => listServerTools(name, url === undefined ? { command } : { url })
  const [listing] = await listAllTools([{ name, list }], output)
  if (listing === undefined || 'error' in listing) throw listing?.error
  await recogniseOwnTools(listing.tools)
  return { tools: listing.tools, leftOut: [] }
}

/** Throws if a word is none of them. */
function readKinds(list: string | undefined): ReadonlySet<FindingKind> {
  const words = list?.split(',').map((word) => word.trim()) ?? []
  for (const word of words)
    if (!FINDING_KINDS.some((kind) => kind === word))
      throw new ArgumentError(
        `--fail-on has \`${word}\``,
        didYouMean(word, FINDING_KINDS, `it takes ${FINDING_KINDS.join(', ')}, with commas`),
      )
  return new Set(words as FindingKind[])
}

/** The lock file, beside the configuration if there is one. Undefined without one. */
function readPins(
  { config, lock }: Options,
  kinds: ReadonlySet<FindingKind>,
): LockedPin[] | undefined {
  const file = resolve(config === undefined ? '.' : dirname(config), lock)
  if (!existsSync(file)) {
    if (!kinds.has('changed')) return undefined
    throw new ArgumentError(
      `\`${file}\` is not there, so nothing can be compared with it`,
      '`sluice pin` writes it; --lock names another, and without `changed` none is needed',
    )
  }
  return readText(file)
    .split('\n')
    .flatMap((text, index) => {
      const read = readLock(text)
      if ('line' in read)
        throw new ArgumentError(
          `line ${index + 1} of \`${file}\` is not a pin`,
          '`sluice pin` writes the file',
        )
      return read.pins.map((pin) => ({ ...pin, line: index + 1 }))
    })
}

/** Each at its line of the lock file, or at the top of what names the server. */
function toChecks(findings: readonly ScanFinding[], options: Options): CiCheck[] {
  const source = options.config ?? options.tools ?? options.lock
  return findings.map(({ kind, server, name, message, help, line }) => ({
    rule: `scan-${kind}`,
    name: `${server}/${name}`,
    level: 'failed',
    file: line === undefined ? source : options.lock,
    line: line ?? 1,
    message: `${server}/${name}: ${message}`,
    help,
  }))
}

/** Never over a policy that somebody has. */
function writePolicy(file: string, tools: readonly ToolDefinition[], output: Output): void {
  const { yaml, special } = suggestKnownPolicy(tools)
  writeNewFile(file, yaml)
  output.remark(
    `wrote ${file}; tools with their own rule: ${special.length}; try it with \`sluice policy check ${file}\``,
  )
}

function printTools(
  { tools, leftOut }: ListedTools,
  findings: readonly ScanFinding[],
  options: Options,
  output: Output,
): void {
  const assessed = tools.map((definition) => ({ definition, ...getAssessment(definition) }))
  const counted = countTools(tools)
  output.value({
    summary: summaryOf(counted),
    ...counted,
    list: assessed.map(({ definition, ...rest }) => ({
      server: definition.server,
      name: definition.name,
      ...rest,
    })),
    ...nameBuiltin(tools),
    ...listInstructions(tools),
    definitions: tools,
    leftOut,
    findings,
  })
  for (const { kind, server, name, message, help } of findings) {
    output.line(
      `${output.paint('red', kind)}: ${printable(`${server}/${name}`)}: ${printable(message)}`,
    )
    output.line(`  ${help}`)
  }
  if (options.evidence === true) {
    for (const definition of tools) output.line(formatEvidence(definition))
    return
  }
  if (options.brief === true) return output.line(brief(assessed, summaryOf(counted)))
  const sorted = [...assessed].sort(
    (a, b) =>
      Number(a.unknown) - Number(b.unknown) ||
      CATEGORIES.indexOf(b.category) - CATEGORIES.indexOf(a.category) ||
      RISKS.indexOf(b.risk) - RISKS.indexOf(a.risk),
  )
  for (const one of sorted) output.line(formatScannedTool(one, output))
  output.line(summaryOf(counted))
  if (assessed.some(({ attacks }) => attacks.length > 0))
    output.remark('A01 to A99 are attacks on such tools: docs/reference/attacks.md')
  const parted = assessed.filter(({ disagreements }) => disagreements.length > 0)
  if (parted.length > 0)
    output.line(
      `${plural(parted.length, 'tool')} whose vendor's hints contradict the definition: ${parted.map(({ definition }) => printable(`${definition.server}/${definition.name}`)).join(', ')}`,
    )
}

type ScannedTool = AssessmentWithAttacks & { readonly definition: ToolDefinition }

const STYLES = { low: 'green', medium: 'cyan', high: 'yellow', critical: 'red' } as const

function formatScannedTool(
  { definition, category, risk, unknown, attacks }: ScannedTool,
  output: Output,
): string {
  const id = printable(`${definition.server}/${definition.name}`)
  const known = attacks.map(({ id: attack }) => attack).join(' ')
  const label = unknown
    ? output.paint('dim', `unknown, perhaps ${category}`.padEnd(22))
    : `${category.padEnd(12)} ${output.paint(STYLES[risk], risk.padEnd(9))}`
  return `${label} ${id}${known === '' ? '' : `  ${output.paint('dim', known)}`}`
}

/** What an agent should know, in what its context can spare. */
function brief(assessed: readonly ScannedTool[], summary: string): string {
  const lines = [summary]
  for (const category of [...CATEGORIES].reverse()) {
    if (category === 'Read') continue
    const names = assessed
      .filter((one) => one.category === category && !one.unknown)
      .map(({ definition }) => printable(`${definition.server}/${definition.name}`))
    if (names.length > 0) lines.push(`${category}: ${names.join(', ')}`)
  }
  const guesses = assessed
    .filter(({ unknown }) => unknown)
    .map(
      (one) =>
        `${printable(`${one.definition.server}/${one.definition.name}`)} (perhaps ${one.category})`,
    )
  if (guesses.length > 0) lines.push(`unknown: ${guesses.join(', ')}`)
  const text = lines.join('\n')
  return text.length < BRIEF_CHARS_MAX ? text : `${text.slice(0, BRIEF_CHARS_MAX - 20)} … and more`
}

function pageOf(tools: readonly ToolDefinition[]): string {
  const servers = [...new Set(tools.map(({ server }) => server))]
  const page = serverPage(servers.join(', ') || 'no server', tools, ({ name }) => name)
  const plain = {
    ...page,
    sections: page.sections.map((section) => ({
      ...section,
      blocks: section.blocks.map((block) =>
        block.kind === 'table'
          ? {
              ...block,
              rows: block.rows.map((row) =>
                row.map((cell) => (typeof cell === 'string' ? cell : cell.text)),
              ),
            }
          : block,
      ),
    })),
  }
  // One file: the style goes into it.
  return htmlOf(plain, { root: '', trail: [] })
    .replace('<link rel="stylesheet" href="style.css">', `<style>${STYLE}</style>`)
    .replace("style-src 'self'", "style-src 'unsafe-inline'")
    .replace(/<nav.*<\/nav>\n/, '')
}
