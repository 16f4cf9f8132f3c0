// The last words of `sluice init`: what is protected from now on, what is not and why, where the clients will
// run Sluice from, and what to do next.

import { type Output, printable } from '../terminal/output.ts'
import { CLIENTS } from './files/client.ts'
import { BEHIND } from './files/read-server.ts'
import type { DiscoveredServer } from './move/find-servers.ts'
import { type MovedEntry, sameEntry } from './move/move-log.ts'
import type { NamedServer } from './move/name-servers.ts'
import { cloneRoot, PACKAGE } from './place.ts'

export interface ClosingReport {
  readonly found: readonly DiscoveredServer[]
  /** Their names at the gate. */
  readonly named: readonly NamedServer[]
  /** Tools whose definitions wait for a person. */
  readonly held: readonly string[]
  readonly moved: readonly MovedEntry[]
  readonly left: readonly {
    readonly name: string
    readonly file: string
    readonly because: string
  }[]
  readonly isObserved: boolean
  /** Entries became addresses: the gate has to be started by a person. */
  readonly isUrl: boolean
  /** Somebody has set a PIN already. */
  readonly canApprove: boolean
  /** `--config FILE`, where commands would not find it by themselves. */
  readonly option: string
}

export function showClosing(closing: ClosingReport, output: Output): void {
  const { found, moved, isObserved } = closing
  const isMoved = ({ from, entry }: DiscoveredServer) =>
    moved.some((one) => sameEntry(one, { file: from.file, path: entry.path }))
  const isBehind = ({ reading }: DiscoveredServer) => 'stays' in reading && reading.stays === BEHIND
  const safe = found.filter((one) => isMoved(one) || isBehind(one))
  output.line()
  const word = isObserved ? 'observed' : 'protected'
  output.line(output.paint('bold', `${word}:`))
  for (const one of safe) output.line(`  ${titleOf(one)}`)
  if (safe.length === 0) output.line('  nothing: the clients are as they were')
  output.line(output.paint('bold', `not ${word}:`))
  for (const one of found.filter((each) => !safe.includes(each)))
    output.line(`  ${titleOf(one)}: ${printable(reasonFor(one, closing))}`)
  output.line(
    "  the clients' own tools (shell, files): these are not MCP calls; `sluice init --hooks` lets clients ask",
  )
  const { held, option } = closing
  if (held.length > 0) {
    const when = isObserved ? 'would wait for a person if it were enforced' : 'waits for a person'
    output.line(
      output.paint('bold', `${when}, because of its definition (\`sluice pin --held${option}\`):`),
    )
    for (const tool of held) output.line(`  ${printable(tool)}`)
  }
  showNext(closing, output)
  for (const { entry } of safe.filter(isClaudeFlow))
    output.line(
      `${output.paint('yellow', 'note')}: ${printable(entry.name)} is Claude Flow: with \`builtin: agents\` in its entry of sluice.yaml its \`wasm_*\` tools run inside the gate, the others as before`,
    )
}

function isClaudeFlow({ reading }: DiscoveredServer): boolean {
  const command =
    'server' in reading && reading.server.kind === 'stdio' ? reading.server.command : []
  const isNamed = (piece: unknown) => /(?:^|[/\\])claude-flow(?:@|$|[/\\])/.test(String(piece))
  return command.some((part) => part.some(isNamed))
}

function titleOf({ from, entry }: DiscoveredServer): string {
  const where = entry.project === undefined ? '' : ` (${entry.project})`
  return `${CLIENTS[from.client]}: ${printable(entry.name + where)}`
}

function reasonFor(one: DiscoveredServer, { left, named, option }: ClosingReport): string {
  const { from, entry, reading } = one
  if ('stays' in reading) return reading.stays
  const name = named.find(({ found }) => found.includes(one))?.name ?? entry.name
  const why = left.find(({ name, file }) => name === entry.name && file === from.file)
  if (why !== undefined) return why.because
  if (from.scope === 'project')
    return `it came with the project; \`sluice init --yes ${name} --move${option}\` moves it`
  return `\`sluice init --yes ${name} --move${option}\` moves it`
}

function showNext(closing: ClosingReport, output: Output): void {
  const { moved, isObserved, isUrl, canApprove, option } = closing
  const clients = [...new Set(moved.map(({ client }) => CLIENTS[client]))].join(', ')
  output.line(output.paint('bold', 'next:'))
  if (moved.length === 0)
    return output.line(`  \`sluice init --move${option}\` puts the gate in front`)
  const steps = [
    ...(isUrl ? [`\`sluice up${option}\`, since the entries are addresses: keep it running`] : []),
    `restart ${clients}`,
    ...(canApprove
      ? []
      : [`\`sluice approvers pin${option}\`, before agents run: with your PIN you approve calls`]),
    ...(isObserved
      ? [
          `nothing is enforced yet: after some days \`sluice enforce${option}\` lists what will change, and turns the policy on`,
        ]
      : []),
    `\`sluice doctor${option}\` checks everything, \`sluice console${option}\` opens the page`,
    `\`sluice init --undo${option}\` takes it all back`,
  ]
  for (const [at, step] of steps.entries()) output.line(`  ${at + 1}. ${step}`)
  const note = output.paint('yellow', 'note')
  const isMoved = ({ from }: DiscoveredServer) => moved.some(({ file }) => file === from.file)
  const shared = closing.found.filter((one) => one.from.scope === 'project' && isMoved(one))
  for (const file of new Set(shared.map(({ from }) => from.file)))
    output.line(
      `${note}: ${printable(file)} belongs to the project and has paths of this machine now: do not commit it (\`git update-index --skip-worktree\` keeps it out)`,
    )
  const tie = clonePath()
  if (tie !== undefined) output.line(`${note}: ${tie}`)
}

/** What the clients' entries depend on, if it may go away. */
function clonePath(): string | undefined {
  const clone = cloneRoot()
  if (clone === undefined && !/[\\/]_npx[\\/]/.test(PACKAGE)) return undefined
  const what = clone === undefined ? `the cache of npx (${PACKAGE})` : `this clone (${clone})`
  const how = clone === undefined ? '' : `; in it \`npx sluice\` is what is called \`sluice\` above`
  return `the clients run Sluice from ${what}: before you move or delete it, run \`sluice init --undo\`${how}`
}
