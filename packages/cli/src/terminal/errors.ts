// Errors that stop a command before it has a result. Such a command exits with 2 and prints two
// lines: what was wrong and what to do; with --json the problems of a document are included.

import type { Problem } from '@sluice/policy/document/problem'
import { CodedError } from '@sluice/policy/structures/coded-error'

export const ERRORS = {
  CLI_FILE: 'a file could not be read or written',
  CLI_TOOLS: 'a file of tool definitions is not one, or no tool is known',
  CLI_ARGUMENT: 'an option or argument of a command is wrong',
  CLI_POLICY: 'the policy or configuration has errors, so the command cannot continue',
  CLI_SCAN: 'the tools of a server could not be listed',
  CLI_START: 'the gate could not start',
  CLI_AGENTS: 'the agents refused a command',
  CLI_TERMINAL: 'no one is at the terminal, or they did not continue',
  CLI_GATE: 'the running gate refused a command',
} as const

/** Thrown by a command that cannot run; main prints it and exits with 2. */
export class CliError extends CodedError<keyof typeof ERRORS> {
  readonly problems: readonly Problem[]
  constructor(
    code: keyof typeof ERRORS,
    message: string,
    help: string,
    problems: readonly Problem[] = [],
  ) {
    super(code, message, help)
    this.problems = problems
  }
}

/** An option or argument is wrong. */
export class ArgumentError extends CliError {
  constructor(message: string, help: string) {
    super('CLI_ARGUMENT', message, help)
  }
}
