// Writes docs/reference/cli.md from the definitions of the commands and the table of operations. Run by
// hand after one of them has changed (`node scripts/cli-page.ts`); a test compares.

import type { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, type Option } from 'commander'
import { COMMANDS } from '../packages/cli/src/commands.ts'
import { addLoaded } from '../packages/cli/src/terminal/lazy-commands.ts'
import type { Operation } from '../packages/gateway/src/operations/operation.ts'
import { OPERATIONS } from '../packages/gateway/src/operations/table.ts'
import { ROOT } from './run-step.ts'

export const CLI_PAGE = join(ROOT, 'docs', 'reference', 'cli.md')

const HEAD = `# Commands

<!-- Made by scripts/cli-page.ts from the commands and the table of operations: change those. -->

In a clone, run \`npx sluice\`. The docs write \`sluice\`.

\`--json\` prints one JSON value on stdout; messages go to stderr. Every command has \`--help\`. \`-\` in place of
a file is standard input. \`sluice completion bash|zsh|fish\` prints a completion script.

**Exit codes**: 0 yes, 1 no, 2 could not run: an argument, a file or the gate is the cause, and stderr says
which. A command that only shows something exits with 0, also if there is nothing to show. These exit with 1:

| command | 1 means |
|---|---|
| \`policy check\`, \`policy import\` | the document has errors |
| \`policy explain\` | the call is denied, hidden or waits for approval |
| \`policy test\`, \`policy coverage\` | a case failed, or coverage is below \`--min\` |
| \`policy prove\` | a property is refuted or was not proved |
| \`policy replay\` | a decision changes |
| \`policy apply\` | nothing waits to be applied |
| \`scan\`, \`tools export\` | a server could not be listed |
| \`status\` | the gate does not run, or is not ready |
| \`ledger verify\` | the ledger was changed |
| \`ledger query\` | no call matches |
| \`grants list\`, \`approvers list\` | there is none |
| \`grants add\`, \`grants revoke\`, \`login\` | it was not done |
| \`agents run\`, \`agents replay\` | the run failed, or differs |

**Where the gate is.** Commands that reach a gate find it by its data directory: \`--data\`, or the one that
\`--config\` names. If no gate runs, a command that changes data runs by itself under the lock of the
directory. A command that loosens something asks for the PIN of a person at the terminal.
`

const OPERATIONS_HEAD = `## Operations

What a running gate can be asked for. The control socket, the [API](api.md) and the commands are made from
this table; the input is checked by the same description on each. \`fresh\` is a PIN on the socket and a
passkey assertion for the request in the API, \`identity\` a PIN and a sign-in, \`none\` nothing and a sign-in.

| operation | role | proof | socket | API | command | input |
|---|---|---|---|---|---|---|`

/** An option that as many commands have, in the same words, is explained once. */
const COMMON_COMMANDS_MIN = 5

export async function cliPage(): Promise<string> {
  const program = new Command('sluice')
  // A word that is no command: all that are below are added as they are.
  const commands = Object.values(COMMANDS).filter(({ replacedBy }) => replacedBy === undefined)
  for (const command of commands) await addLoaded(program, command, () => {}, ['all'])
  const common = findCommonOptions(program)
  const parts: string[] = [HEAD, commonTable(common)]
  let group: string | undefined
  for (const [index, command] of commands.entries()) {
    if (command.group !== group) parts.push(`## ${command.group?.replace(/:$/, '')}\n`)
    group = command.group
    parts.push(...describe(program.commands[index] as Command, ['sluice'], common))
  }
  return [...parts, [OPERATIONS_HEAD, ...OPERATIONS.map(toRow)].join('\n'), ''].join('\n')
}

/** The rows of options that many commands have in the same words, most frequent first. */
function findCommonOptions(program: Command): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const count = (command: Command): void => {
    for (const option of command.options.filter(({ hidden }) => !hidden))
      counts.set(toOptionRow(option), (counts.get(toOptionRow(option)) ?? 0) + 1)
    command.commands.forEach(count)
  }
  count(program)
  const common = [...counts].filter(([, times]) => times >= COMMON_COMMANDS_MIN)
  return new Set(common.sort(([, one], [, other]) => other - one).map(([row]) => row))
}

function commonTable(common: ReadonlySet<string>): string {
  // Of an option that is worded in two ways the more frequent one stands for both.
  const byFlags = new Map<string | undefined, string>()
  for (const row of common) {
    const [, flags] = row.split('`')
    if (!byFlags.has(flags)) byFlags.set(flags, row)
  }
  return `## Options of many commands\n\n${[...byFlags.values()].join('\n')}\n`
}

function describe(
  command: Command,
  above: readonly string[],
  common: ReadonlySet<string>,
): string[] {
  const path = [...above, command.name()]
  const below = command.commands.flatMap((each) => describe(each, path, common))
  const options = command.options.filter(({ hidden }) => !hidden)
  const mine = OPERATIONS.filter(({ command: name }) => name === path.slice(1).join(' '))
  const text = [
    `### \`${usageOf(command, path)}\`\n`,
    `${capital(command.description())}.\n`,
    ...argumentLines(command),
    ...(options.length === 0 ? [] : [describeOptions(options, common)]),
    ...mine.map(({ name }) => `Operation: [\`${name}\`](#operations).\n`),
    ...examplesOf(command),
  ]
  return [...text, ...below]
}

/** The command with its arguments. */
function usageOf({ registeredArguments }: Command, path: readonly string[]): string {
  const args = registeredArguments.map((each) => {
    const name = each.variadic ? `${each.name()}...` : each.name()
    return each.required ? `<${name}>` : `[${name}]`
  })
  return [...path, ...args].join(' ')
}

function argumentLines({ registeredArguments }: Command): string[] {
  if (registeredArguments.length === 0) return []
  const lines = registeredArguments.map((each) =>
    [`- \`${each.name()}\``, each.description].filter(Boolean).join(': '),
  )
  return [`${lines.join('\n')}\n`]
}

function describeOptions(options: readonly Option[], common: ReadonlySet<string>): string {
  const own = options.map(toOptionRow).filter((row) => !common.has(row))
  const shared = options
    .filter((option) => common.has(toOptionRow(option)))
    .map(({ long }) => `\`${long}\``)
  return [
    ...(own.length === 0 ? [] : [`${own.join('\n')}\n`]),
    ...(shared.length === 0 ? [] : [`Also ${shared.join(', ')}.\n`]),
  ].join('\n')
}

function toOptionRow({ flags, description, defaultValue, mandatory }: Option): string {
  const isPlain = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  const value = mandatory ? ' (required)' : isPlain ? ` (\`${defaultValue}\`)` : ''
  return `- \`${flags}\`${value}: ${description}`
}

/** What help shows behind the options: examples, and what has to be known. */
function examplesOf(command: Command): string[] {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  // Declared by Node: the types of commander leave it out.
  ;(command as unknown as EventEmitter).emit('afterHelp', { error: false, command, write })
  return text.trim() === '' ? [] : [`\`\`\`text\n${text.trim()}\n\`\`\`\n`]
}

function toRow({ name, role, proof, socket, http, command, input }: Operation): string {
  const code = (text: string | undefined) => (text === undefined ? '' : `\`${text}\``)
  const cells = [
    code(name),
    typeof role === 'string' ? role : 'by input',
    typeof proof === 'string' ? proof : 'by input',
    code(socket),
    http === undefined ? '' : code(`${http.method} ${http.path}`),
    typeof command === 'string' ? code(`sluice ${command}`) : '',
    Object.entries(input)
      .map(([field, { required }]) => `\`${field}${required === true ? '' : '?'}\``)
      .join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

if (import.meta.main) writeFileSync(CLI_PAGE, await cliPage())
