// sluice.env next to sluice.yaml: the values of `${NAME}` that readers of the configuration must not
// see. One name per line: `NAME=value` to the end of the line, or `NAME="…"` as JSON if the value has
// line breaks or similar. The environment of the process overrides it. Pure.

import { dirname, join, resolve } from 'node:path'
import type { FixedGrant } from '@sluice/access/identity/callers/grant'
import { type Problem, Problems } from '@sluice/policy/document/problem'
import { HOOK_CLIENTS, type HookClient } from '../hooks/clients/table.ts'

/** What stands beside the configuration and is the gate's own: the lock file, the keys, the tokens of hooks, and
 * what `sluice init` moved and wrote. */
export function filesBeside({ file }: { readonly file: string }): string[] {
  const folder = dirname(resolve(file))
  const headers = HOOK_CLIENTS.map(hookHeaderName)
  const names = ['sluice.lock', 'sluice.env', 'sluice.moved.json', 'sluice.hooked.json', ...headers]
  return names.map((name) => join(folder, name))
}

/** The files with keys of agents of ACS: who reads one can ask in the name of its agent. */
export function keyFilesOf(grants: readonly FixedGrant[]): string[] {
  return grants.flatMap(({ acs }) => {
    if (acs === undefined || typeof acs.secret === 'string') return []
    return acs.secret.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.file]))
  })
}

/** The file with the token that the hooks of a client send. */
export function hookHeaderName(client: HookClient): string {
  return `sluice.${client}.header`
}

export function keysPath(config: string): string {
  return join(dirname(resolve(config)), 'sluice.env')
}

export type Keys = ReadonlyMap<string, string>

export function readKeys(source: { readonly file: string; readonly text: string }): {
  readonly keys: Keys
  readonly problems: readonly Problem[]
} {
  const problems = new Problems(source.file, source.text)
  const keys = new Map<string, string>()
  let at = 0
  for (const whole of source.text.split('\n')) {
    const line = (at === 0 ? whole.replace(/^\uFEFF/, '') : whole).replace(/\r$/, '')
    const start = at
    at += whole.length + 1
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s.exec(line) ?? []
    const wrong = (what: string, help: string): void =>
      problems.error('CONFIG_KEYS', start, what, help)
    // The line may be a secret: it is not quoted.
    if (name === undefined || value === undefined)
      wrong('this line is not of the form `NAME=value`', 'write one')
    else if (keys.has(name)) wrong(`\`${name}\` stands there twice`, 'keep one')
    else {
      const read = readValue(value)
      if (read === undefined) wrong(`the quotes of \`${name}\` do not match`, 'write `"…"` as JSON')
      else keys.set(name, read)
    }
  }
  return { keys, problems: problems.sorted() }
}

function readValue(text: string): string | undefined {
  if (!text.startsWith('"')) return text
  try {
    const value: unknown = JSON.parse(text.trimEnd())
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** The file with these names set; every other line stays as it is. */
export function writeKeys(text: string, keys: Keys): string {
  const left = new Map(keys)
  const lines = text === '' ? [HEAD] : text.replace(/\r?\n$/, '').split('\n')
  const rest = lines.map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1]
    const value = name === undefined ? undefined : left.get(name)
    if (name === undefined || value === undefined) return line
    left.delete(name)
    return formatEnvLine(name, value)
  })
  return `${[...rest, ...[...left].map(([name, value]) => formatEnvLine(name, value))].join('\n')}\n`
}

const HEAD = '# The values of the variables in sluice.yaml: keys, for your eyes only.'

function formatEnvLine(name: string, value: string): string {
  const isPlain = /^[^"\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u.test(value)
  return `${name}=${isPlain ? value : JSON.stringify(value)}`
}
