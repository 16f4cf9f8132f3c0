// The composition root of the command line: which commands there are, and what becomes of their
// exit codes: 0 yes, 1 no (denied, invalid, not found), 2 could not run.

import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { Command } from 'commander'
import { COMMANDS, FIRST_COMMANDS } from './commands.ts'
import { findConfig } from './connect/find-config.ts'
import type { SetExitCode } from './terminal/exit-code.ts'
import { printFailure } from './terminal/failure.ts'
import { addLazyCommands, type LazyCommands } from './terminal/lazy-commands.ts'

export async function main(typed: readonly string[]): Promise<number> {
  let exitCode: number | undefined
  const argv = readHelp(typed)
  const program = await build(argv, (code) => {
    exitCode = code
  })
  // `| head` closes the pipe: what was decided stays the answer. A gate goes on without its reader.
  const closed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exit(2)
    if (argv[0] !== 'up') process.exit(exitCode ?? 2)
  }
  process.stdout.on('error', closed)
  process.stderr.on('error', closed)
  try {
    if (argv.length === 0) program.outputHelp()
    else await program.parseAsync(cutAtMistake(program, argv), { from: 'user' })
    return exitCode ?? 0
  } catch (error) {
    exitCode = printFailure(error, program, argv)
    return exitCode
  }
}

async function build(argv: readonly string[], answer: SetExitCode): Promise<Command> {
  const program = new Command('sluice')
    .description('The gate between AI agents and their tools.')
    .version(readPackageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .hook('preAction', (_, command) => useUserConfig(command))
  // Commands have an option of that name, too.
  const isAll = argv.slice(0, 2).includes(ALL) && argv[0]?.startsWith('-') === true
  if (isAll) program.option(ALL, 'with --help: all commands')
  program.addHelpText('after', isAll ? ALL_EXAMPLES : EXAMPLES)
  const [first = '--help'] = argv
  await addLazyCommands(program, isAll || !first.startsWith('-') ? COMMANDS : FIRST, answer, argv)
  return program
}

const ALL = '--all'

/** Without the headings of the long list. */
const FIRST: LazyCommands = Object.fromEntries(
  FIRST_COMMANDS.flatMap((name) => {
    const command = COMMANDS[name]
    return command === undefined ? [] : [[name, { summary: command.summary, load: command.load }]]
  }),
)

/** `sluice help policy check` is `sluice policy check --help`, and `sluice help --all` lists all commands. */
function readHelp([word, ...rest]: readonly string[]): readonly string[] {
  if (word !== 'help') return word === undefined ? [] : [word, ...rest]
  return rest.length === 1 && rest[0] === ALL ? [ALL, '--help'] : [...rest, '--help']
}

/** In a folder without a sluice.yaml commands use the user's own, where `sluice init` put one. */
function useUserConfig(command: Command): void {
  // `init` chooses a place for it.
  if (command.getOptionValueSource('config') !== 'default' || command.name() === 'init') return
  const file = findConfig()
  if (file !== undefined) command.setOptionValue('config', file)
}

/** The arguments up to a word that is no command: `sluice nope --help` is a mistake and not a request for
 * help. */
function cutAtMistake(program: Command, argv: readonly string[]): string[] {
  let command = program
  for (const [at, word] of argv.entries()) {
    if (word.startsWith('-') || command.commands.length === 0) break
    const next = command.commands.find((each) => each.name() === word)
    if (next === undefined) return argv.slice(0, at + 1)
    command = next
  }
  return [...argv]
}

const EXAMPLES = `
Examples:
  sluice init --dry-run              which MCP servers are here, and what would change
  sluice init --hooks                the shell, files and web of a coding agent, too
  sluice up                          the gate of ./sluice.yaml
  sluice policy explain stripe/create_refund --args '{"amount": 100}'
  sluice agents create --model ollama:llama3
  sluice console                     what waits for you, and what happens

\`sluice help --all\` lists all commands. Every command has --help.

Exit codes: 0 yes, 1 no (denied, invalid, not found), 2 could not run.`

const ALL_EXAMPLES = `
Every command has --help.

Exit codes: 0 yes, 1 no (denied, invalid, not found), 2 could not run.
The language: docs/reference/policy-language.md. Error codes: docs/reference/errors.md.`
