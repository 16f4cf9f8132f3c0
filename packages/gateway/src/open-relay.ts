// Opens the relay of a session with one server: what the gate knows of the server, what the session remembers and
// what becomes of its answers are put together here, once for each session and server. Used by the gate alone.

import type { LabelScope } from '@sluice/access/identity/sessions/session-lease'
import { processClock } from '@sluice/ledger/store/process-clock'
import { isServedExtension, isToolFor } from '@sluice/protocol/extensions'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { CallPipeline } from './call/call-request.ts'
import { type LabelledAnswers, labelSession } from './call/inspect-answers.ts'
import { LedgerCallRecorder } from './call/record-calls.ts'
import { settleCalls } from './call/settle-calls.ts'
import type { ServerConfig } from './config/config.ts'
import { objectToRoots } from './config/own-roots.ts'
import { workDirectory } from './config/work-directory.ts'
import type { GateParts, InjectedSession, RelayedClient } from './gate-parts.ts'
import { EXPECTED_ENDS, type OpenRelays } from './relay/open-relays.ts'
import { refuseFrozen } from './relay/refuse-frozen.ts'
import { Relay, type RelayContext } from './relay/relay.ts'
import type { Continuations } from './session/continuations.ts'
import type { OpenSession } from './session/open-sessions.ts'
import { SealedHandles } from './session/sealed-handles.ts'
import { SessionRecall } from './session/session-recall.ts'
import { type SeenListsContext, VisibleLists } from './session/visible-lists.ts'
import { TOOLS_FRESH_MS } from './shared/limits.ts'
import { type Log, limitLog } from './shared/log.ts'
import { type ClientEvents, NO_CLIENT_EVENTS } from './shared/transport.ts'
import type { Freeze } from './state/freezes.ts'
import type { BoundPolicy } from './state/policy-set.ts'
import { hearServer } from './tools/hear-server.ts'
import type { KnownTools } from './tools/known-tools.ts'
import { markObserved } from './tools/pins.ts'
import type { UnusableTools } from './tools/unusable-tools.ts'
import type { UpstreamConnector } from './upstream/servers/upstream-connector.ts'
import type { Upstream, UpstreamEvents } from './upstream/upstream.ts'

/** Idle times of sessions: setting the machine's clock makes none forget what it saw. */
const { steadyMs } = processClock

export interface RelayOpenerParts {
  readonly gate: GateParts
  /** What every call of the gate is decided with; the policy and the recorder are those of the session. */
  readonly pipeline: Omit<CallPipeline, 'policy' | 'record'>
  /** The relays that are open: a new one is added, and removed when its server has ended. */
  readonly relays: OpenRelays
  readonly connector: UpstreamConnector
  /** Definitions of tools that servers have listed. */
  readonly known: KnownTools
  /** Tools that the protocol does not let this gate pass on. */
  readonly unusable: UnusableTools
  /** Questions of servers that a client answers in a later request. */
  readonly continuations: Continuations
  /** Called with the first order to the model that a session receives. */
  readonly onInjection: (injected: InjectedSession) => void
}

/** One session and one server, while a relay between them is opened. */
interface OpeningSession {
  readonly server: string
  readonly serverConfig: ServerConfig
  readonly session: OpenSession
  readonly client: RelayedClient
  /** Writes to the log with the server and the session beside each message. */
  readonly log: Log
  /** The policy that binds the present caller. */
  readonly bound: () => BoundPolicy
  /** What holds the session back now. Read several times for every message. */
  readonly frozen: () => Freeze | undefined
  readonly recorder: LedgerCallRecorder
  readonly recall: SessionRecall
  readonly labelled: LabelledAnswers
}

export class RelayOpener {
  readonly #parts: RelayOpenerParts
  readonly #gate: GateParts

  constructor(parts: RelayOpenerParts) {
    this.#parts = parts
    this.#gate = parts.gate
  }

  /** Opens the relay and returns what the client's transport reports to it. If the server is gone or frozen, none
   * is opened and nothing is started. */
  open(server: string, session: OpenSession, client: RelayedClient): ClientEvents {
    const { who, lease, agent } = session
    lease.introduce(undefined, server)
    const serverConfig = this.#gate.servers.find(server)
    // It was taken away while the session began.
    if (serverConfig === undefined) {
      client.link.close(`the server \`${server}\` is no longer there`)
      client.onEnd()
      return NO_CLIENT_EVENTS
    }
    const { freezes } = this.#gate
    const ids = { server, principal: who().principal.id, session: lease.id }
    const frozen = () =>
      freezes.isEmpty ? undefined : freezes.of({ ...ids, agent: agent()?.id ?? null })
    const already = frozen()
    // Not even started: that is an effect too.
    if (already !== undefined) {
      client.onEnd()
      return refuseFrozen(client.link, client.send, already)
    }
    return this.#start({ server, serverConfig, session, client, frozen }).events
  }

  #start(
    target: Pick<OpeningSession, 'server' | 'serverConfig' | 'session' | 'client' | 'frozen'>,
  ): Relay {
    const { server, serverConfig, session, client } = target
    const { who, lease } = session
    const log: Log = (level, message, fields) =>
      this.#gate.log(level, message, { server, session: lease.id, ...fields })
    const bound = () => this.#gate.policies().of(who().policy)
    const recorder = new LedgerCallRecorder(this.#gate.ledger, this.#gate)
    const recall = new SessionRecall({
      lease,
      policy: () => bound().policy,
      now: this.#parts.pipeline.now,
      canSayPrompt: () => who().canSayPrompt === true,
    })
    const base = { ...target, log, bound, recorder, recall }
    const opening: OpeningSession = {
      ...base,
      labelled: this.#label(base, () => relay.hasOpenCalls),
    }
    const connect = this.#connect(opening, () => relay.openRequests)
    const relay: Relay = new Relay(client.link, connect, this.#contextOf(opening))
    this.#watch(relay, session, serverConfig)
    return relay
  }

  /** What becomes of the answers: labels, the order that they carry, what is remembered of them. */
  #label(
    {
      server,
      serverConfig,
      session,
      log,
      bound,
      recorder,
      recall,
    }: Omit<OpeningSession, 'labelled'>,
    hasOpenCalls: () => boolean,
  ): LabelledAnswers {
    const { lease, who } = session
    const ids = { server, principal: who().principal.id, session: lease.id }
    return labelSession({
      server,
      policy: () => bound().policy,
      lease,
      log,
      onInjection: this.#gate.config.alerts.on.includes('injection')
        ? (tool, found) => this.#parts.onInjection({ ...ids, tool, found })
        : undefined,
      provenance: recall.provenance,
      builtin: serverConfig.kind === 'builtin' ? serverConfig.builtin : undefined,
      hasOpenCalls,
      onUnrecorded: (brought) => recorder.labels(lease.id, server, brought),
      onUnrecordedChanges: (changes) => recorder.changes(lease.id, server, changes),
      onSeen: () => this.#announceListsChanged(session, bound().policy.labelScope),
    })
  }

  #connect(
    { server, serverConfig, session, client, log, labelled: { labels } }: OpeningSession,
    openRequests: () => number,
  ): (events: UpstreamEvents) => Upstream {
    const { who, agent, key: sessionKey } = session
    const { link, handle, environment } = client
    const to = {
      clientGeneration: link.generation,
      principal: who().principal.id,
      who,
      agent: agent()?.id,
      labels,
      handle,
      environment,
      sessionKey,
      spare: () => (openRequests() === 0 ? session.client.spare : undefined),
      log,
    }
    const { connector, gate } = this.#parts
    return (events) => connector.connect(server, serverConfig, to, gate.notes.watch(server, events))
  }

  #contextOf(opening: OpeningSession): RelayContext {
    const { server, serverConfig, session, client, log, bound, frozen, recorder } = opening
    const { recall, labelled } = opening
    const { who, lease, agent } = session
    const { send, handle, onEnd } = client
    const { generation } = client.link
    const { ownPaths, notes } = this.#gate
    const policy = () => bound().policy
    const passesExtension = (extension: string) => this.#passesExtension(server, extension)
    const settle = settleCalls({
      recorder,
      admission: this.#parts.pipeline.admission,
      withLabels: labelled.withLabels,
      onAnswered: () => notes.answered(server),
      log,
    })
    return {
      pipeline: { ...this.#parts.pipeline, policy: bound, record: recorder },
      send,
      who,
      server,
      // For every call, so without a spread that is not the first member: that is slow.
      facts: (program) => {
        const { session, provenance } = recall.facts(steadyMs(), policy().labelScope, program)
        const { principal } = who()
        const transport = serverConfig.kind
        return { ownPaths, transport, principal, agent: agent(), session, provenance }
      },
      sessionChecks: () => lease.checks(),
      whenStored: () => lease.whenStored(),
      nameRoots: (roots) => this.#objectToRoots(server, roots),
      frozen,
      handle,
      lists: (ask, hasApps) => this.#listsOf(server, generation, { policy, ask, hasApps, log }),
      handles: this.#handlesOf(server, generation, who().principal.id),
      onAsked: () => lease.noteUse(steadyMs()),
      onCall: recall.onCall,
      onPrompt: recall.onPrompt,
      onHello: (result) => {
        notes.answered(server)
        const { known } = this.#parts
        return hearServer(server, result, { known, ...this.#gate, passesExtension })
      },
      passesExtension,
      onDelivery: labelled.onDelivery,
      inspectAhead: labelled.inspectAhead,
      answers: labelled.answers,
      vault: () => lease.vault,
      record: (admission, startedMs, outcome) => {
        lease.noteAnswer(outcome.bytes ?? 0)
        settle(admission, startedMs, outcome)
      },
      onEnd: (why) => {
        const level = EXPECTED_ENDS.has(why) ? 'debug' : 'info'
        log(level, 'a session with a server ended', { why })
        labelled.settleLabels()
        onEnd()
      },
      log: limitLog(log),
    }
  }

  #passesExtension(server: string, extension: string): boolean {
    const named = this.#gate.servers.find(server)?.extensions
    return isServedExtension(extension) || named?.includes(extension) === true
  }

  #handlesOf(server: string, generation: ProtocolGeneration, principal: string): SealedHandles {
    const { continuations, gate } = this.#parts
    return new SealedHandles({ generation, seals: gate.seals, server, principal, continuations })
  }

  #listsOf(
    server: string,
    generation: ProtocolGeneration,
    parts: Pick<SeenListsContext, 'policy' | 'ask'> & { log: Log; hasApps: () => boolean },
  ): VisibleLists {
    const { known, pipeline, unusable } = this.#parts
    const { notes, pins } = this.#gate
    return new VisibleLists({
      ...parts,
      server,
      known,
      now: pipeline.now,
      // In the stateless generation nobody need tell the gate that its tools have changed.
      freshMs: generation === 'stateless' ? TOOLS_FRESH_MS : undefined,
      pendingOf: (tool) => markObserved(pins.pendingOf(tool), parts.policy()),
      leavesOut: (tool) =>
        unusable.has(tool, generation, parts.log) ||
        (!isToolFor('model', tool.definition) && !parts.hasApps()),
      onLimit: (why) => notes.limitMet(server, why),
      pins,
    })
  }

  /** Why roots of a client may not be sent to a server. */
  #objectToRoots(name: string, roots: readonly string[]): string | undefined {
    const { config, ownPaths, servers } = this.#gate
    const server = servers.find(name)
    const own = workDirectory(config.data, name)
    const cwd = server?.kind === 'stdio' ? server.cwd : own
    return objectToRoots(roots, { own: ownPaths, cwd, workDirectory: own })
  }

  /** Counts the relay as open until its server has ended. */
  #watch(relay: Relay, session: OpenSession, serverConfig: ServerConfig): void {
    const { relays, gate } = this.#parts
    const isProcess = serverConfig.kind === 'stdio'
    const { idleMs = gate.config.processes.idleMs } = isProcess ? serverConfig : {}
    relays.add(relay, session, isProcess ? idleMs : Number.POSITIVE_INFINITY)
    const { upstream } = relay
    void upstream.ended.then(() => {
      gate.notes.ended(relay.server, upstream.failure)
      relays.delete(relay)
    })
  }

  /** What is hidden from those who have read something is hidden in every connection of the session. */
  #announceListsChanged({ lease, who }: OpenSession, scope: LabelScope): void {
    const { id } = who().principal
    for (const [relay, other] of this.#parts.relays.entries())
      if (other.lease.id === lease.id || (scope === 'principal' && other.who().principal.id === id))
        relay.tellListsChanged()
  }
}
