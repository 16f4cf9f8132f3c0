// `sluice traces`: recording calls with their answers for a while, for `policy simulate`. Turning it on,
// reading and deleting need the proof of a person and are recorded; turning it off needs none.

import { duration, required, text } from '@sluice/policy/document/build-shape'
import { fillDefaults, parseDuration } from '@sluice/policy/document/shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { JsonObject } from '@sluice/policy/values/json'
import type { RecordingView } from '../recordings/call-recorder.ts'
import { TRACE_KEEP_SECONDS_MAX, TRACE_RECORD_SECONDS_MAX } from '../recordings/limits.ts'
import type { RecordedCallContent } from '../recordings/recording-file.ts'
import { commandOperation, type Operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const NAME = text(1_000)
const ID = required(NAME, 'which recording')

export const LIST_TRACES = commandOperation({
  name: 'traces.list',
  summary: 'list recordings',
  role: 'viewer',
  proof: 'none',
  socket: 'traces',
  needsGate: true,
  input: {},
  run: ({ running: { recorder } }) => ({ traces: recorder.list().map(toTraceView) }),
})

const RECORDED = {
  for: { shape: duration(TRACE_RECORD_SECONDS_MAX), doc: 'how long to record', default: '1h' },
  keep: {
    shape: duration(TRACE_KEEP_SECONDS_MAX),
    doc: 'when to delete it, from now',
    default: '7d',
  },
  server: { shape: NAME, doc: 'only calls to this server' },
  principal: { shape: NAME, doc: 'only calls of this principal' },
} as const

export const RECORD_TRACES = commandOperation({
  name: 'traces.record',
  summary: 'record calls with their answers for a limited time, encrypted',
  role: REQUIRED_ROLES.traces,
  proof: 'fresh',
  socket: 'traces-record',
  needsGate: true,
  changes: true,
  input: RECORDED,
  run: async ({ running: { recorder } }, input, { by }) => {
    const { for: time, keep, ...of } = fillDefaults(RECORDED, input)
    const forMs = (parseDuration(time) ?? 0) * 1_000
    const keepMs = (parseDuration(keep) ?? 0) * 1_000
    if (keepMs < forMs)
      throw new OperationError(
        'it would be deleted before it ends',
        'let `keep` be as long as `for`, or longer',
      )
    return toTraceView(await recorder.start({ ...of, by: by.name, forMs, keepMs }))
  },
})

export const STOP_TRACES = commandOperation({
  name: 'traces.stop',
  summary: 'end the recording',
  role: 'viewer',
  proof: 'none',
  socket: 'traces-stop',
  needsGate: true,
  input: {},
  run: async ({ running: { recorder } }) => {
    const ended = await recorder.stop('a person stopped it')
    if (ended !== undefined) return toTraceView(ended)
    throw new OperationError('no recording is on', '`sluice traces list` shows those there are')
  },
})

export const EXPORT_TRACES = commandOperation({
  name: 'traces.export',
  summary: 'write a recording as traces, decrypted',
  role: REQUIRED_ROLES.traces,
  proof: 'fresh',
  socket: 'traces-export',
  needsGate: true,
  input: { id: ID },
  run: async ({ running: { recorder } }, { id }, { by }) => {
    const { calls, isWhole } = await recorder.read(id, by.name)
    return { traces: toTraces(calls), calls: calls.length, isWhole }
  },
})

export const DELETE_TRACE = commandOperation({
  name: 'traces.delete',
  summary: 'delete a recording',
  role: REQUIRED_ROLES.traces,
  proof: 'fresh',
  socket: 'traces-delete',
  needsGate: true,
  changes: true,
  input: { id: ID },
  run: async ({ running: { recorder } }, { id }, { by }) => {
    await recorder.delete(id, by.name)
    return { deleted: id }
  },
})

export const TRACE_OPERATIONS: readonly Operation[] = [
  LIST_TRACES,
  RECORD_TRACES,
  STOP_TRACES,
  EXPORT_TRACES,
  DELETE_TRACE,
]

/** A trace is a session, in the format of `policy simulate`. */
function toTraces(calls: readonly RecordedCallContent[]): JsonObject[] {
  const sessions = new Map<string, JsonObject[]>()
  for (const { session, ...step } of calls) {
    const steps = sessions.get(session) ?? []
    sessions.set(session, steps)
    steps.push(step)
  }
  return [...sessions].map(([id, steps]) => ({ id, steps }))
}

function toTraceView(view: RecordingView) {
  const { id, by, startedMs, expiresMs, server, principal, bytes, isRecording } = view
  return {
    id,
    by,
    bytes,
    isRecording,
    started: new Date(startedMs).toISOString(),
    expires: new Date(expiresMs).toISOString(),
    server: server ?? null,
    principal: principal ?? null,
  }
}
