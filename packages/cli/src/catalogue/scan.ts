// `sluice scan`: connects to servers, lists their tools and says what each can do: a table by class
// and risk, JSON, an HTML page, or a short version for an agent. Starts nothing that was not named.

import { writeFileSync } from 'node:fs'
import { type AssessmentWithAttacks, getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import { countTools, serverPage, summaryOf } from '@sluice/catalogue/pages/server-page'
import { htmlOf, STYLE } from '@sluice/guard/show/page-html'
import { CATEGORIES, RISKS, type ToolDefinition } from '@sluice/policy/calls/tools'
import { loadConfig } from '../connect/load-config.ts'
import { suggestKnownPolicy } from '../packs/known-fields.ts'
import { listAllTools } from '../servers/list-all-tools.ts'
import { listServerTools } from '../servers/list-server-tools.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { BRIEF_CHARS_MAX } from '../terminal/limits.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readDefinitions } from '../terminal/read-tools.ts'
import { writeNewFile } from '../terminal/write-new-file.ts'
import {
  type ListedTools,
  listConfiguredTools,
  nameBuiltin,
  recogniseOwnTools,
  remarkLeftOut,
} from './list-tools.ts'

const EXAMPLES = `
Examples:
  sluice scan -- npx -y @modelcontextprotocol/server-filesystem ./workspace
  sluice scan --url https://mcp.example.com/mcp
  sluice scan --config sluice.yaml           # all servers of a configuration, built-in ones too
  sluice scan --tools tools.json --html scan.html
  sluice scan --config sluice.yaml --policy policy.yaml   # and a policy that fits them
  sluice scan --tools tools.json --brief     # under ${BRIEF_CHARS_MAX} characters, for an agent

A server of the configuration that cannot be listed is left out with a warning, and the exit code is 1.`

const OPTIONS = {
  '--url <url>': 'a server over HTTP',
  '--config <file>': 'the servers of a configuration',
  '--tools <file>': 'definitions that are known: a JSON array, each with "server"',
  '--name <name>': ['what to call the server of a command or url', 'server'],
  '--html <file>': 'write a page',
  '--brief': 'a short version for an agent',
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
    const { tools } = listed
    remarkLeftOut(listed, output)
    if (options.policy !== undefined) writePolicy(options.policy, tools, output)
    if (options.html !== undefined) writeFileSync(options.html, pageOf(tools))
    printTools(listed, options, output)
    return listed.leftOut.length === 0 ? 0 : 1
  },
})

async function toolsOf(
  command: readonly string[],
  { url, config, tools, name }: Options,
  output: Output,
): Promise<ListedTools> {
  const given = [command.length > 0, url !== undefined, config !== undefined, tools !== undefined]
  if (given.filter(Boolean).length !== 1)
    throw new ArgumentError(
      'what is to be scanned?',
      'name one: `-- COMMAND`, --url, --config or --tools',
    )
  if (config !== undefined) return listConfiguredTools(loadConfig({ config }, output), output)
  if (tools !== undefined) return { tools: readDefinitions(tools), leftOut: [] }
  const list = () => listServerTools(name, url === undefined ? { command } : { url })
  const [listing] = await listAllTools([{ name, list }], output)
  if (listing === undefined || 'error' in listing) throw listing?.error
  await recogniseOwnTools(listing.tools)
  return { tools: listing.tools, leftOut: [] }
}

/** Never over a policy that somebody has. */
function writePolicy(file: string, tools: readonly ToolDefinition[], output: Output): void {
  const { yaml, special } = suggestKnownPolicy(tools)
  writeNewFile(file, yaml)
  output.remark(
    `wrote ${file}; tools with their own rule: ${special.length}; try it with \`sluice policy check ${file}\``,
  )
}

function printTools({ tools, leftOut }: ListedTools, options: Options, output: Output): void {
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
    definitions: tools,
    leftOut,
  })
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
