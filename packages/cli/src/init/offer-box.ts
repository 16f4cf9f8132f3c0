// Offers the box for lines of clients with hooks, before `init` writes their entries: what it spares beside what it
// cannot do. The hosts are those that the lock files and remotes of the project name.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type BoxAvailability, findBoxAvailability } from '@sluice/gateway/isolation/boxes'
import { attempt } from '@sluice/policy/structures/attempt'
import { confirm } from '../terminal/ask.ts'
import { type Output, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'

/** Lock files, and the hosts of those that do not name them. */
const LOCK_FILES: Readonly<Record<string, readonly string[]>> = {
  'package-lock.json': [],
  'npm-shrinkwrap.json': [],
  'yarn.lock': [],
  'Gemfile.lock': [],
  'uv.lock': [],
  'poetry.lock': ['pypi.org', 'files.pythonhosted.org'],
  'Cargo.lock': ['index.crates.io', 'static.crates.io'],
  'go.sum': ['proxy.golang.org', 'sum.golang.org'],
  'composer.lock': ['repo.packagist.org'],
}
/** Where the others and the settings of git have an address: `"resolved": "https://…`, `remote: https://…`, `url = git@…:`. */
const ADDRESS = /(?:resolved"?:? "?|remote: |(?:url|registry) = "?)([^\s",}]{1,300})/g

interface BoxOffer {
  readonly clients: readonly string[]
  /** Folders in the projects whose hosts are offered. */
  readonly projects: readonly string[]
  /** `--box`: the person wants it. */
  readonly wanted: boolean
  /** `--yes`: nobody is asked. */
  readonly silent: boolean
}

/** The `sandbox` for the entries of the clients; undefined if their lines are to run as they come. */
export async function offerBox(
  { clients, projects, wanted, silent }: BoxOffer,
  output: Output,
): Promise<{ readonly hosts: readonly string[] } | undefined> {
  const available = await findBoxAvailability()
  if (!available.ok) {
    output.remark(`lines of these clients cannot run in a box here: ${describe(available)}`)
    return undefined
  }
  if (silent && !wanted) {
    output.remark('lines of these clients can run in a box: see --box')
    return undefined
  }
  const hosts = [...new Set(projects.flatMap(findProjectHosts))].sort()
  for (const line of describeBox(clients, hosts)) output.remark(line)
  if (wanted || (await confirm('run their lines in a box?', output))) return { hosts }
  return undefined
}

function describe({ reason, help }: Extract<BoxAvailability, { ok: false }>): string {
  return `${reason}; ${help}`
}

function describeBox(clients: readonly string[], hosts: readonly string[]): string[] {
  return [
    `lines of ${clients.join(', ')} can run in a box, one for each session:`,
    '  no question any more: `npm ci`, `npm test`, `git commit`, `make`, whatever a program of the project starts',
    `  in it: the project, the programs of this machine, ${hosts.map(printable).join(', ') || 'no hosts'}`,
    '  not in it: your files and keys, other hosts, `git push`, `git remote add`, `docker`, `sudo`: such a line ends with `# outside`, and you are asked',
    '  what a line deletes comes back by `sluice undo`, but for files that git ignores',
  ]
}

/** Hosts that lock files and remotes of the project around a folder name. */
export function findProjectHosts(folder: string): string[] {
  const top = findTop(resolve(folder))
  const read = (name: string) => attempt(() => readText(join(top, name)), '')
  const locks = Object.entries(LOCK_FILES).filter(([name]) => existsSync(join(top, name)))
  const named = locks.filter(([, hosts]) => hosts.length === 0).map(([name]) => read(name))
  const texts = [...named, read('.git/config')]
  const found = texts
    .flatMap((text) => [...text.matchAll(ADDRESS)])
    .flatMap(([, address = '']) => hostOf(address) ?? [])
  return [...new Set([...found, ...locks.flatMap(([, hosts]) => hosts)])]
}

/** Undefined for a path. Addresses of git may have no scheme: `git@code.example:ann/shop`. */
function hostOf(address: string): string | undefined {
  const [first = '', rest = ''] = address.split('://')
  const place = address.includes('://') ? rest : first.includes(':') ? first : ''
  const [authority = ''] = place.split(/[:/]/)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return /^[\w-]+\.[\w.-]+$/.test(host) ? host : undefined
}

function findTop(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return folder
  }
}
