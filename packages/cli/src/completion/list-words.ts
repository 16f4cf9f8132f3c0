// What can be completed: every command with the words and options that may follow it, read from the
// definitions of the commands themselves. Used by completion.ts.

import { Command } from 'commander'
import { addLoaded, type LazyCommands } from '../terminal/lazy-commands.ts'

export interface CompletionWord {
  readonly word: string
  readonly description: string
}

export interface CompletionOption extends CompletionWord {
  /** It takes a value; `choices` if only certain ones fit. */
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

export interface CompletionPlace {
  /** `sluice policy check`. */
  readonly path: string
  readonly commands: readonly CompletionWord[]
  readonly options: readonly CompletionOption[]
  /** Words that its first argument may be. */
  readonly choices: readonly string[]
}

export async function listPlaces(commands: LazyCommands): Promise<CompletionPlace[]> {
  const program = new Command('sluice').option('--version', 'print the version').helpCommand(false)
  // A word that is no command: all that are below are added as they are.
  for (const command of Object.values(commands))
    await addLoaded(program, command, () => {}, ['all'])
  return listBelow(program, '')
}

function listBelow(command: Command, above: string): CompletionPlace[] {
  const path = `${above} ${command.name()}`.trim()
  const help = { word: '--help', description: 'show help', takesValue: false, choices: [] }
  const options = command.options
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map(({ long, description, required, optional, argChoices }) => ({
      word: long as string,
      description,
      takesValue: required || optional,
      choices: argChoices ?? [],
    }))
  const place: CompletionPlace = {
    path,
    commands: command.commands.map((each) => ({
      word: each.name(),
      description: each.description(),
    })),
    options: [...options, help],
    choices: command.registeredArguments[0]?.argChoices ?? [],
  }
  return [place, ...command.commands.flatMap((each) => listBelow(each, path))]
}
