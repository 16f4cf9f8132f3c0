// The command of a server is words: a text that a shell takes apart is not what the person has read who
// confirms it. Called for every face, before anything is shown or changed.

import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { toWordSet } from '@sluice/policy/structures/word-set'

const SHELLS = toWordSet('sh bash dash zsh ksh fish cmd cmd.exe powershell pwsh')

export function checkWords(words: readonly string[]): void {
  const program = words[0] ?? ''
  const isOneText = words.length === 1 && /\s/.test(program) && !existsSync(program)
  if (!isOneText && !runsShellText(withoutEnv(words))) return
  const what = isOneText
    ? `\`${program}\` is one word`
    : `\`${program}\` would read a text as a script`
  throw new OperationError(
    what,
    'no shell is used: write the program and each argument as a word of its own, at a terminal after --, in the console on a line of its own',
  )
}

function runsShellText([program = '', ...rest]: readonly string[]): boolean {
  const isShell = SHELLS.has(basename(program).toLowerCase())
  return isShell && rest.some((word) => /^[-/][abd-z\d_]*c\w*$/i.test(word))
}

/** `env NAME=value sh -c …` starts the shell just the same. */
function withoutEnv(words: readonly string[]): readonly string[] {
  if (basename(words[0] ?? '') !== 'env') return words
  const next = words.findIndex((word, at) => at > 0 && !word.startsWith('-') && !word.includes('='))
  return next < 0 ? [] : words.slice(next)
}
