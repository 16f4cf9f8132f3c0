// Writes docs/reference/cli.md from the definitions of the commands and the table of operations. Run by
// hand after one of them has changed (`node scripts/cli-page.ts`); a test compares.

import type { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, type Option } from 'commander'
import { COMMANDS } from '../packages/cli/src/commands.ts'
import { addLoaded } from '../packages/cli/src/terminal/lazy-commands.ts'
import { OPERATIONS } from '../packages/gateway/src/operations/table.ts'
import { ROOT } from './run-step.ts'

export const CLI_PAGE = join(ROOT, 'docs', 'reference', 'cli.md')

const HEAD = `# Commands

<!-- Made by scripts/cli-page.ts from the commands and the table of operations: change those. -->

In a clone, run \`npx sluice\`. The docs write \`sluice\`. Every command has \`--help\`; more examples are there, and on the page that a command links.

\`--json\` prints one JSON value on stdout; messages go to stderr. \`-\` in place of a file is standard input.
\`sluice completion bash|zsh|fish\` prints a completion script.

**Exit codes**: 0 yes; 1 no: a call is denied, a document has errors, a case failed, nothing was found, it was not done; 2 could
not run: an argument, a file or the gate is the cause, and stderr says which. A command that only shows something exits with 0,
also if there is nothing to show.

**Where the gate is.** Commands that reach a gate find it by its data directory: \`--data\`, or the one that
\`--config\` names. If no gate runs, a command that changes data runs by itself under the lock of the
directory. A command that loosens something asks for the PIN of a person at the terminal, with the [role](../concepts/people.md) that it names.

## Options of many commands

Nearly all commands take the first three, and those that ask for a PIN the fourth.
`

/** An option that so many commands of different first words have, in the same words, is explained once. */
const COMMON_FAMILIES_MIN = 3
/** The most frequent options, which are not listed at each command. */
const NEARLY_ALL = 4
/** An option that this share of the commands below another have is explained there, and not listed at each. */
const MOST = 0.6
/** Examples of a command; its help has all. */
const EXAMPLES_MAX = 1

/** The page that explains a command, and those below it, at length: what their help says behind the examples is there. */
const PAGES: Readonly<Record<string, string>> = {
  init: '../how-to/clients.md',
  up: '../quickstart/README.md',
  stdio: '../how-to/clients.md',
  stop: '../how-to/operations.md#stop-a-gate',
  server: '../how-to/servers.md',
  'server lock': '../how-to/isolate-servers.md#lock-a-server',
  demo: '../quickstart/README.md',
  'policy test': '../how-to/policy-tests-in-ci.md',
  'policy prove': '../how-to/policy-tests-in-ci.md#2-run-them',
  'policy coverage': '../how-to/policy-tests-in-ci.md#2-run-them',
  'policy add': '../how-to/policy-packs.md',
  'policy import': '../how-to/move-from-policylayer.md',
  'policy apply': '../how-to/operations.md#change-a-policy',
  'policy replay': '../how-to/operations.md#try-a-policy-on-recorded-calls',
  'policy suggest': '../how-to/operations.md#make-a-policy-of-past-calls',
  ci: '../how-to/policy-tests-in-ci.md',
  threats: '../how-to/threats.md',
  enforce: '../how-to/clients.md#observe-first',
  scan: '../concepts/catalogue.md',
  pin: '../concepts/catalogue.md#pins',
  console: '../concepts/console.md',
  approvals: '../concepts/approvals.md',
  ledger: '../concepts/ledger.md',
  sessions: '../concepts/principals.md#sessions',
  undo: '../how-to/isolate-servers.md#take-a-line-back',
  traces: '../how-to/operations.md#record-sessions-with-their-answers',
  gates: '../how-to/several-gates.md',
  store: '../concepts/scale.md#move-an-installation',
  grants: '../concepts/principals.md#grants',
  approvers: '../concepts/people.md',
  login: '../concepts/principals.md#logging-in-at-servers',
  'support-bundle': '../how-to/operations.md#ask-for-help',
  forget: '../how-to/personal-data.md#forget-somebody',
  freeze: '../how-to/operations.md#freeze',
  backup: '../how-to/operations.md#backup',
  restore: '../how-to/operations.md#backup',
  completion: '../how-to/install.md#shell-completion',
  agents: '../concepts/agents.md',
  'agents acp': '../how-to/agents-in-your-editor.md',
  'agents schedule': '../how-to/nightly-agent.md',
}

/** Rows of options that were explained before. */
interface Explained {
  /** A command that has one says so. */
  readonly named: ReadonlySet<string>
  /** A command that has one does not say so. */
  readonly silent: ReadonlySet<string>
}

export async function cliPage(): Promise<string> {
  const program = new Command('sluice')
  // A word that is no command: all that are below are added as they are.
  const commands = Object.values(COMMANDS).filter(({ replacedBy }) => replacedBy === undefined)
  for (const command of commands) await addLoaded(program, command, () => {}, ['all'])
  const common = findCommonOptions(program)
  const explained = { named: new Set(common), silent: new Set(common.slice(0, NEARLY_ALL)) }
  const parts: string[] = [HEAD, `${common.join('\n')}\n`]
  let group: string | undefined
  for (const [index, command] of commands.entries()) {
    if (command.group !== group) parts.push(`## ${command.group?.replace(/:$/, '')}\n`)
    group = command.group
    parts.push(...describe(program.commands[index] as Command, ['sluice'], explained))
  }
  return parts.join('\n')
}

/** The rows of options that commands of several first words have, most frequent first. */
function findCommonOptions(program: Command): readonly string[] {
  const families = program.commands.map((each) => new Set(countOptions([each]).keys()))
  const counts = countOptions(program.commands)
  const common = [...counts.keys()].filter(
    (row) => families.filter((rows) => rows.has(row)).length >= COMMON_FAMILIES_MIN,
  )
  return dropRewordings(common.sort((one, other) => count(counts, other) - count(counts, one)))
}

/** Of an option that is worded in two ways the first one stands for both. */
function dropRewordings(rows: readonly string[]): readonly string[] {
  const byFlags = new Map<string | undefined, string>()
  for (const row of rows) if (!byFlags.has(flagsOf(row))) byFlags.set(flagsOf(row), row)
  return [...byFlags.values()]
}

function flagsOf(row: string): string | undefined {
  return row.split('`')[1]
}

function count(counts: ReadonlyMap<string, number>, row: string): number {
  return counts.get(row) ?? 0
}

/** How many commands have each row, those below them included. */
function countOptions(commands: readonly Command[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const command of commands) {
    for (const row of listOptionRows(command)) counts.set(row, count(counts, row) + 1)
    for (const [row, times] of countOptions(command.commands))
      counts.set(row, count(counts, row) + times)
  }
  return counts
}

function listOptionRows({ options }: Command): readonly string[] {
  return options.filter(({ hidden }) => !hidden).map(toOptionRow)
}

function describe(command: Command, above: readonly string[], before: Explained): string[] {
  const path = [...above, command.name()]
  const words = path.slice(1)
  const page = PAGES[words.join(' ')]
  const visible = command.createHelp().visibleCommands(command)
  const children = command.commands.filter((each) => visible.includes(each))
  const [family, explained] = explainFamily(children, before)
  const text = [
    `### \`${usageOf(command, path)}\`\n`,
    `${[
      `${capital(command.description())}.`,
      ...proofsOf(words.join(' ')),
      ...(page === undefined ? [] : [`[More](${page}).`]),
    ].join(' ')}\n`,
    ...argumentLines(command),
    ...describeOptions(listOptionRows(command), before),
    ...family,
    ...examplesOf(command, path, page !== undefined || PAGES[words[0] ?? ''] !== undefined),
  ]
  return [...text, ...children.flatMap((each) => describe(each, path, explained))]
}

/** The options that several commands below one have, in the words that most of them have, and what is explained once they are. */
function explainFamily(
  children: readonly Command[],
  { named, silent }: Explained,
): readonly [lines: readonly string[], explained: Explained] {
  const all = [...countOptions(children)].filter(([row, times]) => times > 1 && !named.has(row))
  const counts = new Map(all.sort(([, one], [, other]) => other - one))
  const repeated = dropRewordings([...counts.keys()])
  const rows = (isMost: boolean) =>
    repeated.filter((row) => count(counts, row) >= MOST * children.length === isMost)
  const [most, several] = [rows(true), rows(false)]
  return [
    [
      ...(most.length === 0 ? [] : [`Most of these take:\n\n${most.join('\n')}\n`]),
      ...(several.length === 0 ? [] : [`Several take, as each says:\n\n${several.join('\n')}\n`]),
    ],
    { named: new Set([...named, ...most, ...several]), silent: new Set([...silent, ...most]) },
  ]
}

/** The command with its arguments. */
function usageOf({ registeredArguments }: Command, path: readonly string[]): string {
  const args = registeredArguments.map((each) => {
    const name = each.variadic ? `${each.name()}...` : each.name()
    return each.required ? `<${name}>` : `[${name}]`
  })
  return [...path, ...args].join(' ')
}

/** What the usage says already (`name`: the server) is left out. */
function argumentLines({ registeredArguments }: Command): string[] {
  const lines = registeredArguments
    .filter(({ description }) => description.split(' ').length > 2)
    .map((each) => `- \`${each.name()}\`: ${each.description}`)
  return lines.length === 0 ? [] : [`${lines.join('\n')}\n`]
}

function describeOptions(rows: readonly string[], { named, silent }: Explained): string[] {
  const own = rows.filter((row) => !named.has(row))
  const also = rows
    .filter((row) => named.has(row) && !silent.has(row))
    .map((row) => `\`${/--[\w-]+/.exec(row)?.[0]}\``)
  return [
    ...(own.length === 0 ? [] : [`${own.join('\n')}\n`]),
    ...(also.length === 0 ? [] : [`Also ${also.join(', ')}.\n`]),
  ]
}

function toOptionRow({ flags, description, defaultValue, mandatory }: Option): string {
  const isPlain = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  const value = mandatory ? ' (required)' : isPlain ? ` (\`${defaultValue}\`)` : ''
  return `- \`${flags}\`${value}: ${description}`
}

/** What help shows behind the options: a few of the examples, unless those of the commands below are shown; and
 * what has to be known, if no page has it. */
function examplesOf(command: Command, path: readonly string[], hasPage: boolean): string[] {
  const shown = readHelpAfter(command).flatMap((part) => {
    if (!part.startsWith('Examples:')) return hasPage ? [] : [part]
    return command.commands.length > 0 ? [] : firstExamples(part, path)
  })
  return shown.length === 0 ? [] : [`\`\`\`text\n${shown.join('\n\n')}\n\`\`\`\n`]
}

/** An example that says no more than the usage above it is left out. What goes before or after the command does not
 * count. The rest of an example is on lines that are further in. */
function firstExamples(part: string, path: readonly string[]): readonly string[] {
  const usage = path.join(' ')
  const plain = new RegExp(`^ {2}${usage}( --json| --data \\S+)*$`)
  let examples = 0
  let isPlain = false
  const [, ...lines] = part.split('\n')
  const shown = lines.filter((line) => {
    if (/^ {2}\S/.test(line)) {
      isPlain = plain.test(line)
      if (!isPlain && line.includes(usage)) examples += 1
    }
    return !isPlain && examples <= EXAMPLES_MAX
  })
  return shown.length === 0 ? [] : [shown.map((line) => line.slice(2)).join('\n')]
}

/** In parts with an empty line between them. */
function readHelpAfter(command: Command): readonly string[] {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  // Declared by Node: the types of commander leave it out.
  ;(command as unknown as EventEmitter).emit('afterHelp', { error: false, command, write })
  return text.trim() === '' ? [] : text.trim().split(/\n{2,}/)
}

/** Who may give a command, if it asks for a proof. An operation may be one option of its command. */
function proofsOf(path: string): string[] {
  return OPERATIONS.flatMap(({ command, role, proof }) => {
    if (typeof command !== 'string' || typeof role !== 'string' || proof === 'none') return []
    const words = command.split(' ')
    if (words.filter((word) => !word.startsWith('--')).join(' ') !== path) return []
    const option = words.find((word) => word.startsWith('--'))
    const who = option === undefined ? 'Asks' : `\`${option}\` asks`
    const isAlways = typeof proof === 'string' || proof({ dryRun: true }) !== 'none'
    const when = isAlways ? '' : ' if it changes something'
    return [`${who} for a PIN (role ${role})${when}.`]
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

if (import.meta.main) writeFileSync(CLI_PAGE, await cliPage())
