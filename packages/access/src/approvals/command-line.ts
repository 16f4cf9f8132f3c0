// A shell command as people see it wherever a call is shown: the line, where it runs, and what it would
// touch as far as the line says it. Pure; used by approvals and the ledger commands.

import { parseObject } from '@sluice/policy/core/json'
import { readShell } from '@sluice/policy/core/shell-command'

export type CommandView = NonNullable<ReturnType<typeof describeCommand>>

/** `args` is the text of the arguments. Undefined if the call is no shell command. */
export function describeCommand(name: string, args: string) {
  const { command, cwd } = (name === 'Bash' && parseObject(args)) || {}
  if (typeof command !== 'string') return undefined
  return {
    line: command,
    directory: typeof cwd === 'string' ? cwd : '',
    // What the line writes, reaches or starts; that it only reads; or why that is not certain.
    touches: touchesOf(command),
  }
}

function touchesOf(command: string): string {
  const { uncertain, reads, writes, hosts, commands } = readShell(command)
  if (uncertain !== undefined) return `not certain: ${uncertain}`
  const parts = [
    writes.length === 0 ? '' : `writes ${writes.join(', ')}`,
    hosts.length === 0 ? '' : `reaches ${hosts.join(', ')}`,
    reads ? 'only reads' : `starts ${commands.join(', ')}`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}
