// Requests of either side, from being read to being carried over or refused. What goes wrong on the
// way is an answer that says so; only an admitted request leaves.

import type { Call, Facts } from '@sluice/policy/core/call'
import { isObject } from '@sluice/policy/core/json'
import type { KnownTool } from '@sluice/policy/core/tools'
import { isVisible } from '@sluice/policy/decide/decide'
import { NOT_NORMAL } from '@sluice/policy/decide/weigh-uri'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { disagreement, paramHeadersOf } from '../../protocol/mcp-headers.ts'
import type { JsonRpcRequest } from '../../protocol/message.ts'
import { belongsTo, knowsTasks } from '../../protocol/protocol-generation.ts'
import { type LocalCode, RPC, rpcCodeOf } from '../../protocol/rpc-codes.ts'
import { findNamedTarget } from '../session/known-names.ts'
import { BASE64 } from '../shared/base64.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { SERVER_REQUESTS_MAX, SESSION_REQUESTS_MAX } from '../shared/limits.ts'
import {
  classifyClientMethod,
  classifyServerMethod,
  factsOf,
  objectionTo,
  parseCall,
} from '../shared/parse-call.ts'
import { questionFault } from '../shared/server-questions.ts'
import type { MessageContext } from '../shared/transport.ts'
import { describePending } from '../tools/pins.ts'
import { admitCall } from './admit-call.ts'
import type { CallRequest, CallVerdict } from './call-request.ts'
import { type ApprovalRetryReply, ClientApprovalPrompts } from './client-prompts.ts'
import { BUILT_IN } from './decide-call.ts'
import { listen } from './listen.ts'
import { LISTEN, type PendingRequests } from './pending-requests.ts'
import {
  buildFrozenReply,
  buildNotFoundReply,
  buildRefusalReply,
  type CallRefusal,
  noTasksAnswer,
  refusalText,
} from './replies.ts'
import type { RequestContext } from './request-context.ts'
import { createWaitOptions, withArgs } from './wait-options.ts'

const UNSUBSCRIBE = 'resources/unsubscribe'

/** What is known of a call of the client's beside its request. */
interface ClientCallContext extends Pick<MessageContext, 'trace'> {
  readonly continues: boolean
  readonly approvedFor?: string | undefined
  readonly rounds: number
  readonly headers: ReadonlyMap<string, string> | undefined
  readonly leg?: ApprovalRetryReply | undefined
}

export class RequestHandler {
  readonly #context: RequestContext
  readonly #clients: ClientApprovalPrompts

  constructor(context: RequestContext) {
    this.#context = context
    this.#clients = new ClientApprovalPrompts(context)
  }

  /** With what came beside it, where it came with headers. */
  fromClient(
    asked: JsonRpcRequest,
    crossing: PendingRequests,
    { headers, trace: ofHeaders }: MessageContext = {},
  ): void {
    const { id, method } = asked
    const { era, handles } = this.#context
    const refuse = (code: number, text: string) =>
      crossing.refuse(id, buildErrorReply(id, code, text))
    crossing.begin(id)
    if (crossing.size > SESSION_REQUESTS_MAX)
      return refuse(
        RPC.internal,
        `more than ${SESSION_REQUESTS_MAX} requests are open in this session`,
      )
    const passage = classifyClientMethod(method)
    const frozen = this.#context.frozen()
    // Calls are refused by the spine, which also puts them on record.
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, buildFrozenReply(id, frozen, false))
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
      const told = buildErrorReply(id, RPC.internal, `the call was not made: ${message}`)
      crossing.refuse(id, told, 'server')
    }
    try {
      if (method === LISTEN) listen(request, crossing, this.#context).catch(fault)
      else if (method === UNSUBSCRIBE) this.#unsubscribe(request, crossing, trace).catch(fault)
      else if (passage === 'plumbing') crossing.carry(request, '', undefined, { trace })
      else if (passage === 'task') this.#aboutTask(request, crossing)
      else {
        const going = { continues, approvedFor, rounds, headers, trace, leg }
        this.#clientCall(request, crossing, going).catch(fault)
      }
    } catch (error) {
      fault(error as Error)
    }
  }

  async #unsubscribe(
    request: JsonRpcRequest,
    crossing: PendingRequests,
    trace: MessageContext['trace'],
  ): Promise<void> {
    const { id, method } = request
    const { era, names } = this.#context
    if (await names.isMissing(request))
      crossing.refuse(id, buildNotFoundReply(id, method, parseCall('', request).name, era))
    else if (!(await names.isListed(request)))
      crossing.refuse(id, buildErrorReply(id, RPC.invalidParams, NOT_NORMAL.reason))
    else crossing.carry(request, '', undefined, { trace })
  }

  /** In the stateless era the seal on a task's id says whose it is. */
  #aboutTask(request: JsonRpcRequest, crossing: PendingRequests): void {
    const { id, method, params } = request
    const { era, tasks } = this.#context
    if (era === 'stateless' || method === 'tasks/list' || tasks.isAbout(params?.value))
      return crossing.carry(request, '')
    crossing.refuse(id, buildNotFoundReply(id, method, '', era))
  }

  /** What a server asks of the client, or of the model and the user behind it. */
  async fromServer(
    request: JsonRpcRequest,
    crossing: PendingRequests,
    related: MessageContext,
  ): Promise<void> {
    const { id, method } = request
    const refuse = (code: number, text: string) =>
      crossing.refuse(id, buildErrorReply(id, code, text))
    crossing.begin(id)
    const passage = classifyServerMethod(method)
    if (passage === 'unknown')
      return refuse(RPC.methodNotFound, `\`${method}\` does not pass the gate`)
    if (crossing.size > SERVER_REQUESTS_MAX)
      return refuse(RPC.internal, `more than ${SERVER_REQUESTS_MAX} requests are open`)
    const frozen = this.#context.frozen()
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, buildFrozenReply(id, frozen, false))
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
      crossing.fail(id, buildErrorReply(id, RPC.internal, why))
    }
  }

  async #clientCall(
    request: JsonRpcRequest,
    crossing: PendingRequests,
    going: ClientCallContext,
  ): Promise<void> {
    const { onAsked, spine } = this.#context
    const { headers, leg } = going
    const first = await this.#look(request, crossing, going)
    const { call, facts } = first
    const unlike = headers === undefined ? undefined : this.#unlike(headers, call, facts)
    if (unlike !== undefined)
      return crossing.refuse(request.id, buildErrorReply(request.id, RPC.headerMismatch, unlike))
    onAsked()
    if (leg !== undefined) await this.#clients.heard(leg, facts)
    let known: CallRequest | undefined = first
    const lookUp = () => {
      const now = known ?? this.#look(request, crossing, going)
      known = undefined
      return now
    }
    const verdict = await admitCall({ pipeline: spine, lookUp })
    this.#judged(request, first, verdict, crossing, going)
  }

  #judged(
    request: JsonRpcRequest,
    { call, facts }: CallRequest,
    verdict: CallVerdict,
    crossing: PendingRequests,
    { leg, rounds }: ClientCallContext,
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
  #look(
    request: JsonRpcRequest,
    crossing: PendingRequests,
    going: ClientCallContext,
  ): CallRequest | Promise<CallRequest> {
    const { frozen, lists, server } = this.#context
    const call = parseCall(server, request)
    const asked = (tool?: KnownTool) => this.#asked(request, call, tool, crossing, going)
    if (frozen() !== undefined) return asked()
    if (request.method !== TOOL_CALL) return this.#lookForName(request, asked)
    const found = lists.find(call.name)
    return found instanceof Promise ? found.then(asked) : asked(found)
  }

  #lookForName(
    request: JsonRpcRequest,
    asked: () => CallRequest,
  ): CallRequest | Promise<CallRequest> {
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
  #refusal(
    request: JsonRpcRequest,
    name: string,
    refusal: CallRefusal,
    tool: KnownTool | undefined,
  ): RpcReply {
    const { id } = request
    const { era } = this.#context
    const named = findNamedTarget(request)
    if (refusal.decision.action === 'hide' && refusal.decision.rule === BUILT_IN && named)
      return buildNotFoundReply(id, named.method, named.name, era)
    const { leftOut } = this.#context.lists
    // For hidden names as for unknown ones: which of the two it is, is told by nothing.
    if (refusal.decision.action === 'hide' && request.method === TOOL_CALL && leftOut !== undefined)
      return buildNotFoundReply(
        id,
        TOOL_CALL,
        name,
        era,
        `not all of its server's tools are known: ${leftOut}`,
      )
    return buildRefusalReply(request, name, refusal, tool, era)
  }

  #asked(
    request: JsonRpcRequest,
    call: Call,
    tool: KnownTool | undefined,
    crossing: PendingRequests,
    going: ClientCallContext,
  ): CallRequest {
    const { lists } = this.#context
    const { continues, approvedFor, trace } = going
    const held = tool === undefined ? undefined : lists.heldOf(tool)
    const facts = factsOf(request, { known: this.#context.facts(), tool, args: call.args })
    return {
      call,
      facts,
      argsText: request.params?.text.get('arguments'),
      objection: objectionTo(request, tool),
      waits: held === undefined ? undefined : describePending(held),
      continues,
      trace,
      approvedFor,
      waitOptions: () =>
        createWaitOptions(request, {
          isWanted: () => crossing.isJudging(request.id),
          judge: (sent) => this.#asked(sent, parseCall(call.server, sent), tool, crossing, going),
          waitMsMax: (pending) => this.#clients.patienceMs(request, facts, pending, going.leg),
          askClient: (pending) => this.#clients.ask(request, facts, pending),
        }),
    }
  }

  async #serverCall(
    request: JsonRpcRequest,
    crossing: PendingRequests,
    related: MessageContext,
  ): Promise<void> {
    const { facts, server, spine } = this.#context
    const call = parseCall(server, request)
    const objection = objectionTo(request)
    const isWanted = () => crossing.isJudging(request.id)
    const waitOptions = () => createWaitOptions(request, { isWanted })
    const lookUp = (): CallRequest => ({
      call,
      facts: facts(),
      argsText: undefined,
      waitOptions,
      objection,
    })
    const verdict = await admitCall({ pipeline: spine, lookUp })
    if (verdict.admission !== undefined)
      return crossing.carry(request, call.name, verdict.admission, related)
    const { decision } = verdict
    const code = rpcCodeOf(decision.code as LocalCode)
    crossing.refuse(request.id, buildErrorReply(request.id, code, refusalText(decision)))
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
    const isShown = isVisible(spine.policy().policy, call, facts, spine.now())
    return disagreement(headers, isShown ? wanted : [], call.args, BASE64)
  }
}

/** In `_meta`, as MCP has it for every transport, or else in the headers of the request. */
function traceOf(
  { params }: JsonRpcRequest,
  ofHeaders: MessageContext['trace'],
): MessageContext['trace'] {
  const meta = params?.value._meta
  if (!isObject(meta) || typeof meta.traceparent !== 'string') return ofHeaders
  const { traceparent, tracestate } = meta
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent }
}
