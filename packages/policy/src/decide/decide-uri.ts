// Resources are decided by what their URI means and not by its spelling: every reading of the URI
// is evaluated and the strictest decision wins. If rules read URIs, a URI that is not in normal
// form is denied, unless the server lists it in exactly that spelling. A completion is also decided
// by the prompt or resource it is for. Pure; decide.ts passes itself in.

import { isStronger } from '../calls/actions.ts'
import type { Call } from '../calls/call.ts'
import type { Decision } from '../calls/decision.ts'
import type { EvaluationContext } from '../expression/evaluate/evaluate.ts'
import { readUri } from '../expression/functions/resource-uri.ts'
import { URI_LENGTH_MAX } from '../language/limits.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { memoizeFor } from '../structures/memoize.ts'
import { isObject } from '../values/json.ts'
import type { TraceStep } from './trace.ts'

type DecisionRequest = Omit<EvaluationContext, 'category'>

export type DecideRequest = (request: DecisionRequest, trace: TraceStep[] | undefined) => Decision

export const COMPLETION = 'completion/complete'
/** Requests about one resource. */
export const RESOURCE_METHODS: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
])

/** Whether rules of a policy decide by the URI of a resource. */
export const readsUris = memoizeFor(enforcesUris)

/** The strictest decision over all readings of the URI. */
export function decideUri(
  policy: CompiledPolicy,
  request: DecisionRequest,
  decide: DecideRequest,
  trace: TraceStep[] | undefined,
): Decision {
  const { call, facts } = request
  const { isNormal, readings, shorter } = readUri(call.name)
  const [first] = readings
  // The author of the rule has named this exact spelling.
  const counted = policy.resources.exact(call.server, first) === undefined ? readings : [first]
  // Only rules that name them apply: an allow-list need not name a resource without its query.
  const also = shorter.filter((uri) => policy.resources.all(call.server, uri).length > 0)
  const all = [...counted, ...also].map((uri) => withUri(request, uri))
  const decisions = all.map((each) => decide(each, undefined))
  const strictest = decisions.reduce((one, other) =>
    isStronger(other.action, one.action) ? other : one,
  )
  if (trace !== undefined) decide(all[decisions.indexOf(strictest)] as DecisionRequest, trace)
  // A URI that is too long has no readings that could be compared with rules.
  const isLifted = facts.isListed === true && call.name.length <= URI_LENGTH_MAX
  if (isNormal || isLifted || !isStronger('deny', strictest.action)) return strictest
  trace?.push({ step: 'decision', action: 'deny', code: 'DENIED', ...NOT_NORMAL })
  return { ...strictest, action: 'deny', code: 'DENIED', ...NOT_NORMAL, limits: [], approvals: [] }
}

/** The denial of a URI that is not in normal form. */
export const NOT_NORMAL = {
  rule: 'built-in',
  reason:
    'the URI is not in normal form, so that rules and server could read different resources from ' +
    'it: ask for it as the server lists it, or without `..`, escapes of plain characters, user, ' +
    'fragment, `\\`, upper case in scheme and host',
}

/** Whether the decision depends on more than the URI as written, see decideUri. */
export function hasOtherReadings(
  policy: CompiledPolicy,
  { server, name }: Omit<Call, 'args'>,
): boolean {
  const { isNormal, shorter } = readUri(name)
  return !isNormal || shorter.some((uri) => policy.resources.all(server, uri).length > 0)
}

/**
 * Decides on the target of a completion as if it were read; `own` is the decision on the request.
 */
export function decideCompletion(
  request: DecisionRequest,
  own: Decision,
  decide: DecideRequest,
): Decision {
  const target = findTarget(request.call)
  if (target === undefined || !isStronger('deny', own.action)) return own
  // The arguments of a prompt are not known yet.
  const { action, rule, reason } = decide(target(request), undefined)
  if (!isStronger(action, own.action) || action === 'require_approval') return own
  // A completion for a hidden target is answered like one for an unknown target.
  const by = action === 'hide' ? { rule: NOT_NORMAL.rule, reason } : { rule, reason }
  return { ...own, action, code: 'DENIED', ...by, limits: [], approvals: [] }
}

function findTarget({
  server,
  args,
}: Call): ((request: DecisionRequest) => DecisionRequest) | undefined {
  if (!isObject(args.ref)) return undefined
  const { type, name, uri } = args.ref
  if (type === 'ref/prompt') {
    const call = { server, method: 'prompts/get', name: `${name}`, args: {} }
    return (request) => ({ ...request, call, args: undefined })
  }
  const call = { server, method: 'resources/read', name: `${uri}`, args: { uri: `${uri}` } }
  return (request) => ({ ...request, call, args: call.args })
}

function withUri(request: DecisionRequest, uri: string): DecisionRequest {
  const { call, args } = request
  if (uri === call.name) return request
  const own = { ...call.args, uri }
  return { ...request, call: { ...call, name: uri, args: own }, args: args && own }
}

/** Shadow rules change no decision, and so do not make spellings matter. */
function enforcesUris(policy: CompiledPolicy): boolean {
  const { resources, categories, methods, guardrails, shadow, base } = policy
  const ofMethods = [...RESOURCE_METHODS].map((method) => methods.get(method))
  const own = [categories.get('Read'), ...ofMethods, ...guardrails]
  return (
    (!shadow && (resources.values().some((rule) => !rule.shadow) || own.some(readsArgumentUri))) ||
    (base?.shadow === false && base.guardrails.some(readsArgumentUri))
  )
}

function readsArgumentUri(rule: Rule | Guardrail | undefined): boolean {
  if (rule?.shadow !== false) return false
  const variables = rule.when?.expression.variables ?? []
  return variables.some(({ root, path }) => root === 'args' && path[0] === 'uri')
}
