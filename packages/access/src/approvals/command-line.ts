// A shell command as people see it wherever a call is shown: the line, where it runs, and what it would
// touch as far as the line says it. Pure; used by approvals and the ledger commands.

import { readShell } from '@sluice/policy/readers/shell-command'
import { parseObject } from '@sluice/policy/values/json'

/** A shell command as approvers and readers of the ledger see it. */
export interface CommandView {
  readonly line: string
  /** Where the line runs; empty if the call does not say. */
  readonly directory: string
  /** What the line writes, reaches or starts; that it only reads; or why that is not certain. */
  readonly touches: string
}

/** Whether a tool is the shell of a coding agent, whose `command` is a line for Bash. */
export function isShellTool(name: string): boolean {
  return name === 'Bash' || name === 'BashOutside'
}

/** `args` is the text of the arguments. Undefined if the call is no shell command. */
export function describeCommand(name: string, args: string): CommandView | undefined {
  const { command, cwd, box } = (isShellTool(name) && parseObject(args)) || {}
  if (typeof command !== 'string') return undefined
  return {
    line: command,
    directory: typeof cwd === 'string' ? cwd : '',
    touches:
      box === 'outside'
        ? `runs outside of the box, as you; ${touchesOf(command)}`
        : touchesOf(command),
  }
}

/** What it names is a remote and its branches, and no file. */
const PUSH = /^\s*git\s+push\b[^|&;<>]*$/

function touchesOf(command: string): string {
  const { uncertain, reads, writes, hosts, commands } = readShell(command)
  if (uncertain !== undefined) return `not certain: ${uncertain}`
  const parts = [
    writes.length === 0
      ? ''
      : `${PUSH.test(command) ? 'publishes to' : 'writes'} ${writes.join(', ')}`,
    hosts.length === 0 ? '' : `reaches ${hosts.join(', ')}`,
    reads ? 'only reads' : `starts ${commands.join(', ')}`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}
