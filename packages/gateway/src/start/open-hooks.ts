// The hooks of clients, as far as a gate that starts needs them: the servers that stand for the clients, what
// their hooks show, and what serves `/hooks`.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ledger } from '@sluice/ledger/ledger'
import { Listeners } from '@sluice/policy/core/listeners'
import type { TraceParts } from '../call/call-request.ts'
import { hookClientOf } from '../config/builtin-tools.ts'
import { HookGate, type HookIncident } from '../front/hooks/hook-gate.ts'
import { HookServer } from '../front/hooks/hook-server.ts'
import { HooksFront, type HooksFrontOptions } from '../front/http/serve-hooks.ts'
import type { Gate } from '../gate.ts'
import { HOOK_CLIENTS } from '../hooks/hook-event.ts'
import type { Log } from '../shared/log.ts'
import type { Servers } from '../state/servers.ts'
import type { ServerNotes } from '../tools/server-notes.ts'
import type { StartInProcess } from '../upstream/in-process.ts'

/** Where the command's programs are: in the package that is published, and in a clone. */
const PROGRAMS = ['../../bin/', '../../../cli/bin/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** What clients start to ask the gate; anyone who writes it decides in the gate's place. */
export const HOOK_SCRIPT = join(PROGRAMS.find((path) => existsSync(path)) ?? '', 'sluice-hook')

interface HookServices {
  readonly servers: Servers
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
}

export class HookParts {
  readonly #services: HookServices
  readonly #servers = new Map(HOOK_CLIENTS.map((client) => [client, new HookServer(client)]))
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
  readonly onToolUse: TraceParts['onToolUse'] = (id, { server, name }) => {
    if (this.isUsed) this.#gate?.arrived(id, server, name)
  }

  readonly #isGated = (name: string): boolean => this.#services.servers.callable.includes(name)

  open(gate: Gate): HookGate {
    const { ledger, log } = this.#services
    this.#notes = gate.notes
    this.#gate = new HookGate({
      serverOf: (client) => this.#servers.get(client) as HookServer,
      open: (name, link, who, origin) => gate.open(name, link, who, origin),
      memoryOf: (who, key) => gate.sessions.memoryOf(who, key),
      readsOrigins: (caller) => gate.readsOrigins(caller),
      labelsOf: (caller, reported) => gate.labelsOf(caller, reported),
      isGated: this.#isGated,
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

  front(options: Pick<HooksFrontOptions, 'authenticate'>): HooksFront {
    const clientOf = (name: string) => hookClientOf(this.#services.servers.find(name))
    const gate = this.#gate as HookGate
    const onOldHooks = (server: string) => this.#notes?.noteOldHooks(server)
    return new HooksFront({ ...options, clientOf, isGated: this.#isGated, onOldHooks, gate })
  }
}
