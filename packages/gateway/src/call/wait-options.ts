// How a request waits for an approval: as long as its sender waits, looked up again afterwards, and with the
// arguments that an approver edited, if any. Made only if a rule requires approval.

import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import type { ApprovalWaitOptions, CallRequest } from './call-request.ts'

interface WaitSources {
  readonly isWanted: () => boolean
  /** The same with other arguments, by the definition that is known. */
  readonly toCall?: (request: JsonRpcRequest) => CallRequest
  readonly waitMsMax?: ApprovalWaitOptions['waitMsMax']
  readonly askClient?: ApprovalWaitOptions['askClient']
}

export function createWaitOptions(
  request: JsonRpcRequest,
  { isWanted, toCall, waitMsMax = () => Number.POSITIVE_INFINITY, askClient }: WaitSources,
): ApprovalWaitOptions {
  return {
    params: request.params?.text,
    waitMsMax,
    isWanted,
    withArgs: toCall && ((args) => toCall(withArgs(request, args))),
    askClient,
  }
}

/** Puts arguments that a person wrote into a request. They are read as strictly as those of a client. */
export function withArgs(request: JsonRpcRequest, args: string): JsonRpcRequest {
  const read = readJson(args)
  if (!read.ok) throw new Error(`changed arguments: ${read.message}`)
  const { value, text } = request.params ?? { value: {}, text: new Map() }
  const members = { value: { ...value, arguments: read.value }, text: new Map(text) }
  members.text.set('arguments', args)
  return { ...request, params: members }
}

/** Says what is wrong with arguments that a person wrote; undefined if nothing is. */
export function wrongArgs(text: string): string | undefined {
  const read = readJson(text)
  if (!read.ok) return read.message
  return isObject(read.value as JsonValue) ? undefined : 'they are not an object'
}
