// `sluice server …` and `/api/servers/…`: the running gate changes its servers, or the command itself if
// no gate runs. Adding or changing a server is code execution: it needs the proof of a person and is
// recorded before sluice.yaml is written and anything is started. Over HTTP only if sluice.yaml allows it.

import { readFileSync } from 'node:fs'
import { COUNT, FLAG, fieldsOf, objectOf, TEXT } from '@sluice/access/identity/answer-shapes'
import type { Person } from '@sluice/access/identity/person'
import { writeWhole } from '@sluice/ledger/store/files/write-whole'
import { BOOLEAN, required, text } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeValue } from '@sluice/policy/document/shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import type { GateConfig } from '../config/config.ts'
import {
  describeEntry,
  putServers,
  readWrittenServers,
  removeServer,
} from '../config/edit-servers.ts'
import {
  checkStartable,
  digestOfServer,
  type PendingServer,
  type Servers,
  toServerEvent,
  withoutValues,
} from '../state/servers.ts'
import { checkWords } from './check-words.ts'
import {
  commandOperation,
  type Operation,
  type OperationParts,
  operation,
  type Requester,
  type ServerFile,
} from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const NAME = required(text(1_000), 'the server')
const DIGEST = text(100)
const ENTRY = objectOf<JsonObject>()
/** `sluice server list --json`. */
export interface ServerList {
  /** Whether a gate runs. If not, what sluice.yaml says is listed, and nothing waits. */
  readonly running: boolean
  /** Why the servers that run are not those of the file; empty if they are. Absent if no gate runs. */
  readonly why?: string
  readonly servers: readonly ListedServer[]
  /** Servers of the file that wait for a person. */
  readonly pending: readonly PendingServerView[]
}

export interface ListedServer {
  readonly name: string
  /** As sluice.yaml has it, without what may hold a secret. */
  readonly entry: JsonObject
}

export interface PendingServerView extends Pick<PendingServer, 'name' | 'how' | 'digest' | 'help'> {
  /** As sluice.yaml has it, whole. */
  readonly entry: JsonObject
  /** The entry in force; absent if the server is new. */
  readonly before?: JsonObject
}

const CHANGED = fieldsOf({ server: TEXT, how: TEXT, running: FLAG })
const role = REQUIRED_ROLES.servers

export const LIST_SERVERS = commandOperation({
  name: 'servers.list',
  summary: 'the servers, and what waits for a person',
  role: 'viewer',
  proof: 'none',
  socket: 'server-list',
  command: 'server list',
  input: {},
  run: ({ serverFile }) => listServers(serverFile),
})

const PREVIEW_SERVER = operation({
  name: 'servers.preview',
  summary: 'what would be started or reached, whole; without `entry` what waits for a person',
  role,
  proof: 'none',
  http: { method: 'POST', path: '/api/servers/:name/preview' },
  input: { name: NAME, entry: { shape: { kind: 'any' }, doc: 'the server, as in sluice.yaml' } },
  output: fieldsOf({ server: TEXT, how: TEXT, entry: ENTRY, digest: TEXT }, { before: ENTRY }),
  run: ({ serverFile }, { name, entry }, { channel }) => {
    checkChannel(serverFile, channel)
    return previewServer(serverFile, name, entry)
  },
})

const PUT = {
  name: NAME,
  entry: required(
    { kind: 'any' },
    'the server, as in sluice.yaml; at a terminal the program and its arguments, after --',
  ),
  replaces: { shape: BOOLEAN, doc: 'change the server of this name' },
  digest: { shape: DIGEST, doc: 'of what the person was shown' },
} as const

export const PUT_SERVER = operation({
  name: 'servers.put',
  summary: 'add a server, or change one; `digest` is of its preview',
  role,
  proof: 'fresh',
  socket: 'server-put',
  http: { method: 'PUT', path: '/api/servers/:name', require: ['digest'] },
  command: 'server add',
  changes: true,
  input: PUT,
  output: CHANGED,
  run: (parts, input, { by, channel }) => {
    checkChannel(parts.serverFile, channel, by)
    return putServer(parts, input, by)
  },
})

export const REMOVE_SERVER = operation({
  name: 'servers.remove',
  summary: 'remove a server',
  role,
  proof: 'none',
  socket: 'server-remove',
  http: { method: 'DELETE', path: '/api/servers/:name', proof: true },
  command: 'server remove',
  changes: true,
  input: { name: NAME },
  output: CHANGED,
  run: (parts, { name }, { by, channel }) => {
    checkChannel(parts.serverFile, channel, by)
    return removeServerEntry(parts, name, by)
  },
})

export const RESTART_SERVER = operation({
  name: 'servers.restart',
  summary: 'start the processes of a server again, once idle',
  role,
  proof: 'none',
  socket: 'server-restart',
  http: { method: 'POST', path: '/api/servers/:name/restart', proof: true },
  command: 'server restart',
  changes: true,
  input: { name: NAME },
  output: fieldsOf({ server: TEXT, sessions: COUNT }),
  run: (parts, { name }, { by, channel }) => {
    checkChannel(parts.serverFile, channel, by)
    return restartServer(parts, name, by)
  },
})

export const ACCEPT_SERVER = operation({
  name: 'servers.accept',
  summary:
    'accept a server that an edit of sluice.yaml adds or changes; `digest` is of its preview',
  role,
  proof: 'fresh',
  socket: 'server-accept',
  http: { method: 'POST', path: '/api/servers/:name/accept' },
  command: 'server accept',
  changes: true,
  input: { name: NAME, digest: required(DIGEST, 'of what was shown') },
  output: fieldsOf({ server: TEXT, how: TEXT }),
  run: ({ serverFile }, { name, digest }, { by, channel }) => {
    checkChannel(serverFile, channel, by)
    return acceptServer(serverFile, name, { digest, by })
  },
})

export const SERVER_OPERATIONS: readonly Operation[] = [
  LIST_SERVERS,
  PREVIEW_SERVER,
  PUT_SERVER,
  REMOVE_SERVER,
  RESTART_SERVER,
  ACCEPT_SERVER,
]

/** Over HTTP only if the configuration allows it, and by a person: a system's credential can be read by
 * whatever holds it. */
function checkChannel(
  { isOpenToApi = false }: ServerFile,
  channel: Requester['channel'],
  by?: Person,
): void {
  if (channel === 'terminal') return
  if (!isOpenToApi)
    throw new OperationError(
      'this gate changes no servers over the API',
      'run `sluice server` at a terminal, or set `api: { change_servers: true }` in sluice.yaml and restart the gate',
    )
  if (by !== undefined && by.kind !== 'person')
    throw new OperationError(
      `\`${by.name}\` is a system, and servers are changed by people`,
      'sign in as a person with the role `admin`',
    )
}

/** Whole, with the values of environment and headers as they are written: a person decides by it. */
function previewServer(parts: ServerFile, name: string, written: unknown) {
  if (written !== undefined) {
    const plan = planPut(parts, { name, entry: written, replaces: true })
    const { how, server, before, entry } = plan
    const digest = digestOfServer(server)
    return { server: name, how, entry, ...pickDefined({ before }), digest }
  }
  const pending = parts.running?.servers.pending.find((one) => one.name === name)
  if (parts.running === undefined || pending === undefined)
    throw new OperationError(`\`${name}\` does not wait`, 'send `entry` to see what it would be')
  const { name: _, help: __, ...view } = toPendingView(pending, parts.running.servers)
  return { server: name, ...view }
}

type PutRequest = FieldValues<typeof PUT>
type ChangedServer = ShapeValue<typeof CHANGED>

/** What a request would do, checked; nothing is changed. `before`: as sluice.yaml has it now. */
function planPut(parts: ServerFile, { name, entry, replaces }: PutRequest) {
  if (!isObject(entry)) throw new OperationError('`entry` is not a mapping', 'say how to reach it')
  const { command } = entry
  if (Array.isArray(command)) checkWords(command.map(String))
  const text = readFileSync(parts.file, 'utf8')
  const written = readWrittenServers(text)
  const before = Object.hasOwn(written, name) ? written[name] : undefined
  if (before !== undefined && replaces !== true)
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
  if (parts.running !== undefined)
    checkStartable({ name, config: server, before: parts.running.servers.find(name) })
  const how = before === undefined ? 'added' : 'changed'
  return { name, entry, how, before, server, config, text, changed }
}

/** The entry is what the person was shown. */
async function putServer(
  parts: OperationParts,
  request: PutRequest,
  by: Person,
): Promise<ChangedServer> {
  const { serverFile } = parts
  const { running } = serverFile
  const plan = planPut(serverFile, request)
  const { name, entry, how, server, config, text, changed } = plan
  const digest = digestOfServer(server)
  // A variable may have another value since.
  if (request.digest !== undefined && request.digest !== digest)
    throw new OperationError(`\`${name}\` is not what was shown`, 'look at its preview once more')
  await running?.servers.prepare(name, server)
  await parts.record('server', toServerEvent({ how, name, written: entry, digest, by }))
  write(serverFile, { before: text, after: changed })
  running?.servers.confirm(config, name)
  return { server: name, how, running: running !== undefined }
}

/** It only takes away, as an edit of the file does. */
async function removeServerEntry(
  parts: OperationParts,
  name: string,
  by: Person,
): Promise<ChangedServer> {
  const { serverFile } = parts
  const { file, running } = serverFile
  const text = readFileSync(file, 'utf8')
  const there = Object.keys(readWrittenServers(text))
  if (!there.includes(name)) throw noServer(name, there)
  const changed = removeServer(text, name)
  if (changed === undefined)
    throw new OperationError(
      `\`${name}\` cannot be taken out of \`${file}\` alone`,
      'take it out with an editor: the gate sees that',
    )
  const config = parse(serverFile, changed)
  await parts.record('server', toServerEvent({ how: 'removed', name, ...whoOf(by) }))
  write(serverFile, { before: text, after: changed })
  running?.servers.confirm(config, name)
  return { server: name, how: 'removed', running: running !== undefined }
}

async function restartServer(parts: OperationParts, name: string, by: Person) {
  const { running } = parts.serverFile
  if (running === undefined)
    throw new OperationError('no gate runs', 'the next start uses the file')
  if (running.servers.find(name) === undefined) throw noServer(name, running.servers.names)
  await parts.record('server', toServerEvent({ how: 'restarted', name, ...whoOf(by) }))
  return { server: name, sessions: running.gate.restart(name) }
}

async function acceptServer(
  { running }: ServerFile,
  named: string,
  { digest, by }: { readonly digest: string; readonly by: Person },
) {
  if (running === undefined)
    throw new OperationError('no gate runs', 'the next start takes sluice.yaml as it is')
  const { name, how } = await running.servers.accept(named, digest, by)
  return { server: name, how }
}

function listServers({ file, running }: ServerFile): ServerList {
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
  { name, how, written, digest, help }: PendingServer,
  servers: Servers,
): PendingServerView {
  const before = servers.writtenOf(name)
  return { name, how, entry: written, digest, help, ...pickDefined({ before }) }
}

function parse({ parse: read }: ServerFile, text: string): GateConfig {
  try {
    return read(text)
  } catch (error) {
    throw new OperationError((error as Error).message, 'nothing was changed')
  }
}

/** What another wrote since it was read is not overwritten. */
function write(
  { file }: ServerFile,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  if (readFileSync(file, 'utf8') !== before)
    throw new OperationError(`\`${file}\` was changed in the meantime`, 'do it again')
  writeWhole(file, after)
}

/** Nobody in particular on the socket, which needs no proof to take a server away. */
function whoOf(by: Person): { readonly by?: Person } {
  return by.name === '' ? {} : { by }
}

function noServer(name: string, there: readonly string[]): OperationError {
  const names = there.map((one) => `\`${one}\``).join(', ')
  return new OperationError(
    `no server is called \`${name.slice(0, 100)}\``,
    `there are ${names || 'none'}`,
  )
}
