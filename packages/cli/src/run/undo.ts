// `sluice undo`: the way back from a line of a coding agent. Shows what would change before anything does.

import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { LIST_SNAPSHOTS, UNDO_LINE } from '@sluice/gateway/operations/undo'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, plural, printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice undo                 the last lines that changed files of this project
  sluice undo 1               brings the files back as they were before the last of them
  sluice undo 3 --yes         does not ask

Covers the files that git tracks or would track, byte for byte. Ignored files and \`.git\` are not covered. What is
there now is kept before, as a line of its own. The last 50 lines are kept for a week.`

/** The lines of the agent that are shown, in characters. */
const LINE_LENGTH_SHOWN = 100

export function add(program: Command, answer: SetExitCode): void {
  addOperationCommand(program, answer, {
    row: UNDO_LINE,
    name: 'undo',
    args: { commit: '[line]' },
    omit: ['project'],
    options: { '--yes': 'do not ask' },
    examples: EXAMPLES,
    ask: async (client, { commit: number }, options, output) => {
      const project = findTop(process.cwd())
      const { lines } = await client.ask(LIST_SNAPSHOTS, { project })
      if (number === undefined) {
        lines.forEach(({ atMs, line }, at) => {
          const text = printable(line.replace(/\s+/g, ' ')).slice(0, LINE_LENGTH_SHOWN)
          output.line(`${at + 1}  ${new Date(atMs).toLocaleString()}  ${text}`)
        })
        if (lines.length === 0) output.line(`no line has changed files of ${printable(project)}`)
        return { changes: [] }
      }
      const wanted = lines[Number(number) - 1]
      if (wanted === undefined)
        throw new ArgumentError(`there is no line \`${number}\``, '`sluice undo` lists them')
      const { commit } = wanted
      const { changes } = await client.ask(LIST_SNAPSHOTS, { project, commit })
      output.remark(`before \`${printable(wanted.line)}\`, in ${printable(project)}:`)
      for (const { change, path } of changes) output.remark(`  ${change}: ${printable(path)}`)
      if (changes.length === 0) return { changes: [] }
      if (options.yes !== true && !(await confirm(output))) return undefined
      return client.ask(UNDO_LINE, { project, commit })
    },
    print: ({ changes }, output, { commit: number }) => {
      if (number !== undefined)
        output.line(`${output.paint('green', 'undone')}: ${plural(changes.length, 'file')}`)
    },
  })
}

async function confirm(output: Output): Promise<boolean> {
  if (!process.stdin.isTTY) {
    output.remark('nothing was changed: pass --yes where nobody can be asked')
    return false
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const said = await terminal.question('bring these files back? [y/N] ')
  terminal.close()
  return /^y(?:es)?$/i.test(said.trim())
}

/** The top of the git tree around a folder, or the folder: as sessions choose their project. */
function findTop(folder: string): string {
  const start = realpathSync(folder)
  for (let at = start; ; at = dirname(at)) {
    if (statSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at
    if (dirname(at) === at) return start
  }
}
