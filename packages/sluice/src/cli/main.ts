// The composition root of the command line: which commands there are, and what becomes of their
// exit codes: 0 yes, 1 no (denied, invalid, not found), 2 could not run.

import { Command } from 'commander'
import { readPackageVersion } from '../gateway/shared/package-version.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { tellFailure } from '../terminal/failure.ts'
import { addCommands } from './commands.ts'

export async function main(argv: readonly string[]): Promise<number> {
  let exitCode: number | undefined
  const program = await build(argv[0] ?? '', (code) => {
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
    else await program.parseAsync([...argv], { from: 'user' })
    return exitCode ?? 0
  } catch (error) {
    exitCode = tellFailure(error, program, argv)
    return exitCode
  }
}

async function build(word: string, answer: SetExitCode): Promise<Command> {
  const program = new Command('sluice')
    .description('The gate between AI agents and their tools.')
    .version(readPackageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', EXAMPLES)
  await addCommands(program, word, answer)
  return program
}

const EXAMPLES = `
Examples:
  sluice init --dry-run              which MCP servers are here, and what would change
  sluice scan -- npx -y @modelcontextprotocol/server-memory
  sluice up                          the gate of ./sluice.yaml
  sluice console                     what waits for you, and what happens
  sluice policy explain stripe/create_refund --args '{"amount": 100}'
  sluice ledger tail

Every command has --help.

Exit codes: 0 yes, 1 no (denied, invalid, not found), 2 could not run.
The language: docs/reference/policy-language.md. Error codes: docs/reference/errors.md.`
