// sluice.yaml to what the gate runs on. Every mistake is a problem at its line; the parts on who may
// call are in files of their own.

import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { FixedGrant } from '@sluice/access/identity/callers/grant'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import type { Secret } from '@sluice/access/identity/oauth/secret-text'
import { asMap, checkShape } from '@sluice/policy/document/check-shape'
import { scalar, strings, toJson } from '@sluice/policy/document/fields'
import { type Problem, Problems } from '@sluice/policy/document/problem'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
  readDocument,
} from '@sluice/policy/document/read-document'
import { parseDuration } from '@sluice/policy/document/shape'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { toWordSet } from '@sluice/policy/structures/word-set'
import type { JsonObject } from '@sluice/policy/values/json'
import { HOOK_CLIENTS, type HookSource } from '../hooks/clients/table.ts'
import { TOOL_MODES, type ToolMode } from '../shared/tool-mode.ts'
import type { ViewConfig } from '../shared/view.ts'
import { type AgentsConfig, readAgents } from './agents.ts'
import { type AlertsConfig, readAlerts } from './alerts.ts'
import { type ListenConfig, readIssuers, readListenConfig } from './auth.ts'
import { type ChannelsConfig, readChannels } from './channels.ts'
import { type ClusterConfig, type ClusterSettings, readCluster } from './cluster.ts'
import { findDataFolder } from './data-location.ts'
import { policyNames, readGrants, readPolicies } from './grants.ts'
import { type LedgerConfig, readLedger } from './ledger.ts'
import { HOOK_CALL_MS_MAX } from './limits.ts'
import { type LoginConfig, readLogin } from './login.ts'
import { readSessions, type SessionsConfig } from './sessions.ts'
import { CONFIG, PINS, PROCESSES, STOP_WITHIN } from './shape.ts'
import { ConfigValues, type Environment, readFields, toMs } from './values.ts'
import { readViews } from './views.ts'
import {
  isBelow,
  needsProject,
  ownFilesBelow,
  resolveCommand,
  workDirectory,
} from './work-directory.ts'

/** The WASM agents, or a client with hooks. */
export type BuiltinServer = 'agents' | 'code' | HookSource

/** What any server may have. */
interface CommonServerConfig {
  readonly timeoutMs?: number
  /** Size of one message of it. */
  readonly messageBytesMax?: number
  /** Extensions of the protocol that the gate does not know and passes on as they are. */
  readonly extensions?: readonly string[]
}

export type ServerConfig = CommonServerConfig &
  (
    | {
        readonly kind: 'stdio'
        /** Its agents are the built-in ones. */
        readonly builtin?: 'agents'
        readonly command: readonly string[]
        readonly env: Readonly<Record<string, Secret>>
        /** Variables that are the client's, also if its environment is not passed on as a whole. */
        readonly clientVariables?: readonly string[]
        readonly cwd: string
        /** One process for all sessions, or for all of a principal: for servers that keep nothing. */
        readonly share?: 'principal' | 'all'
        /** How long its process stays without use, if that is not as for all. */
        readonly idleMs?: number
        /** Undefined: it runs on the floor, if there is one. */
        readonly sandbox?: 'off' | SandboxProfile
      }
    | {
        readonly kind: 'builtin'
        readonly builtin: BuiltinServer
        /** Of a client with hooks: lines of its shell run in a box. Undefined: as they come. */
        readonly sandbox?: BoxSettings
      }
    | {
        readonly kind: 'http'
        /** Its agents are the built-in ones. */
        readonly builtin?: 'agents'
        readonly url: string
        readonly headers: Readonly<Record<string, Secret>>
        /** Where it wants a login: see `sluice login`. */
        readonly login?: LoginConfig
      }
  )

/** What a locked server may do; paths are absolute. */
export type SandboxProfile = {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly hosts: readonly string[]
}

/** What lines of one client may have besides their project. `read` also shows a file of the project that usually holds
 * secrets. */
export interface BoxSettings extends SandboxProfile {
  /** Names of variables of the client that lines can see. */
  readonly env: readonly string[]
}

export interface GateConfig extends ListenConfig, AgentsConfig {
  readonly file: string
  readonly data: string
  /** Several gates share a database; undefined for the embedded store. */
  readonly cluster?: ClusterConfig
  readonly clusterSettings?: ClusterSettings
  readonly servers: Readonly<Record<string, ServerConfig>>
  /** The same as the file has them, variables not filled in: for people and the ledger. */
  readonly writtenServers?: Readonly<Record<string, JsonObject>>
  /** Its file; the configuration's own where the document stands in it. */
  readonly policy?: string
  /** Named documents for grants. */
  readonly policies: Readonly<Record<string, string>>
  /** The base policy: the document whose guardrails apply to all others. */
  readonly basePolicy?: string
  readonly grants: readonly FixedGrant[]
  readonly issuers: readonly Issuer[]
  /** The URL of the gate's client ID metadata document. */
  readonly clientDocument?: string
  readonly ledger: LedgerConfig
  /** How approvers are notified of pending approvals outside this machine. */
  readonly channels: ChannelsConfig
  /** Undefined: none are sent. */
  readonly alerts: AlertsConfig
  readonly pins: PinsConfig
  readonly processes: ProcessesConfig
  /** Without it, servers run unconfined where they cannot be isolated. */
  readonly isolation?: 'required'
  readonly sessions: SessionsConfig
  /** How clients of all servers see their tools, if they name no mode. */
  readonly toolMode: ToolMode
  /** What is listed at `/mcp/@NAME`, by name. */
  readonly views: Readonly<Record<string, ViewConfig>>
  readonly log: 'text' | 'json'
  /** How long the end of the gate may take. */
  readonly stopWithinMs: number
  /** Whether servers may be changed over `/api`. */
  readonly canApiChangeServers: boolean
  /** What names of servers begin with in the registry API; without it there is none. */
  readonly registry?: string
  /** For `/metrics`; without one it is only on the socket. */
  readonly metricsToken?: string
  /** A collector of OpenTelemetry, by OTLP over HTTP. */
  readonly otlp?: string
}

/** `pins` of sluice.yaml. */
export interface PinsConfig {
  /** Whether a definition that is seen for the first time is trusted. Absent: the gate decides by its address. */
  readonly firstSight?: 'trust' | 'hold'
  /** Parts of definitions that differ from machine to machine, as JSON Pointers. */
  readonly ignore: readonly string[]
}

/** `processes` of sluice.yaml. */
export interface ProcessesConfig {
  /** At most so many processes of servers. Absent: it depends on the memory of the machine. */
  readonly max?: number
  /** How long a process stays that nobody uses. */
  readonly idleMs: number
  /** How long a session waits for a place. */
  readonly waitMs: number
}

export function readConfig(
  source: { readonly file: string; readonly text: string },
  environment: Environment,
): { readonly config?: GateConfig; readonly problems: readonly Problem[] } {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree === undefined) return { problems: problems.sorted() }
  const values = new ConfigValues(dirname(resolve(source.file)), environment, problems)
  const filled = values.fillSections(tree, FILLED)
  if (!checkShape(filled, CONFIG, 'the configuration', problems))
    return { problems: problems.sorted() }
  const reader = new ConfigReader(values)
  const config = reader.read(asMap(filled), source.file)
  return problems.hasErrors
    ? { problems: problems.sorted() }
    : { config, problems: problems.sorted() }
}

/** Sections whose texts have their variables before they are checked: those that are read by their shape. */
const FILLED = toWordSet(
  'agents alerts approvals auth cluster grants ledger metrics models oauth pins processes registry sessions telemetry',
)

class ConfigReader {
  readonly #values: ConfigValues

  constructor(values: ConfigValues) {
    this.#values = values
  }

  read(map: LocatedMap, file: string): GateConfig {
    const servers = asMap(findEntry(map, 'servers')).entries.map(
      ({ key, value }) =>
        [String(key.value), this.#server(asMap(value), String(key.value), map, file)] as const,
    )
    const written = asMap(findEntry(map, 'servers')).entries.map(
      ({ key, value }) => [String(key.value), toJson(value) as JsonObject] as const,
    )
    // A policy that stands here is read where every other is: from its file, which is this one.
    const policyNode = findEntry(map, 'policy')
    const policy = pickDefined({
      policy: policyNode?.kind === 'map' ? resolve(file) : this.#values.path(policyNode),
    })
    const policies = readPolicies(map, this.#values)
    const names = policyNames({ ...policy, ...policies })
    const acsServers = servers.filter(([, { builtin }]) => builtin === 'acs').map(([name]) => name)
    const channels = readChannels(map, this.#values)
    return {
      file: resolve(file),
      ...readListenConfig(map, this.#values),
      data: findDataFolder(map, this.#values),
      ...readCluster(map, this.#values),
      servers: Object.fromEntries(servers),
      writtenServers: Object.fromEntries(written),
      ...policy,
      ...policies,
      grants: readGrants(map, names, this.#values, acsServers),
      ...readAgents(map),
      issuers: readIssuers(map, names, this.#values),
      ledger: readLedger(map, findDataFolder(map, this.#values), this.#values),
      channels,
      alerts: readAlerts(map, channels, this.#values),
      stopWithinMs: millisecondsOf(map, 'stop_within') ?? toMs(STOP_WITHIN),
      log: scalar(map, 'log') === 'json' ? 'json' : 'text',
      ...pickDefined({
        clientDocument: textOf(map, 'oauth', 'client_id'),
        metricsToken: textOf(map, 'metrics', 'token'),
        registry: textOf(map, 'registry', 'namespace'),
        otlp:
          textOf(map, 'telemetry', 'otlp') ?? this.#values.variable('OTEL_EXPORTER_OTLP_ENDPOINT'),
      }),
      pins: readPins(findEntry(map, 'pins')),
      sessions: readSessions(map),
      toolMode: TOOL_MODES.find((mode) => mode === textOf(map, 'mcp', 'mode')) ?? 'all',
      views: readViews(
        map,
        servers.map(([name]) => name),
        this.#values,
      ),
      processes: readProcesses(findEntry(map, 'processes')),
      ...(scalar(map, 'isolation') === 'required' ? { isolation: 'required' } : {}),
      canApiChangeServers: scalar(asMap(findEntry(map, 'api')), 'change_servers') === true,
    }
  }

  #server(map: LocatedMap, name: string, whole: LocatedMap, file: string): ServerConfig {
    const command = findEntry(map, 'command')
    const url = findEntry(map, 'url')
    const builtin = scalar(map, 'builtin')
    const ways = [command, url].filter((way) => way !== undefined).length
    if (ways > 1 || (ways === 0 && builtin === undefined))
      this.#wrong(
        map,
        'a server has a `command` or a `url`, or is `builtin: agents`',
        'say how to reach it',
      )
    const client = [...HOOK_CLIENTS, 'acs' as const].find((one) => one === builtin)
    if (ways > 0 && (client !== undefined || builtin === 'code'))
      this.#wrong(map, `\`builtin: ${builtin}\` has no \`command\` and no \`url\``, 'take it away')
    if (ways === 0 && client !== undefined)
      return {
        kind: 'builtin',
        builtin: client,
        timeoutMs: HOOK_CALL_MS_MAX,
        ...this.#boxSettings(map, whole),
      }
    if (ways === 0 && (builtin === 'agents' || builtin === 'code'))
      return { kind: 'builtin', builtin }
    const agents = builtin === 'agents' ? { builtin: 'agents' as const } : {}
    const unused = map.entries.find(({ key }) =>
      (url ? ['env', 'cwd', 'share', 'idle', 'sandbox'] : ['headers', 'auth']).includes(
        String(key.value),
      ),
    )
    if (unused !== undefined) {
      const what = `\`${unused.key.value}\` does nothing for a server with a \`${url ? 'url' : 'command'}\``
      this.#wrong(unused.key, what, 'take it away')
    }
    const extensions = strings(findEntry(map, 'extensions'))
    const mebibytes = Number.parseInt(String(scalar(map, 'max_message')), 10)
    const common = {
      ...(mebibytes > 0 ? { messageBytesMax: mebibytes * 1_048_576 } : {}),
      ...pickDefined({ timeoutMs: millisecondsOf(map, 'timeout') }),
      ...(extensions.length === 0 ? {} : { extensions }),
    }
    if (url !== undefined)
      return {
        kind: 'http',
        ...agents,
        ...common,
        url: this.#address(url),
        headers: this.#headers(findEntry(map, 'headers')),
        ...readLogin(map, this.#values, asMap(findEntry(whole, 'auth'))),
      }
    const started = this.#command(map, name, findDataFolder(whole, this.#values))
    this.#checkReach(map, name, started, [resolve(file), findDataFolder(whole, this.#values)])
    const named = findEntry(map, 'env')
    const env = this.#values.secrets(named)
    const blank = this.#values.blankNames(named)
    const variables = blank.length === 0 ? {} : { clientVariables: blank }
    return {
      kind: 'stdio',
      ...agents,
      ...common,
      ...started,
      env,
      ...variables,
      ...readShare(map),
      ...pickDefined({ idleMs: millisecondsOf(map, 'idle') }),
      ...this.#sandbox(map, whole),
    }
  }

  /** What the box of a client's lines has. `off` is a decision that a person writes down: no box is missing. */
  #boxSettings(map: LocatedMap, whole: LocatedMap): { readonly sandbox?: BoxSettings } {
    const node = findEntry(map, 'sandbox')
    if (node?.kind !== 'map') return {}
    const env = findEntry(node, 'env')
    const names = this.#values.list(env)
    const invalid = names.find((name) => !/^[A-Za-z_]\w{0,127}$/.test(name))
    if (invalid !== undefined && env !== undefined)
      this.#wrong(env, `\`${invalid}\` is no name of a variable`, 'write names, without values')
    return { sandbox: { ...this.#profile(node, whole), env: names } }
  }

  #sandbox(map: LocatedMap, whole: LocatedMap): { readonly sandbox?: 'off' | SandboxProfile } {
    const node = findEntry(map, 'sandbox')
    if (node === undefined) return {}
    if (node.kind === 'map') {
      const env = findEntry(node, 'env')
      if (env !== undefined)
        this.#wrong(
          env,
          '`sandbox: { env }` is for clients with hooks',
          'write `env` beside `command`',
        )
      return { sandbox: this.#profile(node, whole) }
    }
    if (scalar(whole, 'isolation') === 'required')
      this.#wrong(node, '`sandbox: off` under `isolation: required`', 'take one of them away')
    return { sandbox: 'off' }
  }

  #profile(map: LocatedMap, whole: LocatedMap): SandboxProfile {
    const { folder } = this.#values
    const data = findDataFolder(whole, this.#values)
    const paths = (key: string) => {
      const node = findEntry(map, key)
      const lines = this.#values
        .list(node)
        .map((line) => resolve(folder, line.replace(/^~(?=\/|$)/, homedir())))
      const wrong = lines.find((line) => isBelow(line, data) || isBelow('/proc', line))
      if (wrong !== undefined && node !== undefined)
        this.#wrong(
          node,
          `\`${wrong}\` is no line of a sandbox`,
          'name a narrower folder, outside of the data directory',
        )
      return lines
    }
    const hosts = findEntry(map, 'hosts')
    const lines = this.#values.list(hosts)
    const invalid = lines.find(
      (line) => !HOST_LINE.test(line) || isIP(line.replace(/:\d+$/, '')) !== 0,
    )
    if (invalid !== undefined && hosts !== undefined)
      this.#wrong(
        hosts,
        `\`${invalid}\` is no name of a host`,
        'write a name, `*.example.com` or `db.internal:5432`, not an address',
      )
    return { read: paths('read'), write: paths('write'), hosts: lines }
  }

  #command(map: LocatedMap, name: string, data: string) {
    const node = findEntry(map, 'command')
    const words = this.#values.list(node)
    const cwd = this.#values.path(findEntry(map, 'cwd'))
    if (cwd !== undefined) return { command: words, cwd }
    if (needsProject(words))
      this.#warn(
        map,
        `\`${name}\` starts in a directory of its own, and \`${words[0]}\` may need its project's`,
        'add `cwd: .` to start it in the folder of this file',
      )
    return { command: resolveCommand(words, this.#values.folder), cwd: workDirectory(data, name) }
  }

  #checkReach(
    map: LocatedMap,
    name: string,
    started: { readonly command: readonly string[]; readonly cwd: string },
    own: readonly string[],
  ): void {
    const below = ownFilesBelow(started, own)
    if (below === undefined) return
    this.#warn(
      map,
      `the directories of \`${name}\` contain the gate's own files: \`${below}\``,
      'give it a narrower directory, or move the gate’s files: it can list them, and read them through links',
    )
  }

  #warn({ at }: Pick<LocatedNode, 'at'>, message: string, help: string): void {
    this.#values.problems.warn('CONFIG_SERVER', at, message, help)
  }

  #address(node: LocatedNode): string {
    const address = this.#values.text(node)
    // As it was written: what a variable holds may be a secret.
    const { value } = node as LocatedScalar
    if (!/^https?:\/\//.test(address) || !URL.canParse(address))
      this.#wrong(node, `\`${value}\` is not an http or https address`, 'write `https://…/mcp`')
    return address
  }

  #headers(node: LocatedNode | undefined): Record<string, Secret> {
    const headers = this.#values.secrets(node)
    for (const { key } of asMap(node).entries) {
      const name = String(key.value)
      try {
        const value = headers[name] ?? ''
        checkHeader(name, typeof value === 'string' ? value : '')
      } catch {
        this.#wrong(key, `no header can be \`${name}\` with this value`, 'take out what is odd')
      }
    }
    return headers
  }

  #wrong({ at }: Pick<LocatedNode, 'at'>, message: string, help: string): void {
    this.#values.problems.error('CONFIG_SERVER', at, message, help)
  }
}

const HOST_LINE = /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[1-9]\d{0,4})?$/i

/** Of a section whose variables are filled in. */
function textOf(map: LocatedMap, section: string, key: string): string | undefined {
  const value = scalar(asMap(findEntry(map, section)), key)
  return value === undefined ? undefined : String(value)
}

/** `firstSight` is missing if it depends on where the gate listens. */
function readPins(node: LocatedNode | undefined): PinsConfig {
  const { first_sight: firstSight, ignore = [] } = readFields(PINS.fields, node)
  return { ...(firstSight === undefined ? {} : { firstSight }), ignore }
}

function readProcesses(node: LocatedNode | undefined): ProcessesConfig {
  const { idle, wait, ...rest } = readFields(PROCESSES.fields, node)
  return { ...rest, idleMs: toMs(idle), waitMs: toMs(wait) }
}

function millisecondsOf(map: LocatedMap, key: string): number | undefined {
  const seconds = parseDuration(scalar(map, key) as string | number)
  return seconds === undefined ? undefined : seconds * 1_000
}

function readShare(map: LocatedMap): { share?: 'principal' | 'all' } {
  const share = scalar(map, 'share')
  return share === 'principal' || share === 'all' ? { share } : {}
}

/** Throws. Not imported: the module of `node:http` reads every export, which loads Node's fetch, and that
 * takes as long as all else a short command does. */
function checkHeader(name: string, value: string): void {
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')
  validateHeaderName(name)
  validateHeaderValue(name, value)
}
