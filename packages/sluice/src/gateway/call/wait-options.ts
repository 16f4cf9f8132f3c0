// How a request waits for a person: as long as its sender does, looked at anew afterwards, and with the
// arguments of an approver where one wrote them. Made only where a rule asks for a person.

import { isObject, type JsonValue } from '@sluice/policy/core/json'
import { readJson } from '../../protocol/json/read-json.ts'
import type { Request } from '../../protocol/message.ts'
import type { Asked } from './admit.ts'
import type { Holding } from './await-approval.ts'

interface Looks {
  readonly isWanted: () => boolean
  /** What is known of the request now. */
  readonly look: () => Asked | Promise<Asked>
  /** The same with other arguments, by the definition that is known. */
  readonly judge?: (request: Request) => Asked
  readonly waitMsMax?: Holding['waitMsMax']
  readonly askClient?: Holding['askClient']
}

export function holdingOf(
  request: Request,
  { isWanted, look, judge, waitMsMax = () => Number.POSITIVE_INFINITY, askClient }: Looks,
): Holding {
  return {
    params: request.params?.text,
    waitMsMax,
    isWanted,
    again: async () => look(),
    withArgs: judge && ((args) => judge(withArgs(request, args))),
    askClient,
  }
}

/** With arguments that a person wrote; read as strictly as those of a client. */
export function withArgs(request: Request, args: string): Request {
  const read = readJson(args)
  if (!read.ok) throw new Error(`changed arguments: ${read.message}`)
  const { value, text } = request.params ?? { value: {}, text: new Map() }
  const members = { value: { ...value, arguments: read.value }, text: new Map(text) }
  members.text.set('arguments', args)
  return { ...request, params: members }
}

/** What is wrong with arguments that a person wrote. */
export function wrongArgs(text: string): string | undefined {
  const read = readJson(text)
  if (!read.ok) return read.message
  return isObject(read.value as JsonValue) ? undefined : 'they are no object'
}
