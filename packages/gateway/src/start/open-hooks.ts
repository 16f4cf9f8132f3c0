// The hooks of clients, as far as a gate that starts needs them: the servers that stand for the clients, what
// their hooks show, and what serves `/hooks`.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ledger } from '@sluice/ledger/ledger'
import { QUIET_EVENT } from '@sluice/ledger/records/record'
import { Listeners } from '@sluice/policy/structures/listeners'
import { getMeta } from '@sluice/protocol/protocol-generation'
import type { OnAdmitted, TraceParts } from '../call/call-request.ts'
import { boxSettingsOf, hookClientOf } from '../config/builtin-tools.ts'
import { BoxLines } from '../front/hooks/box-lines.ts'
import { HookGate, type HookIncident } from '../front/hooks/hook-gate.ts'
import { HOOK_META, HookServer } from '../front/hooks/hook-server.ts'
import { AcsFront, type AcsFrontOptions } from '../front/http/serve-acs.ts'
import { HooksFront, type HooksFrontOptions } from '../front/http/serve-hooks.ts'
import type { Gate } from '../gate.ts'
import { HOOK_CLIENTS, type HookSource } from '../hooks/clients/table.ts'
import type { Boxes } from '../isolation/boxes.ts'
import type { Log } from '../shared/log.ts'
import type { Servers } from '../state/servers.ts'
import type { Views } from '../state/views.ts'
import type { ServerNotes } from '../tools/server-notes.ts'
import type { StartInProcess } from '../upstream/in-process.ts'

/** Where the command's programs are: in the package that is published, and in a clone. */
const PROGRAMS = ['../../bin/', '../../../cli/bin/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

const PROGRAMS_FOLDER = PROGRAMS.find((path) => existsSync(path)) ?? ''

/** What clients start to ask the gate; anyone who writes it decides in the gate's place. */
export const HOOK_SCRIPT = join(PROGRAMS_FOLDER, 'sluice-hook')
/** What shells of clients run in order to enter a box; anyone who writes it gets out of the box. */
export const LINE_SCRIPT = join(PROGRAMS_FOLDER, 'sluice-line')

interface HookServices {
  readonly servers: Servers
  readonly views: Views
  readonly boxes: Boxes
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
}

export class HookParts {
  readonly #services: HookServices
  readonly #servers = new Map<HookSource, HookServer>(
    [...HOOK_CLIENTS, 'acs' as const].map((source) => [source, new HookServer(source)]),
  )
  readonly #incidents = new Listeners<[HookIncident]>()
  readonly onIncident = this.#incidents.subscribe
  #gate: HookGate | undefined
  #notes: ServerNotes | undefined

  constructor(services: HookServices) {
    this.#services = services
  }

  /** Whether the configuration has a client with hooks. */
  get isUsed(): boolean {
    const { servers } = this.#services
    return servers.callable.length < servers.names.length
  }

  get builtins(): Readonly<Record<string, StartInProcess>> {
    return Object.fromEntries([...this.#servers].map(([client, { connect }]) => [client, connect]))
  }

  /** Whether a call that names itself as hooks do was announced by one; if the client has no hooks nobody knows. */
  readonly #onToolUse: TraceParts['onToolUse'] = (id, { server, name }) => {
    if (this.isUsed) this.#gate?.arrived(id, server, name)
  }

  /** Only of calls that are hooks. */
  readonly #onAdmitted: OnAdmitted = ({ server }, params, admission) => {
    const client = hookClientOf(this.#services.servers.find(server))
    if (client !== undefined)
      this.#servers.get(client)?.noteAdmission(String(getMeta(params)[HOOK_META]), admission)
  }

  /** A client's entry for a view has the name of the view. */
  readonly #isGated = (name: string): boolean => {
    const { servers, views } = this.#services
    return servers.callable.includes(name) || views.isPrefix(name, servers.callable)
  }

  /** What the call path tells hooks. */
  get listeners(): Pick<TraceParts, 'onToolUse' | 'onAdmitted'> {
    return { onToolUse: this.#onToolUse, onAdmitted: this.#onAdmitted }
  }

  open(gate: Gate): HookGate {
    const { boxes, ledger, log, servers } = this.#services
    this.#notes = gate.notes
    this.#gate = new HookGate({
      serverOf: (client) => this.#servers.get(client) as HookServer,
      open: (name, link, who, origin) => gate.open(name, link, who, origin),
      memoryOf: (who, key) => gate.sessions.memoryOf(who, key),
      readsOrigins: (caller) => gate.readsOrigins(caller),
      labelsOf: (caller, reported) => gate.labelsOf(caller, reported),
      isGated: this.#isGated,
      lines: new BoxLines({
        boxes,
        isConfined: (name) => boxSettingsOf(servers.find(name)) !== undefined,
      }),
      recordAnswer: (detail) => ledger.event({ atMs: Date.now(), name: QUIET_EVENT, detail }),
      onIncident: (incident) => {
        const { detail, ...of } = incident
        log('warn', `hooks: ${detail}`, of)
        const event = { atMs: Date.now(), name: 'hooks', detail: { ...incident } }
        ledger.event(event).catch(() => {})
        this.#incidents.emit(incident)
      },
    })
    return this.#gate
  }

  /** What serves `/acs`; undefined if the configuration has no agent of ACS. */
  acsFront(options: Omit<AcsFrontOptions, 'gate' | 'isAgent'>): AcsFront | undefined {
    const { servers } = this.#services
    const isAgent = (name: string): boolean => servers.find(name)?.builtin === 'acs'
    if (!servers.names.some(isAgent)) return undefined
    return new AcsFront({ ...options, isAgent, gate: this.#gate as HookGate })
  }

  front(options: Pick<HooksFrontOptions, 'authenticate'>): HooksFront {
    const clientOf = (name: string) => hookClientOf(this.#services.servers.find(name))
    const gate = this.#gate as HookGate
    const onOldHooks = (server: string) => this.#notes?.noteOldHooks(server)
    return new HooksFront({ ...options, clientOf, isGated: this.#isGated, onOldHooks, gate })
  }
}
