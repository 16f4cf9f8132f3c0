// AuthZEN (Authorization API 1.0) as another form of `decide`: a policy enforcement point elsewhere asks the gate
// whether a subject may make a call. `subject.id` is the principal, `action.name` the method of MCP, `resource.id` is
// `<server>/<name>`, and `context.arguments` are the arguments. What the gate does not know is not permitted; only a
// request without the members that the standard requires is an error.

import type { IncomingMessage } from 'node:http'
import type { RelyingParty } from '@sluice/access/identity/people/passkeys'
import type { Person } from '@sluice/access/identity/person'
import { DECIDE_CALL } from '@sluice/gateway/operations/decide-call'
import type { OperationParts } from '@sluice/gateway/operations/operation'
import { runProven } from '@sluice/gateway/operations/run-operation'
import { InputError, OperationError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { EVALUATIONS_MAX } from '../http/limits.ts'

const PATH = '/api/access/v1'
const ANY = { kind: 'any' } as const
const ENTITIES = {
  subject: { shape: ANY, doc: '`type`, and `id`: a grant, or `local`' },
  action: { shape: ANY, doc: '`name` is the method, such as `tools/call`' },
  resource: { shape: ANY, doc: '`type`, and `id`: `<server>/<name>`' },
  context: { shape: ANY, doc: '`arguments` of the call' },
} as const

/** As it arrives: members may be missing or of any type. */
interface AuthzenRequest {
  readonly subject?: unknown
  readonly action?: unknown
  readonly resource?: unknown
  readonly context?: unknown
}

/** `evaluations` are requests that take what they leave out from the members beside them. */
interface AuthzenBatch extends AuthzenRequest {
  readonly evaluations?: unknown
  readonly options?: unknown
}

/** What an enforcement point reads. `context` says why. */
export interface AuthzenDecision {
  readonly decision: boolean
  readonly context: JsonObject
}

/** Whether an answer is the last one of a batch, by the name of the batch's semantic. */
const IS_LAST: Readonly<Record<string, (decision: boolean) => boolean>> = {
  execute_all: () => false,
  deny_on_first_deny: (decision) => !decision,
  permit_on_first_permit: (decision) => decision,
}

/** `rpOf`: the address that a request came to. */
export function authzenEndpoints(
  parts: OperationParts,
  rpOf: (request: IncomingMessage) => RelyingParty,
): Endpoint[] {
  return [
    endpoint('GET /.well-known/authzen-configuration', {
      role: 'anyone',
      summary: 'AuthZEN 1.0: where its evaluations are',
      handle: ({ request }) => describePoint(rpOf(request).origin),
    }),
    endpoint(`POST ${PATH}/evaluation`, {
      role: 'viewer',
      summary: 'AuthZEN 1.0: whether a subject may make a call, which is not made',
      input: ENTITIES,
      handle: ({ input, person }) => evaluate(parts, person, input),
    }),
    endpoint(`POST ${PATH}/evaluations`, {
      role: 'viewer',
      summary: 'AuthZEN 1.0: the same for several requests at once',
      input: {
        ...ENTITIES,
        evaluations: { shape: ANY, doc: 'requests; what one leaves out is as beside them' },
        options: { shape: ANY, doc: '`evaluations_semantic`' },
      },
      handle: ({ input, person }) => evaluateAll(parts, person, input),
    }),
  ]
}

function describePoint(origin: string): JsonObject {
  return {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${PATH}/evaluation`,
    access_evaluations_endpoint: `${origin}${PATH}/evaluations`,
  }
}

/** One after the other, in the order of the request. Without `evaluations` it is a request for one decision. */
async function evaluateAll(
  parts: OperationParts,
  person: Person,
  { evaluations = [], options, ...common }: AuthzenBatch,
): Promise<AuthzenDecision | { readonly evaluations: readonly AuthzenDecision[] }> {
  if (!Array.isArray(evaluations) || evaluations.length > EVALUATIONS_MAX)
    throw new InputError(
      `\`evaluations\` is not a list of at most ${EVALUATIONS_MAX}`,
      'send more of them in another request',
    )
  const isLast = IS_LAST[readSemantic(options)]
  if (isLast === undefined)
    throw new InputError(
      `\`options.evaluations_semantic\` is \`${readSemantic(options).slice(0, 64)}\``,
      `write one of ${Object.keys(IS_LAST).join(', ')}`,
    )
  if (evaluations.length === 0) return evaluate(parts, person, common)
  const answers: AuthzenDecision[] = []
  for (const one of evaluations) {
    const answer = isObject(one)
      ? await evaluate(parts, person, { ...common, ...one }).catch(toAnswer)
      : toAnswer(new InputError('an evaluation is not an object', ''))
    answers.push(answer)
    if (isLast(answer.decision)) break
  }
  return { evaluations: answers }
}

function readSemantic(options: unknown): string {
  const { evaluations_semantic: semantic = 'execute_all' } = isObject(options) ? options : {}
  return typeof semantic === 'string' ? semantic : JSON.stringify(semantic)
}

/** One request of a batch that cannot be read does not fail the others. */
function toAnswer(error: Error): AuthzenDecision {
  if (!(error instanceof InputError)) throw error
  return { decision: false, context: { error: { status: 400, message: error.message } } }
}

/** Throws InputError if a member that the standard requires is missing. */
async function evaluate(
  parts: OperationParts,
  person: Person,
  { subject, action, resource, context }: AuthzenRequest,
): Promise<AuthzenDecision> {
  readText(subject, 'subject', 'type')
  readText(resource, 'resource', 'type')
  const id = readText(resource, 'resource', 'id')
  const slash = id.indexOf('/')
  const { arguments: args = {} } = isObject(context) ? context : {}
  const call: JsonObject = {
    principal: readText(subject, 'subject', 'id'),
    method: readText(action, 'action', 'name'),
    server: id.slice(0, Math.max(slash, 0)),
    name: id.slice(slash + 1),
    args: JSON.stringify(args),
  }
  const unknown = (reason: string): AuthzenDecision => ({
    decision: false,
    context: { code: 'UNKNOWN', reason },
  })
  if (slash < 0) return unknown(`\`${id.slice(0, 200)}\` is not \`<server>/<name>\``)
  try {
    const decided = await runProven(DECIDE_CALL, parts, call, person)
    const { action: outcome, code = '', reason = '' } = decided
    return { decision: outcome === 'allow', context: { code, reason } }
  } catch (error) {
    // No principal or server of that name, or arguments that no call can have.
    if (error instanceof OperationError) return unknown(error.message)
    throw error
  }
}

function readText(entity: unknown, name: string, key: string): string {
  const value = isObject(entity) ? entity[key] : undefined
  if (typeof value === 'string') return value
  throw new InputError(`\`${name}.${key}\` is not a text`, 'see the API of AuthZEN 1.0')
}
