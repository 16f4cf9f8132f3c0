// The gate between a client and a server that the test plays both, without any wire: a relay with a
// real policy, real limits and real seals.

import { EngineBench } from '@sluice/access/approvals/engine.test-support'
import { NOBODY } from '@sluice/access/identity/callers/caller'
import { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { makeSessions } from '@sluice/access/identity/sessions/agent-sessions.test-support'
import type { AnswerChange } from '@sluice/ledger/records/answer-changes'
import type { DecisionEntry } from '@sluice/ledger/records/record'
import { EmbeddedAdmissionStore } from '@sluice/ledger/store/memory/admission'
import { SlowAdmissionStore } from '@sluice/ledger/store/slow-admission.test-support'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { JsonObject } from '@sluice/policy/values/json'
import { isServedExtension } from '@sluice/protocol/extensions'
import type { RequestId } from '@sluice/protocol/message'
import {
  META,
  type ProtocolGeneration,
  STATELESS_REVISION,
  TASKS,
} from '@sluice/protocol/protocol-generation'
import { readMessages } from '@sluice/protocol/read-message'
import type { CallPipeline } from '../call/call-request.ts'
import { labelSession } from '../call/inspect-answers.ts'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import type { NameRoots } from '../session/client-roots.ts'
import { Continuations } from '../session/continuations.ts'
import { SealedHandles } from '../session/sealed-handles.ts'
import { VisibleLists } from '../session/visible-lists.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import { listDeclaredCapabilities } from '../shared/server-questions.ts'
import { writeSessionHandle } from '../shared/session-handle.ts'
import type { ClientTransport, MessageContext } from '../shared/transport.ts'
import type { Freeze } from '../state/freezes.ts'
import { KnownTools } from '../tools/known-tools.ts'
import { ScriptedLink, type Sent, settled } from '../upstream/scripted-link.test-support.ts'
import type { Upstream, UpstreamEvents } from '../upstream/upstream.ts'
import { Relay } from './relay.ts'

export const TOOLS = ['ask', 'other', 'hidden'].map((name) => ({
  name,
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  },
}))

const seals = new HandleSealer(new InstallationKey(Buffer.alloc(32, 7)))

const ALL_CAPABILITIES = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }

interface PlayOptions {
  readonly generation?: ProtocolGeneration
  readonly rules?: string
  readonly principal?: string
  readonly link?: (events: UpstreamEvents) => Upstream
  readonly continuations?: Continuations
  readonly freshMs?: number
  /** What the client takes; everything if nothing is said. */
  readonly capabilities?: JsonObject
  /** Calls are admitted by a store that takes its time. */
  readonly isSlow?: boolean
}

export class Play {
  readonly server = new ScriptedLink()
  readonly received: (Sent & { readonly on: MessageContext | undefined })[] = []
  readonly log: string[] = []
  readonly outcomes: CallOutcome[] = []
  /** Beside outcomes. */
  readonly recordedLabels: string[] = []
  readonly recordedChanges: AnswerChange[] = []
  readonly intents: DecisionEntry[] = []
  /** What calls are admitted by; slow if the play is. */
  readonly admission: SlowAdmissionStore<DecisionEntry>
  readonly sessions = makeSessions()
  frozen: Freeze | undefined
  /** The session that labels are added to. */
  readonly lease = this.sessions.open('ada', 'mcp 1', { max: 1, windowMs: 1_000 }, Date.now())
  /** What was inspected, and how much the client had been told before. */
  readonly inspected: {
    readonly text: string
    readonly strictness: string
    readonly receivedCount: number
  }[] = []
  readonly continuations: Continuations
  readonly relay: Relay
  readonly client: ClientTransport
  closed: string | undefined
  nowMs = 1_000
  #lastId = 0
  readonly #capabilities: JsonObject
  /** Requests whose client has gone away without a word. */
  readonly gone = new Set<RequestId>()
  readonly approvals = new EngineBench()
  /** The roots of the client that count for the guardrail over the gate's own files. */
  nameRoots: NameRoots = () => undefined

  constructor(options: PlayOptions = {}) {
    const {
      generation = 'stateless',
      rules = 'default: allow',
      principal = 'ada',
      freshMs,
    } = options
    this.#capabilities = options.capabilities ?? ALL_CAPABILITIES
    const { policy, problems } = compile({ file: 'p', text: `version: 1\n${rules}` }, {})
    if (problems.length > 0) throw new Error(JSON.stringify(problems))
    const bound = { policy: policy as CompiledPolicy, id: 'p' }
    const now = () => ({ wallMs: this.nowMs, monotonicMs: this.nowMs })
    this.continuations = options.continuations ?? new Continuations(() => this.nowMs)
    const embedded = new EmbeddedAdmissionStore<DecisionEntry>({
      counters: new MemoryCounters(),
      approvals: this.approvals.engine,
      log: { intent: async (entry) => this.intents.push(entry) },
    })
    this.admission = new SlowAdmissionStore(embedded)
    const pipeline: CallPipeline = {
      policy: () => bound,
      frozen: () => undefined,
      onCanary: (_session, canary) => void this.log.push(`canary ${canary}`),
      admission: options.isSlow === true ? this.admission : embedded,
      record: { refusal() {}, unrecorded() {} },
      now,
      newId: () => 'id',
      keepsTexts: false,
      watch: new CallInstrumentation(new Meter(), undefined),
      approvals: {
        engine: this.approvals.engine,
        pinOf: ({ definition }) => JSON.stringify(definition),
        urlOf: (id) => `https://gate.example/approvals/${id}`,
        command: 'sluice approvals watch',
      },
    }
    this.client = {
      generation,
      revision: '',
      spare: undefined,
      send: (text, on) => {
        if (this.gone.has(on?.request as RequestId)) return false
        this.received.push({ ...(JSON.parse(text) as Sent), on })
        return this.closed === undefined
      },
      drop() {},
      close: (why) => {
        this.closed ??= why
      },
    }
    this.server.answers = ({ method }) => (method === 'tools/list' ? { tools: TOOLS } : undefined)
    const link = options.link ?? ((events: UpstreamEvents) => this.server.connect(events))
    const { answers, inspectAhead, onDelivery, withLabels, settleLabels } = labelSession({
      server: 's',
      policy: () => bound.policy,
      lease: this.lease,
      hasOpenCalls: () => this.relay.hasOpenCalls,
      onUnrecorded: (labels) => void this.recordedLabels.push(...labels),
      onUnrecordedChanges: (changes) => void this.recordedChanges.push(...changes),
      onSeen() {},
      provenance: () => (findReads(bound.policy).provenance ? this.lease.provenance() : undefined),
      log: (_level, text) => void this.log.push(text),
    })
    this.relay = new Relay(this.client, link, {
      pipeline,
      answers,
      vault: () => this.lease.vault,
      send: (text, related) => this.client.send(text, related),
      server: 's',
      facts: () => ({
        transport: 'http',
        principal: { id: principal, kind: 'grant', groups: [], claims: {} },
        agent: null,
        session: { id: `${principal}#0@1`, startedAtMs: 1, calls: 0, saw: this.saw },
        provenance: findReads(bound.policy).provenance ? this.lease.provenance() : undefined,
      }),
      who: () => NOBODY,
      passesExtension: isServedExtension,
      frozen: () => this.frozen,
      lists: (ask) =>
        new VisibleLists({
          server: 's',
          known: new KnownTools(() => {}),
          policy: () => bound.policy,
          now,
          ask,
          pendingOf: () => undefined,
          leavesOut: () => false,
          onLimit: (why) => void this.log.push(why),
          freshMs,
          pins: { isLocked: false, poisonIn: () => undefined },
        }),
      handles: new SealedHandles({
        generation,
        seals,
        server: 's',
        principal,
        continuations: this.continuations,
      }),
      onAsked() {},
      onCall() {},
      onPrompt: (text) => this.lease.provenance().addPrompt(text),
      onHello: (result) => result,
      inspectAhead,
      onDelivery: (text, strictness, sources, inspected, answered) => {
        this.inspected.push({ text, strictness, receivedCount: this.received.length })
        onDelivery(text, strictness, sources, inspected, answered)
      },
      record: ({ receipt }, _startedMs, outcome) => {
        this.outcomes.push(withLabels(outcome))
        if (outcome.givenBack === true) void embedded.refund(receipt)
      },
      nameRoots: (roots) => this.nameRoots(roots),
      onEnd: settleLabels,
      log: (text) => void this.log.push(text),
      handle: writeSessionHandle('', listDeclaredCapabilities(this.#capabilities)),
    })
  }

  get saw(): readonly string[] {
    return this.lease.facts(Date.now()).saw
  }

  /** Sends a request of the client's; its id. */
  async ask(
    method: string,
    params: Record<string, unknown> = {},
    { headers, meta = {} }: { headers?: Record<string, string>; meta?: object } = {},
  ): Promise<RequestId> {
    const id = `c${++this.#lastId}`
    const own = {
      [META.version]: STATELESS_REVISION,
      [META.capabilities]: { ...this.#capabilities, extensions: { [TASKS]: {} } },
    }
    const _meta = { ...(this.client.generation === 'stateless' ? own : {}), ...meta }
    const whole = Object.keys(_meta).length === 0 ? params : { ...params, _meta }
    this.tell({ id, method, params: whole }, headers)
    await settled()
    return id
  }

  tell(message: object, headers?: Record<string, string>): void {
    const read = readMessages(JSON.stringify({ jsonrpc: '2.0', ...message }), { batches: false })
    if (!read.ok) throw new Error(read.message)
    const related = headers && { headers: new Map(Object.entries(headers)) }
    for (const each of read.messages) this.relay.events.onMessage(each, related)
  }

  /** The server's answer to the newest request of a method. */
  async answer(method: string, result: object | string): Promise<void> {
    const { id } = this.server.last(method)
    if (typeof result === 'object') this.server.say({ id, result })
    else this.server.say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)
    await settled()
  }

  /** What the client was answered. */
  to(id: RequestId): Sent {
    const found = this.received.find(({ id: of, method }) => of === id && method === undefined)
    if (found === undefined) throw new Error(`no answer to \`${id}\``)
    return found
  }

  async end(): Promise<void> {
    await this.relay.end('the test is over')
  }
}

export const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } },
}

/** Plays of one file of tests, and what ends those that a test has made. */
export function playing(): {
  readonly play: (options?: PlayOptions) => Play
  readonly endPlays: () => Promise<void>
} {
  const made: Play[] = []
  const play = (options: PlayOptions = {}): Play => {
    const one = new Play(options)
    made.push(one)
    return one
  }
  const endPlays = async (): Promise<void> => {
    for (const one of made.splice(0)) await one.end()
  }
  return { play, endPlays }
}
