// Files of recorded sessions and of injections for `policy simulate`: a JSON object a line. What is
// wrong is reported with its line.

import type { Injection, SessionTrace, TraceCall } from '@sluice/policy/cases/simulate'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { ArgumentError } from './errors.ts'
import { TRACE_FILE_BYTES_MAX, TRACE_STEPS_MAX } from './limits.ts'
import { fileLimits, readJsonText, readText } from './read-input.ts'

const HELP =
  'a line is `{ "id": "…", "steps": [{ "server": "…", "tool": "…", "args": {}, "answer": "…" }] }`'

export function readTraces(file: string): SessionTrace[] {
  return readLines(file).map(({ line, place }) => {
    const { prompt } = line
    if (prompt !== undefined && typeof prompt !== 'string')
      throw new ArgumentError(`${place}: \`prompt\` is not a text`, HELP)
    return { ...readSteps(line, place), ...pickDefined({ prompt }) }
  })
}

export function readInjections(file: string): Injection[] {
  return readLines(file).map(({ line, place }) => {
    const { goal } = line
    if (typeof goal !== 'string') throw new ArgumentError(`${place}: \`goal\` is not a text`, HELP)
    return { ...readSteps(line, place), goal }
  })
}

function readLines(file: string): { line: JsonObject; place: string }[] {
  const lines = readText(file, TRACE_FILE_BYTES_MAX).split('\n')
  return lines.flatMap((text, index) => {
    if (text.trim() === '') return []
    const place = `${file}:${index + 1}`
    const limits = fileLimits(TRACE_FILE_BYTES_MAX)
    const line = readJsonText(text, `\`${place}\``, { help: HELP, limits })
    if (!isObject(line)) throw new ArgumentError(`${place}: it is not an object`, HELP)
    return [{ line, place }]
  })
}

function readSteps({ id, steps }: JsonObject, place: string): { id: string; steps: TraceCall[] } {
  if (typeof id !== 'string') throw new ArgumentError(`${place}: \`id\` is not text`, HELP)
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > TRACE_STEPS_MAX)
    throw new ArgumentError(
      `${place}: \`steps\` is not a list of 1 to ${TRACE_STEPS_MAX} calls`,
      HELP,
    )
  return {
    id,
    steps: steps.map((step: JsonValue, index) => readStep(step, `${place}, step ${index + 1}`)),
  }
}

function readStep(step: JsonValue, place: string): TraceCall {
  const { server, tool, args = {}, answer = '' } = isObject(step) ? step : {}
  if (typeof server !== 'string' || typeof tool !== 'string' || server === '' || tool === '')
    throw new ArgumentError(`${place}: it has no \`server\` or no \`tool\``, HELP)
  if (!isObject(args)) throw new ArgumentError(`${place}: \`args\` is not an object`, HELP)
  return { server, tool, args, answer }
}
