// Output of a command that could not run: two lines on stderr and, with `--json`, one JSON value on
// stdout, so that a script that parses the output always finds one. Called by main.

import { type Command, CommanderError } from 'commander'
import { CliError } from './errors.ts'
import { printable, toJsonLine } from './output.ts'

/** Prints what stopped the command, and returns its exit code. */
export function printFailure(error: unknown, program: Command, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    // Help or version was requested; a group without a command has printed its help.
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') return 2
  }
  const known =
    error instanceof CommanderError ? misuse(error, program, argv) : toCliError(error as Error)
  if (known instanceof CliError) {
    const { code, message, help, problems } = known
    writeStderr(`sluice: ${printLines(message)} [${code}]\n  help: ${printLines(help)}\n`)
    answer(argv, { code, message, help, ...(problems.length > 0 ? { problems } : {}) })
    return 2
  }
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error)
  writeStderr(`sluice: this is a fault of ours, please report it: ${fault}\n`)
  answer(argv, { code: null, message: fault, help: 'please report it: it is a fault of ours' })
  return 2
}

/** Errors of the modules below that say what to do: those of stores and files have a code, a refusal of the gate
 * has none. Any other error is a fault. */
function toCliError(error: Error & { readonly code?: string; readonly help?: string }): unknown {
  const { code, message, help } = error
  if (error instanceof CliError || typeof help !== 'string') return error
  if (code === undefined) return new CliError('CLI_GATE', message, help)
  return new CliError('CLI_FILE', `${message} (${code})`, help)
}

/** Further lines are indented: no text can pass for a line of its own. */
function printLines(text: string): string {
  return text.split('\n').map(printable).join('\n    ')
}

function writeStderr(text: string): void {
  process.stderr.write(text)
}

/** On one line, for readers of lines. For `stdio` and `wrap` stdout is a channel. */
function answer(argv: readonly string[], error: object): void {
  const isChannel = ['up', 'stdio', 'wrap', 'demo'].includes(argv[0] ?? '') || argv[1] === 'serve'
  if (!isChannel && argv.includes('--json')) process.stdout.write(`${toJsonLine({ error })}\n`)
}

/** The parser's errors, in the style of all others. */
function misuse(error: CommanderError, program: Command, argv: readonly string[]): CliError {
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const message = first.replace(/'([^']*)'/g, '`$1`').replace(/\.$/, '')
  const path = findCommandPath(program, argv)
  const near = /Did you mean (?:one of )?(.+?)\?\)/.exec(suggestion ?? '')?.[1]?.split(', ') ?? []
  const all = `see \`${path} --help\``
  const isOption = error.code === 'commander.unknownOption'
  if (isOption && ['sluice scan', 'sluice wrap'].includes(path) && !argv.includes('--'))
    return new CliError(
      'CLI_ARGUMENT',
      message,
      `put \`--\` before the server's command: \`${path} -- ${argv.slice(1).join(' ')}\``,
    )
  const elsewhere =
    error.code === 'commander.unknownCommand' ? findGroup(program, message) : undefined
  const renamed = isOption ? findSynonym(program, argv, message) : undefined
  const meant = renamed ?? elsewhere ?? near.map((each) => `\`${each}\``).join(' or ')
  return new CliError('CLI_ARGUMENT', message, meant ? `did you mean ${meant}? ${all}` : all)
}

/** Names that other tools have for an option; only if the command has that option. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '--decision': '--action',
  '--verdict': '--action',
  '--format': '--json',
  '--output': '--out',
  '--user': '--principal',
  '--reason': '--why',
}

function findSynonym(
  program: Command,
  argv: readonly string[],
  message: string,
): string | undefined {
  const wanted = SYNONYMS[/`([^`=]*)/.exec(message)?.[1] ?? '']
  const { at } = walkCommands(program, argv)
  return at.options.some(({ long }) => long === wanted) ? `\`${wanted}\`` : undefined
}

/** `sluice policy check`, as far as the arguments name commands. */
function findCommandPath(program: Command, argv: readonly string[]): string {
  return walkCommands(program, argv).words.join(' ')
}

function walkCommands(
  program: Command,
  argv: readonly string[],
): { readonly at: Command; readonly words: readonly string[] } {
  let at = program
  const words = [program.name()]
  for (const word of argv) {
    const next = at.commands.find((command) => command.name() === word)
    if (next === undefined) break
    words.push(word)
    at = next
  }
  return { at, words }
}

/** Suggests `policy check` for `check`. */
function findGroup(program: Command, message: string): string | undefined {
  const word = /`([^`]*)`/.exec(message)?.[1]
  if (word === 'version') return `\`${program.name()} --version\``
  const group = program.commands.find(({ commands }) =>
    commands.some((command) => command.name() === word),
  )
  return group && `\`${program.name()} ${group.name()} ${word}\``
}
