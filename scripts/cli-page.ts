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

export async function cliPage(): Promise<string> {
  const program = new Command('sluice')
  const parts: string[] = [HEAD]
  let group: string | undefined
  for (const command of Object.values(COMMANDS)) {
    if (command.group !== group) parts.push(`## ${command.group?.replace(/:$/, '')}\n`)
    group = command.group
    // A word that is no command: all that are below are added as they are.
    await addLoaded(program, command, () => {}, ['all'])
    parts.push(...describe(program.commands.at(-1) as Command, ['sluice'], OPERATIONS))
  }
  return [...parts, [OPERATIONS_HEAD, ...OPERATIONS.map(toRow)].join('\n'), ''].join('\n')
}

function describe(
  command: Command,
  above: readonly string[],
  operations: readonly Operation[],
): string[] {
  const path = [...above, command.name()]
  const below = command.commands.flatMap((each) => describe(each, path, operations))
  const options = command.options.filter(({ hidden }) => !hidden)
  const mine = operations.filter(({ command: name }) => name === path.slice(1).join(' '))
  const text = [
    `### \`${path.join(' ')}\`\n`,
    `${capital(command.description())}.\n`,
    ...(command.commands.length > 0 ? [] : [`\`\`\`text\n${usageOf(command, path)}\n\`\`\`\n`]),
    ...argumentLines(command),
    ...(options.length === 0 ? [] : [tableOf(options)]),
    ...mine.map(({ name }) => `Operation: [\`${name}\`](#operations).\n`),
    ...examplesOf(command),
  ]
  return [...text, ...below]
}

function usageOf(command: Command, path: readonly string[]): string {
  return `${path.join(' ')} ${command.usage()}`.trim()
}

function argumentLines({ registeredArguments }: Command): string[] {
  if (registeredArguments.length === 0) return []
  const lines = registeredArguments.map((each) =>
    [`- \`${each.name()}\``, each.description].filter(Boolean).join(': '),
  )
  return [`${lines.join('\n')}\n`]
}

function tableOf(options: readonly Option[]): string {
  const rows = options.map(({ flags, description, defaultValue, mandatory }) => {
    const isPlain = typeof defaultValue === 'string' || typeof defaultValue === 'number'
    const value = mandatory ? '**required**' : isPlain ? `\`${defaultValue}\`` : ''
    return `| \`${flags}\` | ${value} | ${description.replaceAll('|', '\\|')} |`
  })
  return `| option | default | |\n|---|---|---|\n${rows.join('\n')}\n`
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
