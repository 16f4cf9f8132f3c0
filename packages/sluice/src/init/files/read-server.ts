// An entry of a client as a server that the gate could run, or the reason why it stays: what only the
// client can fill, a login that the client holds, a transport that the gate does not take. Pure.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import type { Client, ClientFile } from './client.ts'
import { pathsOf } from './client-files.ts'
import { fillVariables, type Part, Stays, type Surroundings } from './expand-variables.ts'
import type { FoundEntry } from './read-entries.ts'

export type Text = readonly Part[]

export type ReadServer =
  | {
      readonly kind: 'stdio'
      readonly command: readonly Text[]
      readonly env: Readonly<Record<string, Text>>
      readonly cwd: string
    }
  | { readonly kind: 'http'; readonly url: Text; readonly headers: Readonly<Record<string, Text>> }

export interface Here {
  readonly platform: string
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type Reading = { readonly server: ReadServer } | { readonly stays: string }

export function readServer(entry: FoundEntry, { client }: ClientFile, here: Here): Reading {
  try {
    if (entry.off !== undefined) throw new Stays(entry.off)
    if (entry.stuck !== undefined) throw new Stays(entry.stuck)
    return { server: new EntryReader(entry, client, here).read() }
  } catch (error) {
    if (error instanceof Stays) return { stays: error.message }
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
  sandbox: 'the client runs it in a sandbox of its own',
  sandboxEnabled: 'the client runs it in a sandbox of its own',
  tcp: 'its transport is none that the gate takes',
}

class EntryReader {
  readonly #entry: FoundEntry
  readonly #client: Client
  readonly #here: Here
  readonly #around: Surroundings

  constructor(entry: FoundEntry, client: Client, here: Here) {
    this.#entry = entry
    this.#client = client
    this.#here = here
    this.#around = {
      ...{ environment: here.environment, home: here.home, separator: pathsOf(here).sep },
      ...(entry.project === undefined ? {} : { project: entry.project }),
    }
  }

  read(): ReadServer {
    const { value } = this.#entry
    for (const [key, why] of Object.entries(CLIENTS_OWN))
      if (value[key] !== undefined && value[key] !== false) throw new Stays(why)
    const type = value.type ?? value.transport
    if (type === 'sse') throw new Stays('it speaks the old SSE transport')
    const known = ['stdio', 'http', 'streamable-http', 'streamableHttp']
    if (type !== undefined && !known.includes(String(type)))
      throw new Stays(`its transport \`${String(type)}\` is none that the gate takes`)
    const url = value.httpUrl ?? value.serverUrl ?? value.url
    if (value.command === undefined) return this.#http(value, url)
    if (url !== undefined) throw new Stays('it has both a command and an address')
    return this.#stdio(value)
  }

  #stdio(value: JsonObject): ReadServer {
    const args = value.args ?? []
    if (!Array.isArray(args)) throw new Stays('its `args` are no list')
    const words = [value.command, ...(args as readonly JsonValue[])]
    const command = words.map((word) => this.#text(word as JsonValue, 'command'))
    if (words.includes('stdio') && words.includes('--server') && words.some(isSluice))
      throw new Stays('it is behind the gate already')
    const { project } = this.#entry
    const { resolve } = pathsOf(this.#here)
    const cwd = value.cwd === undefined ? undefined : this.#literal(value.cwd, 'cwd')
    if (cwd === undefined && project === undefined && words.some(isRelative))
      throw new Stays('it names a file from the folder that the client happens to run in')
    return {
      kind: 'stdio',
      command,
      env: { ...this.#texts(value.env, 'env'), ...this.#forwarded(value.env_vars) },
      cwd: resolve(project ?? this.#here.home, cwd ?? '.'),
    }
  }

  #http(value: JsonObject, url: JsonValue | undefined): ReadServer {
    if (url === undefined) throw new Stays('it has neither a command nor an address')
    const address = this.#text(url, 'url')
    const shown = address.map((part) => (typeof part === 'string' ? part : 'x')).join('')
    if (!/^https?:\/\//i.test(shown) || !URL.canParse(shown))
      throw new Stays('its address is none of http or https')
    if (/\/sse\/?$/.test(new URL(shown).pathname))
      throw new Stays('it speaks the old SSE transport')
    const bearer = value.bearer_token_env_var
    return {
      kind: 'http',
      url: address,
      headers: {
        ...this.#texts(value.headers, 'headers'),
        ...this.#texts(value.http_headers, 'http_headers'),
        ...this.#named(value.env_http_headers),
        ...(bearer === undefined
          ? {}
          : { Authorization: ['Bearer ', this.#variable(bearer)] as Text }),
      },
    }
  }

  /** Codex: names of variables that the server is to see. */
  #forwarded(value: JsonValue | undefined): Record<string, Text> {
    if (value === undefined) return {}
    if (!Array.isArray(value)) throw new Stays('its `env_vars` are no list of names')
    const { environment } = this.#here
    const names = (value as readonly JsonValue[]).map((name) => {
      if (typeof name !== 'string') throw new Stays('its `env_vars` are no list of names')
      return name
    })
    const there = names.filter((name) => environment[name])
    return Object.fromEntries(there.map((name) => [name, [{ variable: name }]]))
  }

  #named(value: JsonValue | undefined): Record<string, Text> {
    const pairs = isObject(value) ? Object.entries(value) : []
    return Object.fromEntries(pairs.map(([name, one]) => [name, [this.#variable(one)]]))
  }

  #variable(name: JsonValue): Part {
    if (typeof name === 'string' && this.#here.environment[name]) return { variable: name }
    throw new Stays(`the environment has no \`${String(name)}\``)
  }

  #texts(value: JsonValue | undefined, key: string): Record<string, Text> {
    if (value === undefined || value === null) return {}
    if (!isObject(value)) throw new Stays(`its \`${key}\` has another form than the client's`)
    // VS Code takes a variable away by null.
    const pairs = Object.entries(value).filter(([, one]) => one !== null)
    return Object.fromEntries(pairs.map(([name, one]) => [name, this.#text(one, key)]))
  }

  #text(value: JsonValue, key: string): Text {
    if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
    if (typeof value !== 'string')
      throw new Stays(`its \`${key}\` has another form than the client's`)
    return fillVariables(value, this.#client, this.#around)
  }

  #literal(value: JsonValue, key: string): string {
    const parts = this.#text(value, key)
    const { environment } = this.#here
    return parts
      .map((part) => (typeof part === 'string' ? part : environment[part.variable]))
      .join('')
  }
}

function isRelative(word: JsonValue | undefined): boolean {
  return typeof word === 'string' && /^(?:\.{1,2}(?:[\\/].*)?|[^-\s:]+=\.{1,2}[\\/].*)$/s.test(word)
}

function isSluice(word: JsonValue | undefined): boolean {
  return typeof word === 'string' && /(?:^|[\\/])sluice(?:\.js|\.cmd)?$/.test(word)
}
