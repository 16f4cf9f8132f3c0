// An entry of a client as a server that the gate could run, or the reason why it stays: what only the
// client can fill, a login that the client holds, a transport that the gate does not take. Pure.

import type { SandboxProfile } from '@sluice/gateway/config/config'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { ClientFile, McpClientId } from './client.ts'
import { pathsOf } from './client-files.ts'
import type { DiscoveredEntry } from './read-entries.ts'

/** A reason why an entry stays where it is. */
class NotMovableError extends Error {}

const BRACES = /\$\{([^}]*)(?:\}|$)/g
const SHELL = /\$\{([^}]*)(?:\}|$)|\$([A-Za-z_]\w*)/g

const SPELLINGS: Readonly<Partial<Record<McpClientId, Spelling>>> = {
  'claude-code': { pattern: BRACES, bare: true },
  cursor: { pattern: BRACES, editor: true },
  vscode: { pattern: BRACES, editor: true },
  copilot: { pattern: SHELL, bare: true },
  windsurf: { pattern: BRACES, editor: true },
  gemini: { pattern: SHELL, bare: true },
}

/** Why an entry stays that goes through a gate. */
export const BEHIND = 'it is behind the gate already'

export type TextTemplate = readonly TextPart[]

export type ParsedServer =
  | {
      readonly kind: 'stdio'
      readonly command: readonly TextTemplate[]
      readonly env: Readonly<Record<string, TextTemplate>>
      readonly cwd: string
      /** What the client's own sandbox let it do. */
      readonly sandbox?: SandboxProfile
    }
  | {
      readonly kind: 'http'
      readonly url: TextTemplate
      readonly headers: Readonly<Record<string, TextTemplate>>
    }

export interface HostEnvironment {
  readonly platform: string
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type ServerReadResult = { readonly server: ParsedServer } | { readonly stays: string }

export function readServer(
  entry: DiscoveredEntry,
  { client }: ClientFile,
  here: HostEnvironment,
): ServerReadResult {
  try {
    if (entry.off !== undefined) throw new NotMovableError(entry.off)
    if (entry.stuck !== undefined) throw new NotMovableError(entry.stuck)
    return { server: new EntryReader(entry, client, here).read() }
  } catch (error) {
    if (error instanceof NotMovableError) return { stays: error.message }
    throw error
  }
}

/** Keys by which the client would do something that the gate would not. */
const CLIENTS_OWN: Readonly<Record<string, string>> = {
  envFile: 'it takes its variables from a file (`envFile`)',
  headersHelper: 'its headers come from a program that the client runs',
  oauth: 'it has a login that the client holds',
  auth: 'it has a login that the client holds',
  authProviderType: 'it has a login that the client holds',
  oauth_resource: 'it has a login that the client holds',
  tcp: 'the gate does not speak its transport',
}

class EntryReader {
  readonly #entry: DiscoveredEntry
  readonly #client: McpClientId
  readonly #here: HostEnvironment
  readonly #around: VariableScope

  constructor(entry: DiscoveredEntry, client: McpClientId, here: HostEnvironment) {
    this.#entry = entry
    this.#client = client
    this.#here = here
    this.#around = {
      environment: here.environment,
      home: here.home,
      separator: pathsOf(here).sep,
      ...(entry.project === undefined ? {} : { project: entry.project }),
    }
  }

  read(): ParsedServer {
    const { value } = this.#entry
    for (const [key, why] of Object.entries(CLIENTS_OWN))
      if (value[key] !== undefined && value[key] !== false) throw new NotMovableError(why)
    const type = value.type ?? value.transport
    if (type === 'sse') throw new NotMovableError('it speaks the old SSE transport')
    // `local` is what Copilot calls stdio.
    const known = ['stdio', 'local', 'http', 'streamable-http', 'streamableHttp']
    if (type !== undefined && !known.includes(String(type)))
      throw new NotMovableError(`its transport \`${String(type)}\` is none that the gate takes`)
    const url = value.httpUrl ?? value.serverUrl ?? value.url
    if (value.command === undefined) return this.#http(value, url)
    if (url !== undefined) throw new NotMovableError('it has both a command and an address')
    return this.#stdio(value)
  }

  #stdio(value: JsonObject): ParsedServer {
    const args = value.args ?? []
    if (!Array.isArray(args)) throw new NotMovableError('its `args` is not a list')
    const words = [value.command, ...(args as readonly JsonValue[])]
    const command = words.map((word) => this.#text(word as JsonValue, 'command'))
    if (words.includes('stdio') && words.includes('--server') && words.some(isSluice))
      throw new NotMovableError(BEHIND)
    const { project } = this.#entry
    const { resolve } = pathsOf(this.#here)
    const cwd = value.cwd === undefined ? undefined : this.#literal(value.cwd, 'cwd')
    if (cwd === undefined && project === undefined && words.some(isRelative))
      throw new NotMovableError('it names a file from the folder that the client happens to run in')
    return {
      kind: 'stdio',
      command,
      env: { ...this.#texts(value.env, 'env'), ...this.#forwarded(value.env_vars) },
      cwd: resolve(project ?? this.#here.home, cwd ?? '.'),
      ...this.#sandbox(value),
    }
  }

  /** VS Code: everything may be read but what is denied, which the gate's sandbox has no words for. */
  #sandbox({ sandboxEnabled, sandbox = {} }: JsonObject): { readonly sandbox?: SandboxProfile } {
    if (sandboxEnabled !== true) return {}
    const { filesystem = {}, network = {} } = isObject(sandbox) ? sandbox : {}
    const files = isObject(filesystem) ? filesystem : {}
    const hosts = isObject(network) ? network : {}
    if ([files.denyRead, files.denyWrite, hosts.deniedDomains].some(hasItems))
      throw new NotMovableError('its sandbox denies what the gate’s can only leave out')
    const { home } = this.#here
    const { resolve } = pathsOf(this.#here)
    const list = (value: JsonValue | undefined) =>
      Array.isArray(value) ? value.map((item: JsonValue) => this.#literal(item, 'sandbox')) : []
    const toPath = (path: string) => resolve(this.#entry.project ?? home, path.replace(/^~/, home))
    const write = list(files.allowWrite).map(toPath)
    return { sandbox: { read: [home], write, hosts: list(hosts.allowedDomains) } }
  }

  #http(value: JsonObject, url: JsonValue | undefined): ParsedServer {
    if (url === undefined) throw new NotMovableError('it has neither a command nor an address')
    const address = this.#text(url, 'url')
    const shown = address.map((part) => (typeof part === 'string' ? part : 'x')).join('')
    if (!/^https?:\/\//i.test(shown) || !URL.canParse(shown))
      throw new NotMovableError('its address is none of http or https')
    if (/\/sse\/?$/.test(new URL(shown).pathname))
      throw new NotMovableError('it speaks the old SSE transport')
    const bearer = value.bearer_token_env_var
    return {
      kind: 'http',
      url: address,
      headers: {
        ...this.#texts(value.headers, 'headers'),
        ...this.#texts(value.http_headers, 'http_headers'),
        ...this.#readTexts(value.env_http_headers),
        ...(bearer === undefined
          ? {}
          : { Authorization: ['Bearer ', this.#variable(bearer)] as TextTemplate }),
      },
    }
  }

  /** Codex: names of variables that the server is to see. */
  #forwarded(value: JsonValue | undefined): Record<string, TextTemplate> {
    if (value === undefined) return {}
    if (!Array.isArray(value)) throw new NotMovableError('its `env_vars` is not a list of names')
    const { environment } = this.#here
    const names = (value as readonly JsonValue[]).map((name) => {
      if (typeof name !== 'string')
        throw new NotMovableError('its `env_vars` is not a list of names')
      return name
    })
    // A client hands over its own environment, and so what differs from client to client.
    const there = names.filter((name) => environment[name] && !OF_ONE_CLIENT.test(name))
    return Object.fromEntries(there.map((name) => [name, [{ variable: name }]]))
  }

  #readTexts(value: JsonValue | undefined): Record<string, TextTemplate> {
    const pairs = isObject(value) ? Object.entries(value) : []
    return Object.fromEntries(pairs.map(([name, one]) => [name, [this.#variable(one)]]))
  }

  #variable(name: JsonValue): TextPart {
    if (typeof name === 'string' && this.#here.environment[name]) return { variable: name }
    throw new NotMovableError(`the environment has no \`${String(name)}\``)
  }

  #texts(value: JsonValue | undefined, key: string): Record<string, TextTemplate> {
    if (value === undefined || value === null) return {}
    if (!isObject(value))
      throw new NotMovableError(`its \`${key}\` has another form than the client's`)
    // VS Code takes a variable away by null.
    const pairs = Object.entries(value).filter(([, one]) => one !== null)
    return Object.fromEntries(pairs.map(([name, one]) => [name, this.#text(one, key)]))
  }

  #text(value: JsonValue, key: string): TextTemplate {
    if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
    if (typeof value !== 'string')
      throw new NotMovableError(`its \`${key}\` has another form than the client's`)
    return fillVariables(value, this.#client, this.#around)
  }

  #literal(value: JsonValue, key: string): string {
    return fillTemplate(this.#text(value, key), this.#here.environment)
  }
}

/** The text, with the values of its variables. */
export function fillTemplate(
  parts: TextTemplate,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : environment[part.variable]))
    .join('')
}

function hasItems(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length > 0
}

function isRelative(word: JsonValue | undefined): boolean {
  return typeof word === 'string' && /^(?:\.{1,2}(?:[\\/].*)?|[^-\s:]+=\.{1,2}[\\/].*)$/s.test(word)
}

function isSluice(word: JsonValue | undefined): boolean {
  return typeof word === 'string' && /(?:^|[\\/])sluice(?:\.js|\.cmd)?$/.test(word)
}

type TextPart = string | { readonly variable: string }

interface VariableScope {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly separator: string
  readonly project?: string
}

interface Spelling {
  readonly pattern: RegExp
  /** `${NAME}` is a variable, `${NAME:-text}` has a text for when there is none. */
  readonly bare?: boolean
  /** `${env:NAME}`, `${userHome}` and the like. */
  readonly editor?: boolean
}

function fillVariables(text: string, client: McpClientId, around: VariableScope): TextPart[] {
  const spelling = SPELLINGS[client]
  if (spelling === undefined) return text === '' ? [] : [text]
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(spelling.pattern)) {
    // Without its end it is text.
    if (match[0].startsWith('${') && !match[0].endsWith('}')) continue
    if (match.index > at) parts.push(text.slice(at, match.index))
    parts.push(fill(match[1] ?? match[2] ?? '', spelling, around))
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

function fill(inside: string, { bare, editor }: Spelling, around: VariableScope): TextPart {
  const [, name, text] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? []
  if (bare === true && name !== undefined)
    return text !== undefined && !around.environment[name] ? text : variable(name, around)
  const [, kind = '', word = ''] = /^([\w/]*):?(.*)$/s.exec(inside) ?? []
  if (editor === true && kind === 'env') return variable(word, around)
  if (kind === 'input') throw new NotMovableError(`it asks you for \`${word}\` when it starts`)
  if (editor === true) {
    if (inside === 'userHome') return around.home
    if (inside === 'pathSeparator' || inside === '/') return around.separator
    const { project } = around
    if (inside === 'workspaceFolder' && project !== undefined) return project
    if (inside === 'workspaceFolderBasename' && project !== undefined)
      return project.split(/[\\/]/).at(-1) ?? ''
  }
  throw new NotMovableError(`\`\${${inside}}\` is something only the client can fill`)
}

/** Where a client was started: another value for each, and the gate would take the first client's for all. */
const OF_ONE_CLIENT =
  /^(?:PWD|OLDPWD|INIT_CWD|CLAUDE_PROJECT_DIR|VSCODE_CWD|WINDOWID|TERM_SESSION_ID|TMUX_PANE|STY|SHLVL|TTY)$/
/** The folder of the project, in an entry that belongs to one. */
const PROJECT_FOLDER = /^(?:PWD|INIT_CWD|CLAUDE_PROJECT_DIR|VSCODE_CWD)$/

function variable(name: string, { environment, project }: VariableScope): TextPart {
  if (project !== undefined && PROJECT_FOLDER.test(name)) return project
  if (OF_ONE_CLIENT.test(name))
    throw new NotMovableError(
      `\`${name}\` is another one for each client, and the gate starts one server for all`,
    )
  if (/^[A-Za-z_]\w*$/.test(name) && environment[name]) return { variable: name }
  throw new NotMovableError(`the environment has no \`${name}\`: set it and run init again`)
}
