// `sluice init --undo`: the clients' entries as they were before, each taken back by itself; whatever
// anybody else wrote since stays.

import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CliError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { CLIENTS } from './files/client.ts'
import { isOpen, type UndoneMove, undoMoves, undoOne } from './move/move-entries.ts'
import { type MovedEntry, readMoved } from './move/move-log.ts'
import { type Change, showChanges } from './show.ts'

export async function undoInit(record: string, isDry: boolean, output: Output): Promise<0 | 1> {
  const moved = readMoved(record)
  if (moved.length === 0)
    throw new CliError(
      'CLI_FILE',
      `nothing to undo: there is no \`${record}\``,
      'the entries were restored already, or never changed; if `init` ran with --config, name that file',
    )
  if (isDry) return showUndo(moved, output)
  const undone = await undoMoves(record)
  output.value({
    undone: undone.map(({ moved: one, ...rest }) => ({ ...toEntryName(one), ...rest })),
  })
  for (const one of undone) output.line(formatUndo(one, output))
  const left = undone.filter(isOpen).length
  output.line(
    left === 0
      ? `all entries are as they were; to remove the gate too, delete its files in ${dirname(record)}: sluice.yaml, policy.yaml, sluice.env and .sluice (the ledger); \`sluice/init.key\` in ~/.local/state is the key of all your gates`
      : `${plural(left, 'entry', 'entries')} left, as said above; sluice.moved.json still has what was there`,
  )
  return left === 0 ? 0 : 1
}

function showUndo(moved: readonly MovedEntry[], output: Output): 0 {
  const changes: Change[] = [...new Set(moved.map(({ file }) => file))].map((file) => {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const own = moved.filter((one) => one.file === file).reverse()
    return { file, before, after: own.reduce((text, one) => undoOne(text, one).text, before) }
  })
  output.value({ changes })
  showChanges(changes, secretsOf(moved), output)
  return 0
}

/** Every text of the entries as they were that is not in them now. */
function secretsOf(moved: readonly MovedEntry[]): string[] {
  return moved.flatMap(({ was }) => {
    const texts = [was.env, was.headers, was.http_headers].flatMap((value) =>
      Object.values((value ?? {}) as Record<string, unknown>),
    )
    return texts.filter((text) => typeof text === 'string')
  })
}

function toEntryName({ client, file, path, server }: MovedEntry) {
  return { client, file, name: path.at(-1), server }
}

function formatUndo({ moved, fate, because }: UndoneMove, output: Output): string {
  const style = fate === 'restored' || fate === 'as it was' ? 'green' : 'yellow'
  const name = printable(moved.path.at(-1) ?? '')
  const where = output.paint('dim', printable(moved.file))
  const why = because === undefined ? '' : `: ${printable(because)}`
  return `${output.paint(style, fate)}  ${CLIENTS[moved.client]}: ${name}  ${where}${why}`
}
