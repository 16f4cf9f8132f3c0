// AuthZEN (Authorization API 1.0) as another form of `decide`: a policy enforcement point elsewhere asks the gate
// whether a subject may make a call. `subject.id` is the principal, `action.name` the method of MCP,
// `resource.id` is `<server>/<name>`, and `context.arguments` are the arguments.

import { DECIDE_CALL } from '@sluice/gateway/operations/decide-call'
import type { OperationParts } from '@sluice/gateway/operations/operation'
import { runProven } from '@sluice/gateway/operations/run-operation'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { InputError } from '@sluice/policy/core/operation-error'
import { required } from '@sluice/policy/document/build-shape'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

const ANY = { kind: 'any' } as const

export function authzenEndpoint(parts: OperationParts): Endpoint {
  return endpoint('POST /api/access/v1/evaluation', {
    role: 'viewer',
    summary: 'AuthZEN 1.0: whether a subject may make a call, which is not made',
    input: {
      subject: required(ANY, '`id` is a grant, or `local`'),
      action: required(ANY, '`name` is the method, such as `tools/call`'),
      resource: required(ANY, '`id` is `<server>/<name>`'),
      context: { shape: ANY, doc: '`arguments` of the call' },
    },
    handle: async ({ input, person }) => {
      const id = readText(input.resource, 'resource', 'id')
      const slash = id.indexOf('/')
      if (slash < 0) throw new InputError(`\`resource.id\` is \`${id}\``, 'write `<server>/<name>`')
      const { arguments: args = {} } = isObject(input.context) ? input.context : {}
      const call: JsonObject = {
        principal: readText(input.subject, 'subject', 'id'),
        method: readText(input.action, 'action', 'name'),
        server: id.slice(0, slash),
        name: id.slice(slash + 1),
        args: JSON.stringify(args),
      }
      const { action, code, reason } = await runProven(DECIDE_CALL, parts, call, person)
      return { decision: action === 'allow', context: { code, reason } }
    },
  })
}

function readText(entity: unknown, name: string, key: string): string {
  const value = isObject(entity) ? entity[key] : undefined
  if (typeof value === 'string') return value
  throw new InputError(`\`${name}.${key}\` is not a text`, 'see the API of AuthZEN 1.0')
}
