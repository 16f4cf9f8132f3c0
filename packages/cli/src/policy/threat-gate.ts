// What `sluice threats` knows beside the policy: the tools that the gate has seen or a file lists, and what sluice.yaml
// says of each server, its folders, its hosts and its isolation.

import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { markOwnTool } from '@sluice/catalogue/classify/own-tools'
import { hookClientOf } from '@sluice/gateway/config/builtin-tools'
import { type GateConfig, readConfig, type ServerConfig } from '@sluice/gateway/config/config'
import { listClientTools } from '@sluice/gateway/hooks/client-tools'
import { CODING_CLIENTS, type HookClient } from '@sluice/gateway/hooks/clients/table'
import { OFFERED_TOOLS } from '@sluice/gateway/hooks/offered-tools'
import { isDefinition, type KnownTool } from '@sluice/policy/calls/tools'
import type { PolicySource } from '../connect/gate-policy.ts'
import { loadEnvironment } from '../connect/load-environment.ts'
import type { Output } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readTools } from '../terminal/read-tools.ts'
import type { ThreatInputs, ThreatServer } from '../threats/threat.ts'
import { readSeenTools } from './seen-tools.ts'

export interface ThreatGate {
  readonly inputs: Pick<ThreatInputs, 'tools' | 'servers' | 'home' | 'project'>
  /** Where the records are; undefined if the policy is that of no gate. */
  readonly data?: string
  /** Servers that run as the user, and could do harm without a call. */
  readonly unlocked: readonly string[]
}

export async function readThreatGate(
  { tools: file }: { readonly tools?: string | undefined },
  { config: named }: PolicySource,
  output: Output,
): Promise<ThreatGate> {
  const config = named === undefined ? undefined : readServers(named, output)
  const known =
    file !== undefined
      ? await readTools(file)
      : config !== undefined && existsSync(config.data)
        ? readSeenTools(config.data)
        : []
  const entries = Object.entries(config?.servers ?? {})
  const servers: Record<string, ThreatServer> = {}
  for (const [name, server] of entries) servers[name] = describeServer(server)
  const own = await listOwnTools(config?.servers ?? {})
  const clients = new Set(own.map(({ definition }) => definition.server))
  return {
    inputs: {
      tools: [...own, ...known.filter(({ definition }) => !clients.has(definition.server))],
      servers,
      home: homedir(),
      project: process.cwd(),
    },
    ...(config === undefined ? {} : { data: config.data }),
    unlocked: entries.filter(([, server]) => runsAsUser(server)).map(([name]) => name),
  }
}

/** A configuration with errors still has a policy: its servers are then unknown. */
function readServers(file: string, output: Output): GateConfig | undefined {
  const { config } = readConfig({ file, text: readText(file) }, loadEnvironment(file, undefined))
  if (config === undefined)
    output.remark(
      `note: \`${file}\` has errors, so nothing is known of its servers: \`sluice doctor\``,
    )
  return config
}

function runsAsUser(server: ServerConfig): boolean {
  return server.kind === 'stdio' && (server.sandbox === undefined || server.sandbox === 'off')
}

function describeServer(server: ServerConfig): ThreatServer {
  if (server.kind === 'http') return { kind: 'remote' }
  if (server.kind === 'builtin') {
    const box = server.sandbox
    return box === undefined
      ? { kind: 'client' }
      : { kind: 'client', hasBox: true, hosts: box.hosts }
  }
  const { sandbox } = server
  if (sandbox !== undefined && sandbox !== 'off')
    return {
      kind: 'process',
      reads: [...sandbox.write, ...sandbox.read],
      writes: sandbox.write,
      hosts: sandbox.hosts,
    }
  // A server that is given folders on its command line keeps to them.
  const folders = server.command
    .slice(1)
    .filter((word) => /[/\\]|^\./.test(word) && !word.startsWith('-'))
    .map((word) => resolve(server.cwd, word))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  if (folders.length === 0) return { kind: 'process' }
  return { kind: 'process', reads: folders, writes: folders }
}

/** The tools that a client with hooks has of its own, as far as it offers them: known before their first call. */
async function listOwnTools(servers: GateConfig['servers']): Promise<KnownTool[]> {
  const clients = Object.entries(servers).flatMap(([server, config]) => {
    const client = hookClientOf(config)
    return client === undefined ? [] : [{ server, client }]
  })
  if (clients.length === 0) return []
  const { classifyOwn } = await import('@sluice/catalogue/classify/classify')
  return clients.flatMap(({ server, client }) =>
    listClientTools(client, [])
      .filter(({ name }) => isOffered(client, String(name)))
      .map((listed) => ({ server, ...listed }))
      .filter(isDefinition)
      .map((definition) => {
        markOwnTool(definition)
        return { definition, ...classifyOwn(definition), isClientTool: true }
      }),
  )
}

/** A client that was never run may offer any. A line that leaves its box is a tool that no client names so. */
function isOffered(client: HookClient, name: string): boolean {
  const offered = OFFERED_TOOLS[client]
  if (offered === undefined || name === 'BashOutside') return true
  const { nameTool } = CODING_CLIENTS[client]
  return Object.keys(offered.tools).some((own) => nameTool(own, {}) === name)
}
