// `sluice completion SHELL`: prints the completion script of a shell, made from the table of commands.

import { Argument, type Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import type { AddCommand, LazyCommands } from '../terminal/lazy-commands.ts'
import { listPlaces } from './list-words.ts'
import { SHELLS, type Shell, writeScript } from './shell-scripts.ts'

const EXAMPLES = `
Examples:
  eval "$(sluice completion bash)"                                 # in ~/.bashrc
  source <(sluice completion zsh)                                  # in ~/.zshrc, after compinit
  sluice completion fish > ~/.config/fish/completions/sluice.fish`

export function createCompletion(commands: () => LazyCommands): AddCommand {
  return (parent: Command, answer: SetExitCode) => {
    parent
      .command('completion')
      .addArgument(new Argument('<shell>', 'which one').choices(SHELLS))
      .addHelpText('after', EXAMPLES)
      .action(async (shell: Shell) => {
        process.stdout.write(writeScript(shell, await listPlaces(commands())))
        answer(0)
      })
  }
}
