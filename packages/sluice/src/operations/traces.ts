// `sluice traces`: recording calls with their answers for a while, for `policy simulate`. Turning it on,
// reading and deleting need the proof of a person and are recorded; turning it off needs none.

import type { JsonObject } from '@sluice/policy/core/json'
import { parseDuration } from '@sluice/policy/document/shape'
import { OperationError } from '../core/operation-error.ts'
import {
  TRACE_KEEP_SECONDS,
  TRACE_KEEP_SECONDS_MAX,
  TRACE_RECORD_SECONDS,
  TRACE_RECORD_SECONDS_MAX,
} from '../gateway/traces/limits.ts'
import type { TracedCall } from '../gateway/traces/trace-file.ts'
import type { TraceRecorder, TraceView } from '../gateway/traces/trace-recorder.ts'
import { type Operation, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const TEXT = { kind: 'text', max: 1_000 } as const
const ID = { shape: TEXT, doc: 'which recording', required: true } as const

export function createTraceOperations(traces: TraceRecorder): readonly Operation[] {
  const role = REQUIRED_ROLES.traces
  return [
    operation({
      name: 'traces.list',
      summary: 'the recordings there are, and whether one is on',
      role: 'viewer',
      proof: 'none',
      socket: 'traces',
      command: 'traces list',
      input: {},
      run: () => ({ traces: traces.list().map(toTraceView) }),
    }),
    operation({
      name: 'traces.record',
      summary: 'record calls with their arguments and answers for a while, encrypted',
      role,
      proof: 'fresh',
      socket: 'traces-record',
      command: 'traces record',
      input: {
        for: {
          shape: { kind: 'duration', maxSeconds: TRACE_RECORD_SECONDS_MAX },
          doc: 'how long to record (1h)',
        },
        keep: {
          shape: { kind: 'duration', maxSeconds: TRACE_KEEP_SECONDS_MAX },
          doc: 'when to delete it, from now (7d)',
        },
        server: { shape: TEXT, doc: 'only calls to this server' },
        principal: { shape: TEXT, doc: 'only calls of this principal' },
      },
      run: async (_, input, { by }) => {
        const { server, principal } = input
        const forSeconds = parseDuration(input.for) ?? TRACE_RECORD_SECONDS
        const keepSeconds = parseDuration(input.keep) ?? TRACE_KEEP_SECONDS
        if (keepSeconds < forSeconds)
          throw new OperationError(
            'it would be deleted before it ends',
            'let `keep` be as long as `for`, or longer',
          )
        const started = await traces.start({
          by: by.name,
          forMs: forSeconds * 1_000,
          keepMs: keepSeconds * 1_000,
          ...(server === undefined ? {} : { server }),
          ...(principal === undefined ? {} : { principal }),
        })
        return toTraceView(started)
      },
    }),
    operation({
      name: 'traces.stop',
      summary: 'end the recording',
      role: 'viewer',
      proof: 'none',
      socket: 'traces-stop',
      command: 'traces stop',
      input: {},
      run: async () => {
        const ended = await traces.stop('a person stopped it')
        if (ended !== undefined) return toTraceView(ended)
        throw new OperationError('no recording is on', '`sluice traces list` shows those there are')
      },
    }),
    operation({
      name: 'traces.export',
      summary: 'the calls of a recording with their answers, by session',
      role,
      proof: 'fresh',
      socket: 'traces-export',
      command: 'traces export',
      input: { id: ID },
      run: async (_, { id }, { by }) => {
        const { calls, isWhole } = await traces.read(id, by.name)
        return { traces: toTraces(calls), calls: calls.length, isWhole }
      },
    }),
    operation({
      name: 'traces.delete',
      summary: 'delete a recording',
      role,
      proof: 'fresh',
      socket: 'traces-delete',
      command: 'traces delete',
      input: { id: ID },
      run: async (_, { id }, { by }) => {
        await traces.delete(id, by.name)
        return { deleted: id }
      },
    }),
  ]
}

/** A trace is a session, in the format of `policy simulate`. */
function toTraces(calls: readonly TracedCall[]): JsonObject[] {
  const sessions = new Map<string, JsonObject[]>()
  for (const { session, ...step } of calls) {
    const steps = sessions.get(session) ?? []
    sessions.set(session, steps)
    steps.push(step)
  }
  return [...sessions].map(([id, steps]) => ({ id, steps }))
}

function toTraceView(view: TraceView): JsonObject {
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
