// What means the same in both generations and is written differently: capabilities without the tasks of the
// other generation, errors that one generation does not have, and the pages that a user is asked to open. Pure.

import { isObject } from '@sluice/policy/values/json'
import { crossesGenerations, cutExtensions } from '@sluice/protocol/extensions'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { writeJson } from '@sluice/protocol/json/write-json'
import { patchObject } from '@sluice/protocol/members'
import type { JsonRpcResponse } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'

/** Tasks do not cross, so nobody may count on them: neither those of 2025-11-25 nor the extension. */
export function withoutTasks(capabilities: string | undefined): string {
  const others = cutExtensions(capabilities, crossesGenerations).capabilities
  return patchObject(others, { tasks: undefined })
}

/** An error of a server with sessions as the stateless generation has it: a resource that is not there has
 * another number, and a page to open is a question. */
export function statelessAnswer(answer: JsonRpcResponse): JsonRpcResponse {
  const { error } = answer
  if (error?.code === RPC.resourceNotFound)
    return { ...answer, error: { ...error, code: RPC.invalidParams } }
  if (error?.code !== RPC.urlElicitationRequired) return answer
  const { data, message } = error
  const pages = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : []
  if (pages.length === 0) return { ...answer, error: { code: RPC.internal, message } }
  const questions = pages.map((page, at) => [`page-${at + 1}`, question(writeJson(page))] as const)
  const result = patchObject('{}', {
    resultType: '"input_required"',
    inputRequests: patchObject('{}', Object.fromEntries(questions)),
  })
  return { ...answer, error: undefined, result }
}

function question(params: string): string {
  const method = JSON.stringify('elicitation/create')
  return `{"method":${method},"params":${patchObject(params, { elicitationId: undefined })}}`
}

/** In a session a page to open has an id. */
export function sessionQuestion(
  params: string | undefined,
  newId: () => string,
): string | undefined {
  if (params === undefined) return undefined
  const members = splitMembers(params)
  const isPage = JSON.parse(members.get('mode') ?? 'null') === 'url'
  if (!isPage || members.has('elicitationId')) return params
  return patchObject(params, { elicitationId: JSON.stringify(newId()) })
}
