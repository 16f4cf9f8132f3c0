// Commands that are loaded only when they are asked for: a short command is mostly loading. Help lists
// them by the summaries of the table, which are also their descriptions.

import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { Command } from 'commander'
import type { SetExitCode } from './exit-code.ts'

/** Adds one command to its parent. `words` are the arguments behind the command's name. */
export type AddCommand = (
  parent: Command,
  answer: SetExitCode,
  words: readonly string[],
) => void | Promise<void>

export interface LazyCommand {
  readonly summary: string
  /** The module of the command. */
  readonly load: () => Promise<{ readonly add: AddCommand }>
  /** Heading in the help of the parent. */
  readonly group?: string
  /** For an old name of a command, the words to type in its place. It works until the next version, and no help lists it. */
  readonly replacedBy?: string
}

export type LazyCommands = Readonly<Record<string, LazyCommand>>

/** By name. */
export type CommandRows = Readonly<
  Record<string, readonly [summary: string, load: LazyCommand['load']]>
>

/** Old names of commands, by name: what to type now, and what is loaded. */
export type OldNames = Readonly<
  Record<string, readonly [replacedBy: string, load: LazyCommand['load']]>
>

export function toLazyCommands(rows: CommandRows, group?: string): LazyCommands {
  const named = Object.entries(rows).map(([name, [summary, load]]) => [
    name,
    { summary, load, ...pickDefined({ group }) },
  ])
  return Object.fromEntries(named)
}

export function toOldNames(rows: OldNames): LazyCommands {
  const named = Object.entries(rows).map(([name, [replacedBy, load]]) => [
    name,
    { summary: `the old name of \`sluice ${replacedBy}\``, load, replacedBy },
  ])
  return Object.fromEntries(named)
}

/** Adds the command that `words` begin with. For help, all of them by name and summary; for a word that is
 * none of them all of them as they are, so that the error can say what was meant. */
export async function addLazyCommands(
  parent: Command,
  commands: LazyCommands,
  answer: SetExitCode,
  words: readonly string[],
): Promise<void> {
  const [word = '', ...rest] = words
  const isHelp = word === '' || word.startsWith('-')
  for (const [name, command] of Object.entries(commands)) {
    if (isHelp && command.replacedBy !== undefined) continue
    if (isHelp) parent.command(name).description(command.summary)
    else if (name === word || !Object.hasOwn(commands, word))
      await addLoaded(parent, command, answer, name === word ? rest : [])
    else continue
    if (command.group !== undefined) parent.commands.at(-1)?.helpGroup(command.group)
  }
}

/** Loads one command and adds it to its parent. */
export async function addLoaded(
  parent: Command,
  { load, summary, replacedBy }: LazyCommand,
  answer: SetExitCode,
  words: readonly string[],
): Promise<void> {
  const { add } = await load()
  await add(parent, answer, words)
  const command = parent.commands.at(-1)?.description(summary)
  if (command !== undefined && replacedBy !== undefined) announceNewName(command, replacedBy)
}

/** A command under its old name says what to type now, each time. */
export function announceNewName(command: Command, replacedBy: string): void {
  command.hook('preAction', () => {
    process.stderr.write(newNameLine(command.name(), `sluice ${replacedBy}`))
  })
}

export function newNameLine(oldName: string, newName: string): string {
  return `sluice: \`${oldName}\` is \`${newName}\` now; the old name goes with the next version\n`
}
