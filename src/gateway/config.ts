// sluice.yaml to what the gate runs on. Paths are taken from the file's own folder; `${NAME}` is an
// environment variable, and a missing one is an error at its line.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { dirname, resolve } from 'node:path'
import { asMap, checkShape } from '../document/check-shape.ts'
import { type Problem, Problems } from '../document/problem.ts'
import {
  entry,
  type Located,
  type LocatedMap,
  type LocatedScalar,
  readDocument,
} from '../document/read-document.ts'
import { CONFIG } from './config-shape.ts'

export type ServerConfig =
  | {
      readonly kind: 'stdio'
      readonly command: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string
    }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }

export interface GateConfig {
  readonly file: string
  readonly host: string
  readonly port: number
  readonly data: string
  readonly servers: Readonly<Record<string, ServerConfig>>
  readonly policy?: string
  readonly house?: string
  readonly sync: 'normal' | 'full'
}

type Environment = Readonly<Record<string, string | undefined>>

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export function readConfig(
  source: { readonly file: string; readonly text: string },
  environment: Environment,
): { readonly config?: GateConfig; readonly problems: readonly Problem[] } {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree === undefined || !checkShape(tree, CONFIG, 'the configuration', problems))
    return { problems: problems.sorted() }
  const reader = new ConfigReader(dirname(resolve(source.file)), environment, problems)
  const config = reader.read(asMap(tree), source.file)
  return problems.hasErrors
    ? { problems: problems.sorted() }
    : { config, problems: problems.sorted() }
}

/** Only where the data is and what the servers are called: for commands that operate a gate. Undefined
 * where the file does not say. */
export function readPlace(
  source: { readonly file: string; readonly text: string },
  environment: Environment,
): { readonly data: string; readonly servers: readonly string[] } | undefined {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree?.kind !== 'map') return undefined
  const servers = entry(tree, 'servers')
  const names = servers?.kind === 'map' ? servers.entries.map(({ key }) => String(key.value)) : []
  const reader = new ConfigReader(dirname(resolve(source.file)), environment, problems)
  const data = reader.data(tree)
  return problems.hasErrors ? undefined : { data, servers: names }
}

class ConfigReader {
  readonly #folder: string
  readonly #environment: Environment
  readonly #problems: Problems

  constructor(folder: string, environment: Environment, problems: Problems) {
    this.#folder = folder
    this.#environment = environment
    this.#problems = problems
  }

  read(map: LocatedMap, file: string): GateConfig {
    const servers = asMap(entry(map, 'servers')).entries.map(
      ({ key, value }) => [String(key.value), this.#server(asMap(value))] as const,
    )
    const ledger = asMap(entry(map, 'ledger'))
    return {
      file: resolve(file),
      ...this.#listen(entry(map, 'listen')),
      data: this.data(map),
      servers: Object.fromEntries(servers),
      ...optional('policy', this.#path(entry(map, 'policy'))),
      ...optional('house', this.#path(entry(map, 'house'))),
      sync:
        (entry(ledger, 'sync') as LocatedScalar | undefined)?.value === 'full' ? 'full' : 'normal',
    }
  }

  data(map: LocatedMap): string {
    return this.#path(entry(map, 'data')) ?? resolve(this.#folder, '.sluice')
  }

  #server(map: LocatedMap): ServerConfig {
    const command = entry(map, 'command')
    const url = entry(map, 'url')
    if ((command === undefined) === (url === undefined))
      this.#wrong(map, 'a server has a `command` or a `url`, one of them', 'say how to reach it')
    const odd = map.entries.find(({ key }) =>
      (url ? ['env', 'cwd'] : ['headers']).includes(String(key.value)),
    )
    if (odd !== undefined) {
      const what = `\`${odd.key.value}\` does nothing for a server with a \`${url ? 'url' : 'command'}\``
      this.#wrong(odd.key, what, 'take it away')
    }
    if (url !== undefined)
      return {
        kind: 'http',
        url: this.#address(url),
        headers: this.#headers(entry(map, 'headers')),
      }
    const words = command?.kind === 'list' ? command.items.map((item) => this.#text(item)) : []
    const env = this.#texts(entry(map, 'env'))
    return {
      kind: 'stdio',
      command: words,
      env,
      cwd: this.#path(entry(map, 'cwd')) ?? this.#folder,
    }
  }

  #address(node: Located): string {
    const address = this.#text(node)
    // As it was written: what a variable holds may be a secret.
    const { value } = node as LocatedScalar
    if (!/^https?:\/\//.test(address) || !URL.canParse(address))
      this.#wrong(node, `\`${value}\` is no http or https address`, 'write `https://…/mcp`')
    return address
  }

  #headers(node: Located | undefined): Record<string, string> {
    const headers = this.#texts(node)
    for (const { key } of asMap(node).entries) {
      const name = String(key.value)
      try {
        validateHeaderName(name)
        validateHeaderValue(name, headers[name] ?? '')
      } catch {
        this.#wrong(key, `no header can be \`${name}\` with this value`, 'take out what is odd')
      }
    }
    return headers
  }

  #wrong({ at }: Pick<Located, 'at'>, message: string, help: string): void {
    this.#problems.error('CONFIG_SERVER', at, message, help)
  }

  #listen(node: Located | undefined): { host: string; port: number } {
    if (node === undefined) return { host: '127.0.0.1', port: 7433 }
    const text = this.#text(node)
    const match = /^(.+):(\d{1,5})$/.exec(text)
    const [, host = '', port = ''] = match ?? []
    if (!LOOPBACK.includes(host) || Number(port) > 65_535)
      this.#problems.error(
        'CONFIG_LISTEN',
        node.at,
        `\`${text}\` is no loopback address with a port`,
        'write `127.0.0.1:7433`; beyond loopback there is no authentication yet',
      )
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  }

  #path(node: Located | undefined): string | undefined {
    return node === undefined ? undefined : resolve(this.#folder, this.#text(node))
  }

  #texts(node: Located | undefined): Record<string, string> {
    return Object.fromEntries(
      asMap(node).entries.map(({ key, value }) => [String(key.value), this.#text(value)]),
    )
  }

  /** With `${NAME}` filled in. */
  #text(node: Located): string {
    const { value, at } = node as LocatedScalar
    return String(value).replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
      const filled = this.#environment[name]
      if (filled !== undefined) return filled
      this.#problems.error(
        'CONFIG_VARIABLE',
        at,
        `the environment has no \`${name}\``,
        `set ${name}, or write the value`,
      )
      return whole
    })
  }
}

function optional<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string })
}
