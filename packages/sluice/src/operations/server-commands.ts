// `sluice server …`, as the owner of the data directory does it: the running gate, or the command itself
// where none runs. Adding or changing a server is running code, so it comes after the proof of a person
// and is on record before sluice.yaml is written and anything is started.

import { readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import type { GateConfig } from '../gateway/config/config.ts'
import {
  describeEntry,
  putServers,
  readWrittenServers,
  removeServer,
} from '../gateway/config/edit-servers.ts'
import type { CommandHandler } from '../gateway/front/socket/command-registry.ts'
import type { Gate } from '../gateway/gate.ts'
import type { ParseConfig } from '../gateway/start/open-servers.ts'
import {
  checkStartable,
  digestOfServer,
  type PendingServer,
  type Servers,
  toServerEvent,
  withoutValues,
} from '../gateway/state/servers.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { writeWhole } from '../store/files/write-whole.ts'
import { REQUIRED_ROLES, type VerifyPerson } from './verify-person.ts'

export interface ServerParts {
  /** sluice.yaml. */
  readonly file: string
  readonly parse: ParseConfig
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
  /** Of the gate that runs; without one only the file is changed. */
  readonly running?: { readonly servers: Servers; readonly gate: Pick<Gate, 'restart'> }
}

export function createServerCommands(
  parts: ServerParts,
  prove: VerifyPerson,
): Record<string, CommandHandler> {
  const { servers: role } = REQUIRED_ROLES
  return {
    'server-list': () => listServers(parts),
    'server-put': async (request) =>
      putServer(parts, request, await prove(request, role, 'server add')),
    'server-remove': (request) => removeServerEntry(parts, request),
    'server-restart': (request) => restartServer(parts, request),
    'server-accept': async (request) =>
      acceptServer(parts, request, await prove(request, role, 'server accept')),
  }
}

/** `{ name, entry, replaces? }`: the entry is what the person was shown. */
export async function putServer(
  parts: ServerParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const name = readName(request)
  const { entry, replaces } = request
  if (!isObject(entry)) throw new OperationError('`entry` is no mapping', 'say how to reach it')
  const text = readFileSync(parts.file, 'utf8')
  const isThere = Object.hasOwn(readWrittenServers(text), name)
  if (isThere && replaces !== true)
    throw new OperationError(
      `\`${name}\` is in the configuration already`,
      'take another name, or say --replace',
    )
  const changed = putServers(text, [{ name, entry }])
  if (changed === undefined)
    throw new OperationError(
      `\`${parts.file}\` is written in a way that nothing can be put into`,
      `put this under \`servers:\`:\n${describeEntry({ name, entry }, '  ')}`,
    )
  const config = parse(parts, changed)
  const server = config.servers[name] as GateConfig['servers'][string]
  if (parts.running !== undefined) checkStartable({ name, config: server })
  await parts.running?.servers.prepare(name, server)
  const digest = digestOfServer(server)
  const how = isThere ? 'changed' : 'added'
  await record(parts, toServerEvent({ how, name, written: entry, digest, by }))
  write(parts, { before: text, after: changed })
  parts.running?.servers.confirm(config, name)
  return { server: name, how, running: parts.running !== undefined }
}

/** It only takes away, as an edit of the file does. */
async function removeServerEntry(parts: ServerParts, request: JsonObject): Promise<JsonObject> {
  const name = readName(request)
  const text = readFileSync(parts.file, 'utf8')
  const there = Object.keys(readWrittenServers(text))
  if (!there.includes(name)) throw noServer(name, there)
  const changed = removeServer(text, name)
  if (changed === undefined)
    throw new OperationError(
      `\`${name}\` cannot be taken out of \`${parts.file}\` alone`,
      'take it out with an editor: the gate sees that',
    )
  const config = parse(parts, changed)
  await record(parts, toServerEvent({ how: 'removed', name }))
  write(parts, { before: text, after: changed })
  parts.running?.servers.confirm(config, name)
  return { server: name, how: 'removed', running: parts.running !== undefined }
}

async function restartServer(parts: ServerParts, request: JsonObject): Promise<JsonObject> {
  const name = readName(request)
  const { running } = parts
  if (running === undefined) throw new OperationError('no gate runs', 'the next start begins anew')
  if (running.servers.find(name) === undefined) throw noServer(name, running.servers.names)
  await record(parts, toServerEvent({ how: 'restarted', name }))
  return { server: name, sessions: running.gate.restart(name) }
}

export async function acceptServer(
  { running }: ServerParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  if (running === undefined)
    throw new OperationError('no gate runs', 'the next start takes sluice.yaml as it is')
  const { name, how } = await running.servers.accept(readName(request), request.digest, by)
  return { server: name, how }
}

export function listServers({ file, running }: ServerParts): JsonObject {
  if (running === undefined) {
    const written = Object.entries(readWrittenServers(readFileSync(file, 'utf8')))
    const servers = written.map(([name, entry]) => ({ name, entry: withoutValues(entry) }))
    return { running: false, servers, pending: [] }
  }
  const { servers } = running
  return {
    running: true,
    why: servers.why,
    servers: servers.names.map((name) => ({
      name,
      entry: withoutValues(servers.writtenOf(name) ?? {}),
    })),
    pending: servers.pending.map((pending) => toPendingView(pending, servers)),
  }
}

/** Whole, with the values of its environment: a person decides by it what is started. */
function toPendingView(
  { name, how, written, digest }: PendingServer,
  servers: Servers,
): JsonObject {
  const before = servers.writtenOf(name)
  return { name, how, entry: written, digest, ...(before === undefined ? {} : { before }) }
}

function parse({ parse: read }: ServerParts, text: string): GateConfig {
  try {
    return read(text)
  } catch (error) {
    throw new OperationError((error as Error).message, 'nothing was changed')
  }
}

/** What another wrote since it was read is not overwritten. */
function write(
  { file }: ServerParts,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  if (readFileSync(file, 'utf8') !== before)
    throw new OperationError(`\`${file}\` was changed in the meantime`, 'do it again')
  writeWhole(file, after)
}

async function record({ ledger, nowMs }: ServerParts, detail: JsonObject): Promise<void> {
  await ledger.event({ atMs: nowMs(), name: 'server', detail })
}

function readName({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name
  throw new OperationError('no server is named', 'say which')
}

function noServer(name: string, there: readonly string[]): OperationError {
  const names = there.map((one) => `\`${one}\``).join(', ')
  return new OperationError(
    `no server is called \`${name.slice(0, 100)}\``,
    `there are ${names || 'none'}`,
  )
}
