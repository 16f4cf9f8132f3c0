// Requests of either side, from being read to being carried over or refused. What goes wrong on the
// way is an answer that says so; only an admitted request leaves.

import type { Call, Facts } from '@sluice/policy/core/call'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import type { KnownTool } from '@sluice/policy/core/tools'
import { visible } from '@sluice/policy/decide/decide'
import { NOT_NORMAL } from '@sluice/policy/decide/weigh-uri'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { disagreement, paramHeadersOf } from '../../protocol/mcp-headers.ts'
import { withMembers } from '../../protocol/members.ts'
import type { Request } from '../../protocol/message.ts'
import {
  belongsTo,
  type Era,
  knowsTasks,
  LIST_CHANGES,
} from '../../protocol/protocol-generation.ts'
import { type LocalCode, RPC, rpcCodeOf } from '../../protocol/rpc-codes.ts'
import type { ClientQuestions } from '../session/client-elicitations.ts'
import { type KnownNames, namedIn } from '../session/known-names.ts'
import type { Handles } from '../session/sealed-handles.ts'
import type { OwnTasks } from '../session/session-tasks.ts'
import type { SeenLists } from '../session/visible-lists.ts'
import { BASE64 } from '../shared/base64.ts'
import { errorAnswer, type Told } from '../shared/error-reply.ts'
import {
  LISTEN_RESOURCES_MAX,
  SERVER_REQUESTS_MAX,
  SESSION_REQUESTS_MAX,
} from '../shared/limits.ts'
import type { Outcome } from '../shared/outcome.ts'
import {
  callOf,
  factsOf,
  objectionTo,
  passageFromClient,
  passageFromServer,
} from '../shared/parse-call.ts'
import { questionFault } from '../shared/server-questions.ts'
import type { Related } from '../shared/transport.ts'
import type { Frozen } from '../state/freezes.ts'
import { heldReason } from '../tools/pins.ts'
import {
  type Admission,
  type Asked,
  admit,
  BUILT_IN,
  judge,
  type Spine,
  type Verdict,
} from './admit.ts'
import { HeldClients, type LegBack } from './client-prompts.ts'
import { type Crossing, LISTEN } from './pending-requests.ts'
import {
  frozenAnswer,
  noTasksAnswer,
  type Refusal,
  refusalAnswer,
  refusalText,
  unknownAnswer,
} from './replies.ts'
import { holdingOf, withArgs } from './wait-options.ts'

export interface JudgeContext {
  readonly spine: Spine
  readonly era: Era
  readonly server: string
  /** Who calls, and in which session; asked anew for every call. */
  readonly facts: () => Omit<Facts, 'tool'>
  /** What of this conversation is frozen. */
  readonly frozen: () => Frozen | undefined
  /** Whether this caller is told the rule and what is left. */
  readonly explain: () => boolean
  readonly lists: SeenLists
  readonly names: KnownNames
  readonly tasks: OwnTasks
  readonly handles: Handles
  /** What the gate itself asks a client with a session. */
  readonly questions: ClientQuestions
  /** A call of the client's was judged; and one was admitted. */
  readonly onAsked: () => void
  readonly onCall: () => void
  readonly record: (admission: Admission, startedMs: number, outcome: Outcome) => void
  readonly log: (text: string) => void
}

const UNSUBSCRIBE = 'resources/unsubscribe'

/** What is known of a call of the client's beside its request. */
interface Going extends Pick<Related, 'trace'> {
  readonly continues: boolean
  readonly approvedFor?: string | undefined
  readonly rounds: number
  readonly headers: ReadonlyMap<string, string> | undefined
  readonly leg?: LegBack | undefined
  /** Whoever asked is told that the call was not made. */
  readonly fault: (error: Error) => void
}

export class RequestJudge {
  readonly #context: JudgeContext
  readonly #clients: HeldClients

  constructor(context: JudgeContext) {
    this.#context = context
    this.#clients = new HeldClients(context)
  }

  /** With what came beside it, where it came with headers. */
  fromClient(
    asked: Request,
    crossing: Crossing,
    { headers, trace: ofHeaders }: Related = {},
  ): void {
    const { id, method } = asked
    const { era, handles } = this.#context
    const refuse = (code: number, text: string) => crossing.refuse(id, errorAnswer(id, code, text))
    crossing.begin(id)
    if (crossing.size > SESSION_REQUESTS_MAX)
      return refuse(
        RPC.internal,
        `more than ${SESSION_REQUESTS_MAX} requests are open in this session`,
      )
    const passage = passageFromClient(method)
    const frozen = this.#context.frozen()
    // Calls are refused by the spine, which also puts them on record.
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, frozenAnswer(id, frozen, false))
    if (passage === 'unknown' || !belongsTo(era, method))
      return refuse(RPC.methodNotFound, `\`${method}\` is not a method the gate knows`)
    if (era === 'stateless' && passage === 'task' && !knowsTasks(asked.params))
      return crossing.refuse(id, noTasksAnswer(id, method))
    const opened = handles.open(asked)
    if (opened.request === undefined) return refuse(RPC.invalidParams, opened.refused)
    const { request, continues, approvedFor, rounds, leg } = opened
    const trace = traceOf(request, ofHeaders)
    // The error may be in words of the server, which was asked for its lists.
    const fault = ({ message }: Error) => {
      const told = errorAnswer(id, RPC.internal, `the call was not made: ${message}`)
      crossing.refuse(id, told, 'server')
    }
    try {
      if (method === LISTEN) this.#listen(request, crossing).catch(fault)
      else if (method === UNSUBSCRIBE) this.#unsubscribe(request, crossing, trace).catch(fault)
      else if (passage === 'plumbing') crossing.carry(request, '', undefined, { trace })
      else if (passage === 'task') this.#aboutTask(request, crossing)
      else {
        const going = { continues, approvedFor, rounds, headers, trace, leg, fault }
        this.#clientCall(request, crossing, going)
      }
    } catch (error) {
      fault(error as Error)
    }
  }

  async #unsubscribe(request: Request, crossing: Crossing, trace: Related['trace']): Promise<void> {
    const { id, method } = request
    const { era, names } = this.#context
    if (await names.isMissing(request))
      crossing.refuse(id, unknownAnswer(id, method, callOf('', request).name, era))
    else if (!(await names.isListed(request)))
      crossing.refuse(id, errorAnswer(id, RPC.invalidParams, NOT_NORMAL.reason))
    else crossing.carry(request, '', undefined, { trace })
  }

  /** In the stateless era the seal on a task's id says whose it is. */
  #aboutTask(request: Request, crossing: Crossing): void {
    const { id, method, params } = request
    const { era, tasks } = this.#context
    if (era === 'stateless' || method === 'tasks/list' || tasks.isAbout(params?.value))
      return crossing.carry(request, '')
    crossing.refuse(id, unknownAnswer(id, method, '', era))
  }

  /** Only what the gate knows how to pass on: changes of lists, and of the resources those that may be
   * subscribed to. */
  async #listen(request: Request, crossing: Crossing): Promise<void> {
    const { id, params } = request
    const asked = params?.value.notifications
    const filter: JsonObject = isObject(asked) ? asked : {}
    const wanted: Record<string, JsonValue> = {}
    for (const wish of LIST_CHANGES.values()) if (filter[wish] === true) wanted[wish] = true
    const { resourceSubscriptions: uris = [] } = filter
    if (!Array.isArray(uris) || uris.length > LISTEN_RESOURCES_MAX) {
      const text = `\`resourceSubscriptions\` must be a list of at most ${LISTEN_RESOURCES_MAX} URIs`
      return crossing.refuse(id, errorAnswer(id, RPC.invalidParams, text))
    }
    const granted: string[] = []
    for (const uri of uris)
      if (typeof uri === 'string' && (await this.#maySubscribe(uri))) granted.push(uri)
    if (granted.length > 0) wanted.resourceSubscriptions = granted
    const notifications = JSON.stringify(wanted)
    crossing.carry({ ...request, params: withMembers(params, { notifications }) }, '')
  }

  async #maySubscribe(uri: string): Promise<boolean> {
    const { facts, onAsked, onCall, record, server, spine } = this.#context
    onAsked()
    const call = { server, method: 'resources/subscribe', name: uri, args: { uri } }
    const startedMs = performance.now()
    const request = { kind: 'request', id: 0, method: call.method, source: '' } as const
    const params = { value: { uri }, text: new Map([['uri', JSON.stringify(uri)]]) }
    const { names } = this.#context
    const missing = await names.isMissing({ ...request, params })
    const isListed = await names.isListed({ ...request, params })
    const known = (): Facts => ({ ...facts(), isListed })
    const look = (): Asked => ({ call, facts: known(), argsText: undefined, holding, missing })
    // Nobody is kept waiting for what is one of many.
    const holding = () =>
      holdingOf({ ...request, params }, { isWanted: () => true, look, waitMsMax: () => 0 })
    const verdict = await admit(spine, look())
    if (verdict.admission === undefined) return false
    onCall()
    record(verdict.admission, startedMs, { status: 'answered' })
    return true
  }

  /** What a server asks of the client, or of the model and the user behind it. */
  async fromServer(request: Request, crossing: Crossing, related: Related): Promise<void> {
    const { id, method } = request
    const refuse = (code: number, text: string) => crossing.refuse(id, errorAnswer(id, code, text))
    crossing.begin(id)
    const passage = passageFromServer(method)
    if (passage === 'unknown')
      return refuse(RPC.methodNotFound, `\`${method}\` does not pass the gate`)
    if (crossing.size > SERVER_REQUESTS_MAX)
      return refuse(RPC.internal, `more than ${SERVER_REQUESTS_MAX} requests are open`)
    const frozen = this.#context.frozen()
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, frozenAnswer(id, frozen, false))
    if (passage === 'plumbing') return crossing.carry(request, '', undefined, related)
    const { questions, log } = this.#context
    const fault = questionFault(method, request.params?.value ?? {}, questions.declared)
    if (fault !== undefined) {
      log(`a question that does not reach the client: ${fault.why}`)
      return refuse(fault.code, fault.why)
    }
    try {
      await this.#serverCall(request, crossing, related)
    } catch (error) {
      const why = `the gate could not pass it on: ${(error as Error).message}`
      crossing.fail(id, errorAnswer(id, RPC.internal, why))
    }
  }

  /** Nothing is waited for where nothing has to be: most calls are judged before this returns. */
  #clientCall(request: Request, crossing: Crossing, going: Going): void {
    const looked = this.#look(request, crossing, going)
    if (looked instanceof Promise)
      looked.then((asked) => this.#judge(request, asked, crossing, going)).catch(going.fault)
    else this.#judge(request, looked, crossing, going)
  }

  #judge(request: Request, asked: Asked, crossing: Crossing, going: Going): void {
    const { onAsked, spine } = this.#context
    const { headers, leg, fault } = going
    const { call, facts } = asked
    const unlike = headers === undefined ? undefined : this.#unlike(headers, call, facts)
    if (unlike !== undefined)
      return crossing.refuse(request.id, errorAnswer(request.id, RPC.headerMismatch, unlike))
    onAsked()
    const verdict = (verdict: Verdict): void => {
      try {
        this.#judged(request, asked, verdict, crossing, going)
      } catch (error) {
        fault(error as Error)
      }
    }
    if (leg === undefined) return judge(spine, asked, { verdict, fault })
    const heard = this.#clients.heard(leg, facts)
    heard.then(() => judge(spine, asked, { verdict, fault })).catch(fault)
  }

  #judged(
    request: Request,
    { call, facts }: Asked,
    verdict: Verdict,
    crossing: Crossing,
    { leg, rounds }: Going,
  ): void {
    const { explain, onCall } = this.#context
    if (verdict.admission === undefined) {
      const refusal = { ...verdict, explain: explain() }
      const kept = verdict.pending && this.#clients.comeAgain(request, call, verdict.pending, leg)
      const told = kept ?? this.#refusal(request, call.name, refusal, facts.tool)
      return crossing.refuse(request.id, told)
    }
    onCall()
    const { admission } = verdict
    const args = admission.approval?.args
    const sent = args === undefined ? request : withArgs(request, args)
    crossing.carry(sent, call.name, admission, { tool: facts.tool, rounds })
  }

  /** The call with what is known of it now; a promise only where the server has to be asked. */
  #look(request: Request, crossing: Crossing, going: Going): Asked | Promise<Asked> {
    const { frozen, lists, server } = this.#context
    const call = callOf(server, request)
    const asked = (tool?: KnownTool) => this.#asked(request, call, tool, crossing, going)
    if (frozen() !== undefined) return asked()
    if (request.method !== TOOL_CALL) return this.#lookForName(request, asked)
    const found = lists.find(call.name)
    return found instanceof Promise ? found.then(asked) : asked(found)
  }

  #lookForName(request: Request, asked: () => Asked): Asked | Promise<Asked> {
    const { names } = this.#context
    const missing = names.isMissing(request)
    const listed = names.isListed(request)
    if (!(missing instanceof Promise) && listed === true) return asked()
    return Promise.all([missing, listed]).then(([is, isListed]) => {
      const known = asked()
      return { ...known, facts: { ...known.facts, isListed }, missing: is }
    })
  }

  /** A completion is for a prompt or resource: if that is hidden, the answer says it is unknown. */
  #refusal(request: Request, name: string, refusal: Refusal, tool: KnownTool | undefined): Told {
    const { id } = request
    const { era } = this.#context
    const named = namedIn(request)
    if (refusal.decision.action === 'hide' && refusal.decision.rule === BUILT_IN && named)
      return unknownAnswer(id, named.method, named.name, era)
    const { leftOut } = this.#context.lists
    // For hidden names as for unknown ones: which of the two it is, is told by nothing.
    if (refusal.decision.action === 'hide' && request.method === TOOL_CALL && leftOut !== undefined)
      return unknownAnswer(
        id,
        TOOL_CALL,
        name,
        era,
        `not all of its server's tools are known: ${leftOut}`,
      )
    return refusalAnswer(request, name, refusal, tool, era)
  }

  #asked(
    request: Request,
    call: Call,
    tool: KnownTool | undefined,
    crossing: Crossing,
    going: Going,
  ): Asked {
    const { lists } = this.#context
    const { continues, approvedFor, trace } = going
    const held = tool === undefined ? undefined : lists.heldOf(tool)
    const facts = factsOf(request, { known: this.#context.facts(), tool, args: call.args })
    return {
      call,
      facts,
      argsText: request.params?.text.get('arguments'),
      objection: objectionTo(request, tool),
      waits: held === undefined ? undefined : heldReason(held),
      continues,
      trace,
      approvedFor,
      holding: () =>
        holdingOf(request, {
          isWanted: () => crossing.isJudging(request.id),
          look: () => this.#look(request, crossing, going),
          judge: (sent) => this.#asked(sent, callOf(call.server, sent), tool, crossing, going),
          waitMsMax: (pending) => this.#clients.patienceMs(request, facts, pending, going.leg),
          askClient: (pending) => this.#clients.ask(request, facts, pending),
        }),
    }
  }

  async #serverCall(request: Request, crossing: Crossing, related: Related): Promise<void> {
    const { facts, server, spine } = this.#context
    const call = callOf(server, request)
    const objection = objectionTo(request)
    const look = (): Asked => ({ call, facts: facts(), argsText: undefined, holding, objection })
    const isWanted = () => crossing.isJudging(request.id)
    const holding = () => holdingOf(request, { isWanted, look })
    const verdict = await admit(spine, look())
    if (verdict.admission !== undefined)
      return crossing.carry(request, call.name, verdict.admission, related)
    const { decision } = verdict
    const code = rpcCodeOf(decision.code as LocalCode)
    crossing.refuse(request.id, errorAnswer(request.id, code, refusalText(decision)))
  }

  /** What a balancer would read in the headers must be what the server reads in the body. Which of
   * them a hidden tool wants is hidden too: it is told from an unknown one by nothing. */
  #unlike(headers: ReadonlyMap<string, string>, call: Call, facts: Facts): string | undefined {
    const { spine, era } = this.#context
    const declared = paramHeadersOf(facts.tool?.definition.inputSchema) ?? []
    // A session wants none: of those that come, each must say what the body says.
    const wanted =
      era === 'session' ? declared.filter(({ header }) => headers.has(header)) : declared
    if (headers.size === 0 && wanted.length === 0) return undefined
    const isShown = visible(spine.policy().policy, call, facts, spine.now())
    return disagreement(headers, isShown ? wanted : [], call.args, BASE64)
  }
}

/** In `_meta`, as MCP has it for every transport, or else in the headers of the request. */
function traceOf({ params }: Request, ofHeaders: Related['trace']): Related['trace'] {
  const meta = params?.value._meta
  if (!isObject(meta) || typeof meta.traceparent !== 'string') return ofHeaders
  const { traceparent, tracestate } = meta
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent }
}
