// Hands an answered tool call to the recorder, if one records: what was sent to the server, and what
// the client was told. Called by handle-call.ts after the answer.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import type { CallRecorder } from '../recordings/call-recorder.ts'
import type { AdmittedCall } from './call-request.ts'

export interface ContentOptions {
  readonly recorder: Pick<CallRecorder, 'isRecording' | 'take'> | undefined
  /** The call as admitted; undefined for a request that passes undecided. */
  readonly admitted: AdmittedCall | undefined
  /** The message that the client was sent; undefined if it no longer waits. */
  readonly reply: string | undefined
}

export function recordContent({ recorder, admitted, reply }: ContentOptions): void {
  if (recorder?.isRecording !== true || admitted === undefined || reply === undefined) return
  const { call, facts, argsText } = admitted.request
  if (call.method !== TOOL_CALL) return
  try {
    recorder.take({
      session: facts.session.id,
      principal: facts.principal.id,
      server: call.server,
      tool: call.name,
      args: argsText === undefined ? {} : (JSON.parse(argsText) as JsonValue),
      answer: toAnswerText(JSON.parse(reply) as JsonValue),
    })
  } catch {
    // What cannot be read was not sent, either: there is nothing to record.
  }
}

/** Structured content as JSON, else the texts; an error by its message. */
function toAnswerText(message: JsonValue): string {
  const { result, error } = isObject(message) ? message : {}
  if (isObject(error)) return String(error.message)
  if (!isObject(result)) return ''
  if (result.structuredContent !== undefined) return JSON.stringify(result.structuredContent)
  const content = Array.isArray(result.content) ? result.content : []
  return content
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}
