// A command from a table of its arguments and options: the types of their values follow from the flags, so that
// nothing is declared twice. Reads no option itself but `--json`.

import { Argument, type Command, Option } from 'commander'
import type { SetExitCode } from './exit-code.ts'
import { announceNewName } from './lazy-commands.ts'
import { Output } from './output.ts'

/** What help says of an argument or option; with more than that as an object, or with its default as a pair. */
export type Described =
  | string
  | readonly [doc: string, unset: string | readonly string[]]
  | {
      readonly doc: string
      readonly unset?: string | readonly string[]
      readonly required?: true
      readonly choices?: readonly string[]
      /** It may be repeated. */
      readonly many?: true
      readonly hidden?: true
      readonly conflicts?: string
      /** What holds where it is left out. */
      readonly fill?: (options: never) => string
    }

/** By its flags: `-n, --lines <n>`, `<folder>`. */
export type Flags = Readonly<Record<string, Described>>

/** An option that may be repeated: its value is a list. */
export interface RepeatedOption {
  readonly doc: string
  readonly many: true
  readonly unset: readonly []
}

export function many(doc: string): RepeatedOption {
  return { doc, many: true, unset: [] }
}

type Camel<Word> = Word extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Word

type NameOf<Flag> = Flag extends
  | `${string}--no-${infer Name}`
  | `${string}--${infer Name} ${string}`
  ? Camel<Name>
  : Flag extends `${string}--${infer Name}`
    ? Camel<Name>
    : Flag extends
          | `${'<' | '['}${infer Name}${'...>' | '...]'}`
          | `${'<' | '['}${infer Name}${'>' | ']'}`
      ? Name
      : never

type ValueOf<Flag, Of> = Of extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Of extends { readonly many: true }
    ? readonly string[]
    : Flag extends `${string}<${string}...>` | `[${string}...]`
      ? readonly string[]
      : Flag extends `${string}<${string}>` | `[${string}]`
        ? string
        : Flag extends `${string}[${string}...]`
          ? true | readonly string[]
          : Flag extends `${string}[${string}]`
            ? true | string
            : boolean

type IsThere<Flag, Of> = Of extends
  | readonly unknown[]
  | { readonly unset: unknown }
  | { readonly required: true }
  | { readonly fill: unknown }
  ? true
  : Flag extends `<${string}` | `[${string}...]` | `${string}--no-${string}`
    ? true
    : false

/** The values of a table of flags. */
export type OptionsOf<All> = {
  readonly [Flag in keyof All as IsThere<Flag, All[Flag]> extends true
    ? NameOf<Flag>
    : never]: ValueOf<Flag, All[Flag]>
} & {
  readonly [Flag in keyof All as IsThere<Flag, All[Flag]> extends true
    ? never
    : NameOf<Flag>]?: ValueOf<Flag, All[Flag]>
}

/** 0 if a command returns nothing. */
export type ExitCode = 0 | 1 | undefined

/** What a command gets: the values of its arguments and options, as one flat object. */
export type CommandOptions<Args, All> = Flat<
  OptionsOf<Args> & OptionsOf<All> & { readonly json?: boolean }
>

type Flat<All> = { readonly [Name in keyof All]: All[Name] }

/** What runs a command. */
export type CommandHandler<Args, All> = (
  options: CommandOptions<Args, All>,
  output: Output,
  command: Command,
) => ExitCode | Promise<ExitCode>

export interface CommandDefinition<Args, All> {
  readonly name: string
  readonly description?: string
  readonly args?: Args
  readonly options?: All
  /** What help says of `--json`; false if there is no such option. */
  readonly json?: string | false
  readonly examples?: string | (() => string)
  /** For an old name, the words to type in its place. It works until the next version, and no help lists it. */
  readonly replacedBy?: string
  readonly run: CommandHandler<Args, All>
}

/** Adds a command to its parent. */
export type AddCommand = (parent: Command, answer: SetExitCode) => void

// biome-ignore lint/complexity/noBannedTypes: without a table there are no values
export function defineCommand<const Args extends Flags = {}, const All extends Flags = {}>(
  definition: CommandDefinition<Args, All>,
): AddCommand {
  const {
    name,
    description,
    args = {},
    options: flags = {},
    examples,
    json = 'print JSON',
    replacedBy,
    run,
  } = definition
  return (parent, answer) => {
    const command = parent.command(name, { hidden: replacedBy !== undefined })
    if (replacedBy !== undefined) announceNewName(command, replacedBy)
    if (description !== undefined) command.description(description)
    for (const [flag, of] of Object.entries<Described>(args))
      command.addArgument(toArgument(flag, of))
    addOptions(command, flags)
    if (json !== false) command.option('--json', json)
    if (examples !== undefined) command.addHelpText('after', examples as string)
    command.action(async () => {
      const given: Record<string, unknown> = command.opts()
      for (const [at, argument] of command.registeredArguments.entries())
        if (command.processedArgs[at] !== undefined)
          given[argument.name()] = command.processedArgs[at]
      // The parser was made of the tables that the types of the options follow from.
      const options = given as never
      for (const [flag, of] of Object.entries<Described>(flags)) {
        const { fill } = detailsOf(of)
        if (fill !== undefined) given[new Option(flag).attributeName()] ??= fill(options)
      }
      answer((await run(options, new Output(given), command)) ?? 0)
    })
  }
}

export function addOptions(command: Command, flags: Flags): void {
  for (const [flag, of] of Object.entries(flags)) command.addOption(toOption(flag, of))
}

function toArgument(flag: string, of: Described): Argument {
  const { doc, unset, choices } = detailsOf(of)
  const argument = new Argument(flag, doc)
  if (unset !== undefined) argument.default(unset)
  return choices === undefined ? argument : argument.choices(choices)
}

function toOption(flag: string, of: Described): Option {
  const { doc, unset, required, choices, many, hidden, conflicts } = detailsOf(of)
  const option = new Option(flag, doc).makeOptionMandatory(required === true)
  if (choices !== undefined) option.choices(choices)
  if (unset !== undefined) option.default(unset)
  if (many === true) option.argParser((value, before: readonly string[] = []) => [...before, value])
  if (conflicts !== undefined) option.conflicts(conflicts)
  return option.hideHelp(hidden === true)
}

function detailsOf(
  of: Described,
): Exclude<Described, string | readonly unknown[]> & { readonly unset?: unknown } {
  if (typeof of === 'string') return { doc: of }
  return Array.isArray(of) ? { doc: of[0], unset: of[1] } : (of as { readonly doc: string })
}
