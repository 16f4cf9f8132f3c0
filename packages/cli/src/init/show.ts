// What `sluice init` found and what it is about to write, for people: servers by client with the
// command that starts them, reasons for what stays, and every line that would change. Keys are shown
// as stars of the same length unless they are asked for.

import { type Output, plural, printable } from '../terminal/output.ts'
import { CLIENTS, type ClientFile } from './files/client.ts'
import type { ServerYaml } from './move/extract-secrets.ts'
import type { DiscoveredServer, DiscoveryResult } from './move/find-servers.ts'
import type { NamedServer } from './move/name-servers.ts'
import { listChangedLines } from './move/show-change.ts'

export interface Change {
  readonly file: string
  /** Undefined: it is not there yet. */
  readonly before?: string
  readonly after: string
  /** Of a new file, if it is not the usual one. */
  readonly mode?: number
}

export function showFound(
  { servers, broken, files }: DiscoveryResult,
  named: readonly NamedServer[],
  output: Output,
): void {
  for (const from of files) {
    const own = servers.filter((one) => one.from === from)
    if (own.length === 0) continue
    output.line(
      `${output.paint('bold', CLIENTS[from.client])}  ${printable(from.file)}${comes(from)}`,
    )
    for (const one of own) output.line(`  ${formatServer(one, named, output)}`)
  }
  for (const { from, error } of broken)
    output.line(`${output.paint('red', CLIENTS[from.client])}  ${printable(error.message)}`)
  const clients = new Set(servers.map(({ from }) => from.client))
  output.line(`${plural(servers.length, 'server')} of ${plural(clients.size, 'client')}`)
}

function comes({ scope }: ClientFile): string {
  return scope === 'project'
    ? '  (a file of the project, not yours: each server is started only if you agree to it by name)'
    : ''
}

function formatServer(
  one: DiscoveredServer,
  named: readonly NamedServer[],
  output: Output,
): string {
  const where = one.entry.project === undefined ? '' : ` (${printable(one.entry.project)})`
  const title = `${printable(one.entry.name)}${where}`
  if ('stays' in one.reading)
    return `${title}  ${output.paint('yellow', 'stays')}: ${printable(one.reading.stays)}`
  const own = named.find(({ found }) => found.includes(one))
  const as = own === undefined || own.name === one.entry.name ? '' : ` as \`${own.name}\``
  return `${title}${as}  ${output.paint('dim', startOf(own?.server ?? {}))}`
}

/** The command or address, as sluice.yaml gets it: keys by their names. */
export function startOf({ command, url }: ServerYaml): string {
  const word = (text: string) => (/^[\w@%+=:,./\\${}-]+$/.test(text) ? text : JSON.stringify(text))
  return printable(command === undefined ? (url ?? '') : command.map(word).join(' '))
}

/** Every line that is taken away or put there. */
export function showChanges(
  changes: readonly Change[],
  secrets: readonly string[],
  output: Output,
): void {
  for (const { file, before, after, mode } of changes) {
    if (before === after) continue
    const isNew = before === undefined ? `(new${mode === undefined ? '' : ', for you alone'})` : ''
    output.line(output.paint('bold', `${printable(file)} ${isNew}`.trimEnd()))
    for (const { kind, text } of listChangedLines(before ?? '', after)) {
      const shown = mask(text.replace(/\r?\n$/, ''), secrets)
      // A tab is what it looks like.
      const line = `${kind} ${shown.split('\t').map(printable).join('\t')}`
      const style = kind === '+' ? 'green' : kind === '-' ? 'red' : 'dim'
      output.line(output.paint(style, line))
    }
  }
}

/** The same changes with their keys as stars, for output. */
export function maskChanges(changes: readonly Change[], secrets: readonly string[]): Change[] {
  return changes.map(({ before, after, ...rest }) => ({
    ...rest,
    ...(before === undefined ? {} : { before: mask(before, secrets) }),
    after: mask(after, secrets),
  }))
}

const MASKED_CHARS_MIN = 4

function mask(text: string, secrets: readonly string[]): string {
  let masked = text
  for (const secret of secrets)
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)])
      if (form.length >= MASKED_CHARS_MIN)
        masked = masked.replaceAll(form, (all) => '*'.repeat(all.length))
  return masked
}
