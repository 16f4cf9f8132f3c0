// The running gate: servers, policy, counters and record put together, and a relay for every session
// that a front opens. Fronts and commands know the gate by this class alone.

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Caller } from '@sluice/access/identity/callers/caller'
import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { listRuleTexts } from '@sluice/policy/model/canonical-rule'
import { findReads } from '@sluice/policy/model/policy-reads'
import { Listeners } from '@sluice/policy/structures/listeners'
import { AggregateSession } from './aggregate/aggregate-session.ts'
import type { CallPipeline } from './call/call-request.ts'
import { decideCall } from './call/decide-call.ts'
import { labelOutput, type ReportedOutput } from './call/label-output.ts'
import { hookSourceOf, isBuiltinTool, isClientTool } from './config/builtin-tools.ts'
import type { ServerConfig } from './config/config.ts'
import type { GateParts, InjectedSession } from './gate-parts.ts'
import { RelayOpener } from './open-relay.ts'
import { defaultProcessesMax } from './processes/process-quota.ts'
import { OpenRelays } from './relay/open-relays.ts'
import { Continuations } from './session/continuations.ts'
import { deferClient } from './session/defer-client.ts'
import { observeClient } from './session/observe-client.ts'
import { type AgentFamilySession, type OpenSession, OpenSessions } from './session/open-sessions.ts'
import { stripOwn } from './session/strip-link.ts'
import { CALL_IDLE_MS_MAX, CALL_LOOK_EVERY_MS } from './shared/limits.ts'
import { type AskedCall, factsOf, objectionTo, parseCall, toRequest } from './shared/parse-call.ts'
import type { StopDeadline } from './shared/stop-deadline.ts'
import { readToolMode, type ToolMode } from './shared/tool-mode.ts'
import {
  ALL_SERVERS,
  type ClientEvents,
  type ClientTransport,
  type ConnectionOrigin,
} from './shared/transport.ts'
import { type View, viewOf } from './shared/view.ts'
import { freezeSessions } from './state/freeze-session.ts'
import { KnownTools } from './tools/known-tools.ts'
import { markObserved } from './tools/pins.ts'
import type { ServerNotes } from './tools/server-notes.ts'
import { UnusableTools } from './tools/unusable-tools.ts'
import { UpstreamConnector } from './upstream/servers/upstream-connector.ts'

export class Gate {
  readonly #parts: GateParts
  readonly #pipeline: Omit<CallPipeline, 'policy' | 'record'>
  readonly #known: KnownTools
  readonly #relays = new OpenRelays((name, why) => this.#servers.restart(name, why))
  readonly #sweeper: NodeJS.Timeout
  readonly sessions: OpenSessions
  readonly #opener: RelayOpener
  readonly #servers: UpstreamConnector
  readonly notes: ServerNotes
  /** What was said about views that name tools which are not there. */
  readonly #saidOfViews = new Set<string>()
  readonly #injected = new Listeners<[InjectedSession]>()
  /** A session has received an order to the model, its first. Only if the configuration has alerts of it. */
  readonly onInjection = this.#injected.subscribe

  constructor(parts: GateParts) {
    this.#parts = parts
    this.sessions = new OpenSessions(parts.sessions, parts.sharedSessions, (caller) =>
      this.readsOrigins(caller),
    )
    this.#sweeper = setInterval(() => this.#expire(), CALL_LOOK_EVERY_MS).unref()
    this.notes = parts.notes
    const { max = defaultProcessesMax(), ...processes } = parts.config.processes
    const serverOf = (name: string) => parts.servers.find(name)
    this.#servers = new UpstreamConnector({ ...parts, serverOf }, { ...processes, max })
    parts.servers.onChange((change) => {
      this.#servers.forget(change.name)
      this.notes.forget(change.name)
      this.#relays.changed(change)
    })
    parts.views.onChange(() => {
      for (const client of this.#relays.aggregates) client.viewsChanged()
    })
    this.#known = new KnownTools(
      (tool) => {
        parts.tools.learn(tool)
        const { server, name } = tool.definition
        parts.approvals.definitionSeen(server, name, parts.pins.pinOf(tool))
      },
      {
        isOwn: (server, tool) => isBuiltinTool(serverOf(server), tool),
        isClientTool: (server, tool) => isClientTool(serverOf(server), tool),
      },
    )
    this.#pipeline = {
      frozen: (who) => parts.freezes.of(who),
      onCanary: freezeSessions({ ...parts, interrupt: () => this.interrupt() }),
      admission: parts.admission,
      now: () => ({ wallMs: Date.now(), monotonicMs: performance.now() }),
      newId: randomUUID,
      keepsTexts: parts.config.ledger.keepsTexts,
      watch: parts.watch,
      recorder: parts.recorder,
      onToolUse: parts.onToolUse,
      onAdmitted: parts.onAdmitted,
      approvals: {
        engine: parts.approvals,
        pinOf: (tool) => parts.pins.pinOf(tool),
        urlOf: parts.approvalUrl,
        command: `sluice approvals watch --data ${parts.config.data}`,
      },
    }
    this.#opener = new RelayOpener({
      gate: parts,
      pipeline: this.#pipeline,
      relays: this.#relays,
      connector: this.#servers,
      known: this.#known,
      unusable: new UnusableTools((server) => this.#servers.isNewer(server)),
      continuations: new Continuations(() => performance.now()),
      onInjection: (injected) => this.#injected.emit(injected),
    })
  }

  /** Servers that clients can reach by an address of their own. */
  get serverNames(): readonly string[] {
    return this.#parts.servers.callable
  }

  /** Names of the views that clients can reach. */
  get viewNames(): readonly string[] {
    return this.#parts.views.names
  }

  /** How a server is reached; undefined if there is none of this name. Several of them count as processes if one
   * is. */
  kindOf(name: string): ServerConfig['kind'] | undefined {
    const { servers, views } = this.#parts
    const view = viewOf(name)
    if (view !== undefined && views.find(view) === undefined) return undefined
    if (view !== undefined || name === ALL_SERVERS) {
      const kinds = this.#serversAt(name).map((each) => servers.find(each)?.kind)
      return kinds.includes('stdio') ? 'stdio' : 'http'
    }
    const found = servers.find(name)
    return hookSourceOf(found) === undefined ? found?.kind : undefined
  }

  /** The servers whose tools the session of several servers at this address has. */
  #serversAt(address: string): readonly string[] {
    const { servers, views } = this.#parts
    const view = viewOf(address)
    return view === undefined ? servers.callable : views.serversOf(view, servers.callable)
  }

  /** Throws if a client cannot have the tool mode that it names. */
  readMode(server: string, text: unknown): ToolMode {
    const { config, servers } = this.#parts
    const codeServer = () => servers.codeServer
    return readToolMode(server, text, { toolMode: config.toolMode, codeServer })
  }

  /** Puts the gate between a client's session and a server, or all servers. Whatever servers it uses,
   * it is one session: what it has read from one counts when it calls another. `who` is asked for
   * every call: a session goes on with a newer token of the same principal. */
  open(
    name: string,
    client: ClientTransport,
    who: () => Caller,
    origin: ConnectionOrigin,
  ): ClientEvents {
    const opened = this.sessions.open(client, who, origin.sessionKey)
    const connect = (session: OpenSession) => this.#connect(name, session, origin)
    return this.#whenOpen(client, opened, connect)
  }

  #whenOpen(
    client: ClientTransport,
    opened: OpenSession | Promise<OpenSession>,
    connect: (session: OpenSession) => ClientEvents,
  ): ClientEvents {
    const { log } = this.#parts
    if (opened instanceof Promise) return deferClient(client, opened, { connect, log })
    return connect(opened)
  }

  #connect(
    name: string,
    session: OpenSession,
    { handle, environment, mode }: ConnectionOrigin,
  ): ClientEvents {
    const { client } = session
    const send = stripOwn(client)
    const { servers, views, log } = this.#parts
    const view = viewOf(name)
    const onEnd = session.release
    const onName = (name: string) => session.lease.introduce(name, undefined)
    if (view !== undefined || name === ALL_SERVERS) {
      const { codeServer } = servers
      const open = (server: string, link: ClientTransport) =>
        this.#opener.open(server, session, {
          link,
          send: link.send.bind(link),
          environment,
          onEnd: () => {},
        })
      const onLimit = (server: string, why: string) => this.notes.limitMet(server, why)
      const all: AggregateSession = new AggregateSession(client, {
        send,
        servers: () => {
          const there = this.#serversAt(name)
          const isMissing =
            mode === 'code' && codeServer !== undefined && !there.includes(codeServer)
          return isMissing ? [...there, codeServer] : there
        },
        ...(view === undefined
          ? {}
          : {
              view: () => views.find(view),
              onTools: (server: string) => this.#checkView(views.find(view), server),
            }),
        mode,
        codeServer,
        open,
        onLimit,
        log,
        onEnd: () => {
          this.#relays.aggregates.delete(all)
          onEnd()
        },
      })
      this.#relays.aggregates.add(all)
      return observeClient(all.events, onName)
    }
    const link = { link: client, send, environment, onEnd, handle }
    return observeClient(this.#opener.open(name, session, link), onName)
  }

  /** Reports once what a view names and a server does not have, by the tools of all callers. */
  #checkView(view: View | undefined, server: string): void {
    const tools = [...this.toolsOf(server).keys()]
    if (view === undefined || tools.length === 0) return
    for (const { tool, near } of view.unknownTools(server, tools)) {
      const key = `${view.digest} ${tool}`
      if (this.#saidOfViews.has(key)) continue
      this.#saidOfViews.add(key)
      const help = near === undefined ? 'see `sluice tools`' : `did you mean \`${near}\`?`
      const text = `the view \`${view.name}\` names \`${tool}\`, which the server does not list`
      this.#parts.log('warn', text, { server, help })
    }
  }

  /** Somebody has signed in at a server: clients of several servers that do not have it yet try it again. */
  signedIn(server: string): void {
    for (const client of this.#relays.aggregates) client.retry(server)
  }

  /** Whether a rule for this caller reads where values came from. */
  readsOrigins({ policy }: Caller): boolean {
    return findReads(this.#parts.policies().of(policy).policy).provenance
  }

  /** What an output that answers no call of the gate brings into a session of this caller. */
  labelsOf({ policy }: Caller, reported: ReportedOutput): readonly string[] {
    return labelOutput(this.#parts.policies().of(policy).policy, reported)
  }

  /** For a family of agents: one session for all of them, as long as they live. */
  openAgents(
    name: string,
    client: ClientTransport,
    who: () => Caller,
    family: AgentFamilySession,
  ): ClientEvents {
    const send = stripOwn(client)
    const connect = (session: OpenSession) =>
      this.#opener.open(name, session, { link: client, send, onEnd: session.release })
    const opened = this.sessions.openFamily(client, who, family)
    return this.#whenOpen(client, opened, connect)
  }

  /** Ends the processes of a server, or its connections, once they have answered what is open; the next
   * call starts them again. Says how many sessions there are with it. */
  restart(name: string): number {
    this.#relays.restart(name, this.kindOf(name))
    return this.figures(name).sessions
  }

  /** What would be decided on the first call of a new session of this caller. Nothing is charged, recorded or sent. */
  decide({ principal, policy }: Caller, server: string, asked: AskedCall): Decision {
    const { ownPaths, pins, policies, servers } = this.#parts
    const bound = policies().of(policy)
    const message = toRequest(asked)
    const call = parseCall(server, message)
    const tool = this.toolsOf(server).get(call.method === TOOL_CALL ? call.name : '')
    const session = { id: '', startedAtMs: Date.now(), calls: 0, saw: [] }
    const transport = servers.find(server)?.kind ?? 'http'
    const known = { ownPaths, transport, principal, agent: null, session, provenance: undefined }
    const request = {
      call,
      facts: factsOf(message, { known, tool, args: call.args }),
      argsText: undefined,
      objection: objectionTo(message, tool),
      pendingDefinition: tool && markObserved(pins.pendingOf(tool), bound.policy),
    }
    const { admission, frozen, now } = this.#pipeline
    const pipeline = { frozen, now, policy: () => bound }
    return decideCall({ pipeline, request, usage: admission.usage }).decision
  }

  get knownTools(): readonly KnownTool[] {
    return this.#parts.servers.names.flatMap((name) => [...this.toolsOf(name).values()])
  }

  toolsOf(server: string): ReadonlyMap<string, KnownTool> {
    return this.#known.of(this.#parts.servers.find(server) === undefined ? '' : server)
  }

  /** Another policy is in force: what callers may see may be another. */
  policyChanged(): void {
    const texts = new Set(this.#parts.policies().all.flatMap(listRuleTexts))
    this.#parts.approvals.policyChanged((says) => texts.has(says))
    for (const relay of this.#relays) relay.tellListsChanged()
  }

  /** After a freeze: ends what is open and may no longer be. Says how many calls that were. */
  interrupt(): number {
    return this.#relays.interrupt()
  }

  #expire(): void {
    const now = performance.now()
    for (const relay of [...this.#relays]) {
      const { timeoutMs } = this.#parts.servers.find(relay.server) ?? {}
      relay.expire(now, timeoutMs ?? CALL_IDLE_MS_MAX)
    }
    this.#relays.look(now)
    this.#servers.look()
    this.#servers.checkEnvironments()
    this.sessions.sweep(now)
  }

  /** How much goes on with one server. */
  figures(server: string): { readonly sessions: number; readonly openRequests: number } {
    return this.#relays.figures(server)
  }

  /** From now on sessions of servers over HTTP are left as they are: they go on after a restart. */
  leave(): void {
    this.#servers.leave()
  }

  /** A request of a client's has no answer yet. */
  get isBusy(): boolean {
    return this.#relays.isBusy
  }

  /** Waits until every request is answered, or the time is over. */
  drain(deadline: Pick<StopDeadline, 'isOver'>): Promise<void> {
    return this.#relays.drain(deadline)
  }

  /** Ends every session, and waits until nothing of any server is left. */
  async close(why: string): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.all([...this.#relays].map((relay) => relay.end(why)))
    await this.#servers.close(why)
  }
}
