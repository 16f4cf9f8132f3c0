// `sluice approvals …` as the running gate does it: listing and waiting for news need nobody's proof,
// every verdict, every look behind a mask and every lifting does. Words of the control channel.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import type {
  ApprovalRequest,
  ApprovalService,
  ApprovalVerdict,
  ArgumentBound,
  StandingTerms,
} from '../core/approval.ts'
import { APPROVAL_STATES } from '../core/approval.ts'
import { OperationError } from '../core/operation-error.ts'
import type { CommandHandler } from '../gateway/front/socket/command-registry.ts'
import { APPROVALS_NEWS_MS, APPROVALS_TOLD_MAX } from '../gateway/shared/limits.ts'
import { REQUIRED_ROLES, type VerifyPerson } from './verify-person.ts'

export function createApprovalCommands(
  approvals: ApprovalService,
  prove: VerifyPerson,
): Readonly<Record<string, CommandHandler>> {
  let news = 0
  approvals.watch(() => void news++)
  const find = (given: JsonValue | undefined) => findRequest(approvals, given)
  return {
    approvals: (request) => ({ ...listed(approvals, request), news }),
    approval: ({ id }) => ({ request: toRequestView(find(id)) }),
    /** Answers when something has changed since `news`, or after a while. */
    'approvals-news': async ({ news: known }) => {
      if (news === known) await nextNews(approvals)
      return { ...listed(approvals, { states: ['pending'] }), news }
    },
    'approval-reveal': async (request) => {
      const { id } = find(request.id)
      const who = await prove(request, REQUIRED_ROLES.verdict, 'approvals show --reveal')
      return { ...(await approvals.reveal(id, who)) }
    },
    'approval-decide': async (request) => {
      const { id } = find(request.id)
      const verdict = readVerdict(request)
      const who = await prove(request, REQUIRED_ROLES.verdict, `approvals ${verdict.verdict}`)
      return { request: toRequestView(await approvals.decide(id, verdict, who, 'terminal')) }
    },
    'approval-lift': async (request) => {
      const { session, server, name } = request
      if (typeof session !== 'string' || typeof server !== 'string' || typeof name !== 'string')
        throw new OperationError(
          '`session`, `server` and `name` say what to lift',
          'name all three',
        )
      const who = await prove(request, REQUIRED_ROLES.verdict, 'approvals lift')
      await approvals.lift({ session, server, name }, who)
      return {}
    },
    'approval-end': async (request) => {
      const id = String(request.id)
      await approvals.endStanding(id, await prove(request, REQUIRED_ROLES.verdict, 'approvals end'))
      return { ended: id }
    },
  }
}

function listed(approvals: ApprovalService, { states, server, principal }: JsonObject): JsonObject {
  const wanted = Array.isArray(states) ? states : ['pending']
  const known = APPROVAL_STATES.filter((state) => wanted.includes(state))
  const requests = approvals.list({
    states: known,
    ...(typeof server === 'string' ? { server } : {}),
    ...(typeof principal === 'string' ? { principal } : {}),
    limit: APPROVALS_TOLD_MAX,
  })
  return {
    requests: requests.map(toRequestView),
    standing: cloneJson(approvals.standing),
    barred: cloneJson(approvals.barred),
  }
}

/** By its id or the beginning of it. */
function findRequest(approvals: ApprovalService, given: JsonValue | undefined): ApprovalRequest {
  const id = typeof given === 'string' ? given : ''
  const found = approvals.find(id)
  if (found !== undefined) return found
  const alike =
    id === '' ? [] : approvals.list({ limit: 1_000 }).filter((each) => each.id.startsWith(id))
  const [only] = alike
  if (alike.length === 1 && only !== undefined) return only
  if (alike.length > 1)
    throw new OperationError(
      `\`${id}\` begins ${alike.length} requests`,
      'write more of it: `sluice approvals list`',
    )
  throw new OperationError(`there is no request \`${id.slice(0, 40)}\``, '`sluice approvals list`')
}

function readVerdict({ verdict, comment, edits, args, forAWhile }: JsonObject): ApprovalVerdict {
  if (verdict !== 'approve' && verdict !== 'deny')
    throw new OperationError('`verdict` is neither `approve` nor `deny`', 'say one of them')
  if (comment !== undefined && typeof comment !== 'string')
    throw new OperationError('`comment` is no text', 'leave it out, or write one')
  if (args !== undefined && typeof args !== 'string')
    throw new OperationError('`args` is no JSON text', 'leave it out, or write an object')
  if (edits !== undefined && typeof edits !== 'number')
    throw new OperationError('`edits` is no number', 'say that of the request that was seen')
  return {
    verdict,
    ...(edits === undefined ? {} : { edits }),
    ...(comment === undefined ? {} : { comment }),
    ...(args === undefined ? {} : { args }),
    ...(forAWhile === undefined ? {} : { forAWhile: readWhile(forAWhile) }),
  }
}

function readWhile(given: JsonValue): StandingTerms {
  if (!isObject(given) || typeof given.forMs !== 'number')
    throw new OperationError('`forAWhile` has no `forMs`', 'say how long, in milliseconds')
  const { forMs, calls, bounds = {} } = given
  if (calls !== undefined && typeof calls !== 'number')
    throw new OperationError('`calls` is no number', 'leave it out, or say how many')
  if (!isObject(bounds)) throw new OperationError('`bounds` is no object', 'name arguments in it')
  // What a bound may be is the approvals' to say.
  const often = calls === undefined ? {} : { calls }
  return { forMs, ...often, bounds: bounds as unknown as Readonly<Record<string, ArgumentBound>> }
}

function nextNews(approvals: ApprovalService): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    const timer = setTimeout(done, APPROVALS_NEWS_MS).unref()
    const stop = approvals.watch(done)
  })
}

function toRequestView(request: ApprovalRequest): JsonObject {
  return cloneJson(request) as JsonObject
}

function cloneJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
