// The running gate: servers, policy, counters and record put together, and a relay for every session
// that a front opens. Fronts and commands know the gate by this class alone.

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Caller } from '@sluice/access/identity/callers/caller'
import type { LabelScope } from '@sluice/access/identity/sessions/session-lease'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { Decision } from '@sluice/policy/core/decision'
import { Listeners } from '@sluice/policy/core/listeners'
import type { KnownTool } from '@sluice/policy/core/tools'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { listRuleTexts } from '@sluice/policy/model/canonical-rule'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import { isServedExtension, isToolFor } from '@sluice/protocol/extensions'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { AggregateSession } from './aggregate/aggregate-session.ts'
import type { CallPipeline } from './call/call-request.ts'
import { decideCall } from './call/decide-call.ts'
import { labelSession } from './call/inspect-answers.ts'
import { labelOutput, type ReportedOutput } from './call/label-output.ts'
import { LedgerCallRecorder } from './call/record-calls.ts'
import { settleCalls } from './call/settle-calls.ts'
import { hookClientOf, isBuiltinTool, isClientTool } from './config/builtin-tools.ts'
import type { ServerConfig } from './config/config.ts'
import { objectToRoots } from './config/own-roots.ts'
import { workDirectory } from './config/work-directory.ts'
import type { GateParts, InjectedSession, RelayedClient } from './gate-parts.ts'
import { defaultProcessesMax } from './processes/process-quota.ts'
import { EXPECTED_ENDS, OpenRelays } from './relay/open-relays.ts'
import { refuseFrozen } from './relay/refuse-frozen.ts'
import { Relay } from './relay/relay.ts'
import { Continuations } from './session/continuations.ts'
import { deferClient } from './session/defer-client.ts'
import { observeClient } from './session/observe-client.ts'
import { type AgentFamilySession, type OpenSession, OpenSessions } from './session/open-sessions.ts'
import { SealedHandles } from './session/sealed-handles.ts'
import { SessionRecall } from './session/session-recall.ts'
import { stripOwn } from './session/strip-link.ts'
import { type SeenListsContext, VisibleLists } from './session/visible-lists.ts'
import { CALL_IDLE_MS_MAX, CALL_LOOK_EVERY_MS, TOOLS_FRESH_MS } from './shared/limits.ts'
import { type Log, limitLog } from './shared/log.ts'
import { type AskedCall, factsOf, objectionTo, parseCall, toRequest } from './shared/parse-call.ts'
import type { StopDeadline } from './shared/stop-deadline.ts'
import { readToolMode, type ToolMode } from './shared/tool-mode.ts'
import {
  ALL_SERVERS,
  type ClientEvents,
  type ClientTransport,
  type ConnectionOrigin,
  NO_CLIENT_EVENTS,
} from './shared/transport.ts'
import { freezeSessions } from './state/freeze-session.ts'
import { isObserving } from './state/observe-mode.ts'
import { hearServer } from './tools/hear-server.ts'
import { KnownTools } from './tools/known-tools.ts'
import type { PendingDefinition } from './tools/pins.ts'
import type { ServerNotes } from './tools/server-notes.ts'
import { UnusableTools } from './tools/unusable-tools.ts'
import { UpstreamConnector } from './upstream/servers/upstream-connector.ts'
import type { UpstreamEvents } from './upstream/upstream.ts'

/** Idle times of sessions: setting the machine's clock makes none forget what it saw. */
const { steadyMs } = processClock

export class Gate {
  readonly #parts: GateParts
  readonly #pipeline: Omit<CallPipeline, 'policy' | 'record'>
  readonly #known: KnownTools
  readonly #relays = new OpenRelays((name, why) => this.#servers.restart(name, why))
  readonly #sweeper: NodeJS.Timeout
  readonly sessions: OpenSessions
  readonly #continuations = new Continuations(() => performance.now())
  readonly #servers: UpstreamConnector
  readonly #unusable = new UnusableTools((server) => this.#servers.isNewer(server))
  readonly notes: ServerNotes
  readonly #injected = new Listeners<[InjectedSession]>()
  /** A session has received an order to the model, its first. Only if the configuration has alerts of it. */
  readonly onInjection = this.#injected.subscribe

  constructor(parts: GateParts) {
    this.#parts = parts
    this.sessions = new OpenSessions(parts.sessions, parts.sharedSessions)
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
      traces: parts.traces,
      onToolUse: parts.onToolUse,
      approvals: {
        engine: parts.approvals,
        pinOf: (tool) => parts.pins.pinOf(tool),
        urlOf: parts.approvalUrl,
        command: `sluice approvals watch --data ${parts.config.data}`,
      },
    }
  }

  /** How a server is reached; undefined if there is none of this name. All of them together count as
   * processes if one of them is. */
  kindOf(name: string): ServerConfig['kind'] | undefined {
    const { servers } = this.#parts
    if (name === ALL_SERVERS)
      return servers.entries.some(([, { kind }]) => kind === 'stdio') ? 'stdio' : 'http'
    const found = servers.find(name)
    return hookClientOf(found) === undefined ? found?.kind : undefined
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
    const { servers, log } = this.#parts
    const onEnd = session.release
    const onName = (name: string) => session.lease.introduce(name, undefined)
    if (name === ALL_SERVERS) {
      const open = (server: string, link: ClientTransport) =>
        this.#relay(server, session, {
          link,
          send: link.send.bind(link),
          environment,
          onEnd: () => {},
        })
      const onLimit = (server: string, why: string) => this.notes.limitMet(server, why)
      const all: AggregateSession = new AggregateSession(client, {
        send,
        servers: servers.callable,
        mode,
        codeServer: servers.codeServer,
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
    return observeClient(this.#relay(name, session, link), onName)
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
      this.#relay(name, session, { link: client, send, onEnd: session.release })
    const opened = this.sessions.openFamily(client, who, family)
    return this.#whenOpen(client, opened, connect)
  }

  #relay(
    name: string,
    session: OpenSession,
    { link, send, environment, onEnd, handle }: RelayedClient,
  ): ClientEvents {
    const { client, who, lease, agent, key: sessionKey } = session
    lease.introduce(undefined, name)
    const { config, freezes, ownPaths, servers } = this.#parts
    const { principal } = who()
    const serverConfig = servers.find(name)
    // It was taken away while the session began.
    if (serverConfig === undefined) {
      link.close(`the server \`${name}\` is no longer there`)
      onEnd()
      return NO_CLIENT_EVENTS
    }
    const log: Log = (level, message, fields) =>
      this.#parts.log(level, message, { server: name, session: lease.id, ...fields })
    const bound = () => this.#parts.policies().of(who().policy)
    const policy = () => bound().policy
    const record = new LedgerCallRecorder(this.#parts.ledger, this.#parts)
    const ids = { server: name, principal: principal.id, session: lease.id }
    // Asked several times for every message.
    const frozen = () =>
      freezes.isEmpty ? undefined : freezes.of({ ...ids, agent: agent()?.id ?? null })
    const already = frozen()
    // Not even started: that is an effect too.
    if (already !== undefined) {
      onEnd()
      return refuseFrozen(link, send, already)
    }
    const canSayPrompt = () => who().canSayPrompt === true
    const recall = new SessionRecall({ lease, policy, now: this.#pipeline.now, canSayPrompt })
    const { labels, answers, inspectAhead, onDelivery, withLabels, settleLabels } = labelSession({
      server: name,
      policy,
      lease,
      log,
      onInjection: config.alerts?.on.includes('injection')
        ? (tool, words) => this.#injected.emit({ ...ids, tool, words })
        : undefined,
      provenance: recall.provenance,
      builtin: serverConfig.kind === 'builtin' ? serverConfig.builtin : undefined,
      hasOpenCalls: () => relay.hasOpenCalls,
      onUnrecorded: (brought) => record.labels(lease.id, name, brought),
      onUnrecordedChanges: (changes) => record.changes(lease.id, name, changes),
      onSeen: () => this.#tellListsChanged(session, policy().labelScope),
    })
    const spare = () => (relay.openRequests === 0 ? client.spare : undefined)
    const whose = { principal: principal.id, who, agent: agent()?.id, labels, handle, environment }
    const to = { clientGeneration: link.generation, ...whose, sessionKey, spare, log }
    const connect = (events: UpstreamEvents) =>
      this.#servers.connect(name, serverConfig, to, this.notes.watch(name, events))
    const relay: Relay = new Relay(link, connect, {
      pipeline: { ...this.#pipeline, policy: bound, record },
      send,
      who,
      server: name,
      // For every call, so without a spread that is not the first member: that is slow.
      facts: (program) => {
        const { session, provenance } = recall.facts(steadyMs(), policy().labelScope, program)
        const { principal } = who()
        const transport = serverConfig.kind
        return { ownPaths, transport, principal, agent: agent(), session, provenance }
      },
      sessionChecks: () => lease.checks(),
      whenStored: () => lease.whenStored(),
      nameRoots: (roots) => this.#objectToRoots(name, roots),
      frozen,
      handle,
      lists: (ask, hasApps) => this.#listsOf(name, link.generation, { policy, ask, hasApps, log }),
      handles: this.#handlesOf(name, link.generation, principal.id),
      onAsked: () => lease.noteUse(steadyMs()),
      onCall: recall.onCall,
      onPrompt: recall.onPrompt,
      onHello: (result) => this.#hear(name, result),
      passesExtension: (extension) => this.#passesExtension(name, extension),
      onDelivery,
      inspectAhead,
      answers,
      vault: () => lease.vault,
      record: settleCalls({
        recorder: record,
        admission: this.#pipeline.admission,
        withLabels,
        onAnswered: () => this.notes.answered(name),
        log,
      }),
      onEnd: (why) => {
        const level = EXPECTED_ENDS.has(why) ? 'debug' : 'info'
        log(level, 'a session with a server ended', { why })
        settleLabels()
        onEnd()
      },
      log: limitLog(log),
    })
    this.#watch(relay, session, serverConfig)
    return relay.events
  }

  #hear(server: string, result: string): string {
    this.notes.answered(server)
    const passesExtension = (extension: string) => this.#passesExtension(server, extension)
    return hearServer(server, result, { known: this.#known, ...this.#parts, passesExtension })
  }

  #passesExtension(server: string, extension: string): boolean {
    const named = this.#parts.servers.find(server)?.extensions
    return isServedExtension(extension) || named?.includes(extension) === true
  }

  #handlesOf(server: string, generation: ProtocolGeneration, principal: string): SealedHandles {
    const { seals } = this.#parts
    const continuations = this.#continuations
    return new SealedHandles({ generation, seals, server, principal, continuations })
  }

  #listsOf(
    server: string,
    generation: ProtocolGeneration,
    parts: Pick<SeenListsContext, 'policy' | 'ask'> & { log: Log; hasApps: () => boolean },
  ): VisibleLists {
    return new VisibleLists({
      ...parts,
      server,
      known: this.#known,
      now: this.#pipeline.now,
      // In the stateless generation nobody need tell the gate that its tools have changed.
      freshMs: generation === 'stateless' ? TOOLS_FRESH_MS : undefined,
      heldOf: (tool) => markObserved(this.#parts.pins.heldOf(tool), parts.policy()),
      leavesOut: (tool) =>
        this.#unusable.has(tool, generation, parts.log) ||
        (!isToolFor('model', tool.definition as never) && !parts.hasApps()),
      onLimit: (why) => this.notes.limitMet(server, why),
      pins: this.#parts.pins,
    })
  }

  /** Why roots of a client may not be sent to a server. */
  #objectToRoots(name: string, roots: readonly string[]): string | undefined {
    const { config, ownPaths, servers } = this.#parts
    const server = servers.find(name)
    const own = workDirectory(config.data, name)
    const cwd = server?.kind === 'stdio' ? server.cwd : own
    return objectToRoots(roots, { own: ownPaths, cwd, workDirectory: own })
  }

  /** Until the server has ended, and while its entry in sluice.yaml changes. */
  #watch(relay: Relay, session: OpenSession, serverConfig: ServerConfig): void {
    const isProcess = serverConfig.kind === 'stdio'
    const { idleMs = this.#parts.config.processes.idleMs } = isProcess ? serverConfig : {}
    this.#relays.add(relay, session, isProcess ? idleMs : Number.POSITIVE_INFINITY)
    const { upstream } = relay
    void upstream.ended.then(() => {
      this.notes.ended(relay.server, upstream.failure)
      this.#relays.delete(relay)
    })
  }

  /** Ends the processes of a server, or its connections, once they have answered what is open; the next
   * call starts them again. Says how many sessions there are with it. */
  restart(name: string): number {
    this.#relays.restart(name, this.kindOf(name))
    return this.figures(name).sessions
  }

  /** What is hidden from those who have read something is so in every connection of the session. */
  #tellListsChanged({ lease, who }: OpenSession, scope: LabelScope): void {
    const { id } = who().principal
    for (const [relay, other] of this.#relays.entries())
      if (other.lease.id === lease.id || (scope === 'principal' && other.who().principal.id === id))
        relay.tellListsChanged()
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
      held: tool && markObserved(pins.heldOf(tool), bound.policy),
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

/** A policy that only observes holds nothing but what a person refused: it is recorded what would wait. */
function markObserved(
  held: PendingDefinition | undefined,
  policy: CompiledPolicy,
): PendingDefinition | undefined {
  if (held === undefined || held.refused !== undefined || !isObserving(policy)) return held
  return { ...held, isObserved: true }
}
