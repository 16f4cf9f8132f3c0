// What a call of a tool that does everything would start: a shell is one tool for all of a day's work, so
// requests for its calls, and denials of them, are counted by the programs of their lines. Pure.

import { readShell } from '@sluice/policy/readers/shell-command'
import { locateProgram, readsCommand } from '@sluice/policy/readers/shell-programs'
import { parseObject } from '@sluice/policy/values/json'
import type { ApprovalSubject } from './approval.ts'
import { START_SHOWN_LENGTH_MAX } from './limits.ts'

/** `git push`, or several, in order; undefined if the call has no command line. Equal for lines of one kind. */
export function describeStart(
  { category }: Pick<ApprovalSubject, 'category'>,
  args: string,
): string | undefined {
  const line = lineOf({ category }, args)
  if (line === undefined) return undefined
  const { uncertain, changes, lines } = readShell(line)
  return uncertain === undefined
    ? joinKinds((changes.length > 0 ? changes : lines).map(toKind))
    : UNCERTAIN
}

/** What denials of a call are counted by: its tool, and the programs of its line if it has one. No word of the line is
 * in it but these, as it is stored for anybody to read. */
export function describeDenied(
  { category, name }: Pick<ApprovalSubject, 'category' | 'name'>,
  args: string,
): string {
  const line = lineOf({ category }, args)
  if (line === undefined) return name
  const { uncertain, programs } = readShell(line)
  if (uncertain !== undefined) return `${name}: ${UNCERTAIN}`
  const started = programs.flatMap(({ words }) =>
    words === undefined ? [] : [locateProgram(words)],
  )
  const changing = started.filter((command) => !readsCommand(command))
  const kinds = changing.length > 0 ? changing : started
  return `${name}: ${joinKinds(kinds.map(({ path }) => path.join(' ')))}`
}

function lineOf({ category }: Pick<ApprovalSubject, 'category'>, args: string): string | undefined {
  if (category !== 'Execute') return undefined
  const { command, cmd } = parseObject(args) ?? {}
  const line = command ?? cmd
  return typeof line === 'string' ? line : undefined
}

function joinKinds(kinds: readonly string[]): string {
  return [...new Set(kinds)].sort().join(', ').slice(0, START_SHOWN_LENGTH_MAX)
}

/** Lines of which the programs are not known are of one kind. */
const UNCERTAIN = 'lines that cannot be read with certainty'

/** The program and its subcommand, or its first argument. */
function toKind(line: string): string {
  const [program = '', word = ''] = line.split(' ', 2)
  return word === '' || word.startsWith('-') ? program : `${program} ${word}`
}
