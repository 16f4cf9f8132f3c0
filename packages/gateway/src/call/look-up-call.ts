// A call with what is known of it now: its tool, the facts about the caller, and what stands against it
// whatever the policy says. Called by handle-call.ts, again after every wait.

import type { KnownTool } from '@sluice/policy/calls/tools'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { findNamedTarget } from '../session/known-names.ts'
import { hasLongMembers, inspectArguments } from '../shared/inspect-arguments.ts'
import { factsOf, objectionTo, parseCall } from '../shared/parse-call.ts'
import type { CallRequest } from './call-request.ts'
import type { CallSession } from './call-session.ts'
import { findSealedObjection } from './open-sealed.ts'
import type { ParsedCall } from './parsed-request.ts'
import type { PendingRequest } from './pending-requests.ts'
import { createWaitOptions } from './wait-options.ts'

export interface LookUpOptions {
  readonly parsed: ParsedCall
  readonly pending: PendingRequest
  readonly session: CallSession
}

/** Looks through long arguments of a client before they are decided; undefined if that need not be. */
export function inspectAhead(
  { message, sender }: ParsedCall,
  { pipeline, server }: CallSession,
): Promise<void> | undefined {
  if (sender === 'server' || !hasLongMembers(message.params)) return undefined
  return inspectArguments(parseCall(server, message), message.params, pipeline.policy().policy)
}

/** Finds what the call is about. The result is a promise only if the server has to be asked. */
export function lookUpCall(options: LookUpOptions): CallRequest | Promise<CallRequest> {
  const { parsed, session } = options
  const { message, sender } = parsed
  if (sender === 'server') return toServerCall(options)
  if (session.frozen() !== undefined) return toClientCall(options, message)
  if (message.method !== TOOL_CALL) return lookUpName(options)
  const call = parseCall(session.server, message)
  const found = session.lists.find(call.name)
  return found instanceof Promise
    ? found.then((tool) => toClientCall(options, message, tool, call))
    : toClientCall(options, message, found, call)
}

/** Finds out whether the server has the prompt or resource, and lists it by this name. The files of a skill are
 * known by its manifest, which is looked up first. */
function lookUpName(options: LookUpOptions): CallRequest | Promise<CallRequest> {
  const { name = '' } = findNamedTarget(options.parsed.message) ?? {}
  const { facts, lists } = options.session
  const asking = lists.skills.lookUp(name, facts)
  const next = () => lookUpKnown(options, name)
  return asking === undefined ? next() : asking.then(next)
}

function lookUpKnown(options: LookUpOptions, name: string): CallRequest | Promise<CallRequest> {
  const { message } = options.parsed
  const { facts, lists, names } = options.session
  const skill = lists.skills.objectTo(name, message.method, facts)
  const missing = names.isMissing(message)
  const listed = skill?.isListed || names.isListed(message)
  if (!(missing instanceof Promise) && listed === true && skill === undefined)
    return toClientCall(options, message)
  return Promise.all([missing, listed]).then(([isMissing, isListed]) => {
    const request = toClientCall(options, message)
    return {
      ...request,
      facts: { ...request.facts, isListed },
      missing: isMissing || skill?.missing === true,
      pendingDefinition: skill?.pendingDefinition,
      objection: request.objection ?? skill?.objection,
    }
  })
}

function toClientCall(
  options: LookUpOptions,
  message: JsonRpcRequest,
  tool?: KnownTool,
  call = parseCall(options.session.server, message),
): CallRequest {
  const { parsed, pending, session } = options
  const { approvedFor, continues, program, retry, trace } = parsed
  const { lists, prompts } = session
  const facts = factsOf(message, { known: session.facts(program), tool, args: call.args })
  return {
    call,
    facts,
    checks: session.sessionChecks?.(),
    argsText: message.params?.text.get('arguments'),
    params: message.params,
    objection:
      objectionTo(message, tool) ??
      findSealedObjection({
        message,
        tool: call.name,
        vault: session.vault(),
        canOpen: session.answers.canOpen,
        redacts: session.answers.isActive,
      }),
    pendingDefinition: tool === undefined ? undefined : lists.pendingOf(tool),
    continues,
    trace,
    program,
    approvedFor,
    waitOptions: () =>
      createWaitOptions(message, {
        isWanted: () => pending.isOpen,
        toCall: (edited) => toClientCall(options, edited, tool),
        // A program sleeps until the decision.
        waitMsMax: (approval) =>
          program === undefined ? prompts.patienceMs(message, facts, approval, retry) : 0,
        askClient: (approval) => prompts.ask(message, facts, approval),
      }),
  }
}

function toServerCall({ parsed: { message }, pending, session }: LookUpOptions): CallRequest {
  return {
    call: parseCall(session.server, message),
    facts: session.facts(),
    checks: session.sessionChecks?.(),
    argsText: undefined,
    objection: objectionTo(message),
    waitOptions: () => createWaitOptions(message, { isWanted: () => pending.isOpen }),
  }
}
