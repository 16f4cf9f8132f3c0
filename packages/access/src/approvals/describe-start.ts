// What a call of a tool that does everything would start: a shell is one tool for all of a day's work, so
// requests for its calls are counted by the programs of their lines. Pure; used by the registry.

import { readShell } from '@sluice/policy/readers/shell-command'
import { parseObject } from '@sluice/policy/values/json'
import type { ApprovalSubject } from './approval.ts'
import { START_SHOWN_LENGTH_MAX } from './limits.ts'

/** `git push`, or several, in order; undefined if the call has no command line. Equal for lines of one kind. */
export function describeStart(
  { category }: Pick<ApprovalSubject, 'category'>,
  args: string,
): string | undefined {
  if (category !== 'Execute') return undefined
  const { command, cmd } = parseObject(args) ?? {}
  const line = command ?? cmd
  if (typeof line !== 'string') return undefined
  const { uncertain, changes, lines } = readShell(line)
  if (uncertain !== undefined) return UNCERTAIN
  const kinds = new Set((changes.length > 0 ? changes : lines).map(toKind))
  return [...kinds].sort().join(', ').slice(0, START_SHOWN_LENGTH_MAX)
}

/** Lines of which the programs are not known are of one kind. */
const UNCERTAIN = 'lines that cannot be read with certainty'

/** The program and its subcommand, or its first argument. */
function toKind(line: string): string {
  const [program = '', word = ''] = line.split(' ', 2)
  return word === '' || word.startsWith('-') ? program : `${program} ${word}`
}
