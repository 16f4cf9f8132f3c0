// Reads the output of a program in the thread that runs it: bounded, counted and validated, so that
// the gate's thread receives small plain data whatever the program did to its environment. Pure.
// Called by program-thread.ts.

import { SandboxError } from './errors.ts'
import {
  PROGRAM_CALLS_LENGTH_MAX,
  PROGRAM_CALLS_MAX,
  PROGRAM_CALLS_VALUES_MAX,
  PROGRAM_ERROR_LENGTH_MAX,
  PROGRAM_FILES_BYTES_MAX,
  PROGRAM_FILES_MAX,
  PROGRAM_LOGS_LENGTH_MAX,
  PROGRAM_NAME_LENGTH_MAX,
  PROGRAM_OUTPUT_LENGTH_MAX,
  PROGRAM_RESULT_LENGTH_MAX,
} from './limits.ts'

export interface ProgramToolCall {
  readonly id: number
  readonly server: string
  readonly tool: string
  /** JSON: parsed by the code that makes the call, and not before. */
  readonly input: string
}

/** `result` is JSON. */
export interface ProgramEnd {
  readonly result?: string
  readonly error?: string
}

/** What a program in the sandbox has come to. All of it is checked: the program is not trusted. */
export interface ProgramOutput {
  /** The calls of tools that the program waits for. */
  readonly calls: readonly ProgramToolCall[]
  /** How the program ended; null while it waits for calls. */
  readonly ended: ProgramEnd | null
  readonly logs: string
}

export interface WrittenFile {
  readonly path: string
  readonly text?: string
  readonly bytes?: readonly [offset: number, length: number]
}

export interface FileOverlay {
  readonly write: readonly WrittenFile[]
  readonly remove: readonly string[]
  readonly bytes: Uint8Array
}

type UntrustedObject = Record<string, unknown>

/** Lone surrogates: each would be six characters in every later text. */
const HALF = /\p{Surrogate}/gu

export function readProgramOutput(text: string): ProgramOutput {
  if (text.length > PROGRAM_OUTPUT_LENGTH_MAX)
    throw broken(`what it says has ${text.length} characters, at most ${PROGRAM_OUTPUT_LENGTH_MAX}`)
  const { calls, ended, logs } = object(parseOutputJson(text))
  if (!Array.isArray(calls)) throw broken('its calls are not a list')
  if (calls.length > PROGRAM_CALLS_MAX)
    throw broken(`it makes ${calls.length} calls at once, at most ${PROGRAM_CALLS_MAX}`)
  return {
    calls: readCalls(calls),
    ended: ended === null ? null : readEnd(object(ended)),
    logs: requireBoundedText(logs, PROGRAM_LOGS_LENGTH_MAX, 'its log'),
  }
}

function readCalls(calls: readonly unknown[]): ProgramToolCall[] {
  let length = 0
  const count = { left: PROGRAM_CALLS_VALUES_MAX }
  return calls.map((call) => {
    const { id, server, tool, input } = object(call)
    if (!Number.isSafeInteger(id)) throw broken('a call has no number')
    countValues(input, count)
    const text = JSON.stringify(input ?? {})
    length += text.length
    if (length > PROGRAM_CALLS_LENGTH_MAX)
      throw broken(`its calls have more than ${PROGRAM_CALLS_LENGTH_MAX} characters at once`)
    return {
      id: id as number,
      server: requireBoundedText(server, PROGRAM_NAME_LENGTH_MAX, 'the server of a call'),
      tool: requireBoundedText(tool, PROGRAM_NAME_LENGTH_MAX, 'the tool of a call'),
      input: text,
    }
  })
}

/** Counts without recursion: the program chooses the depth. */
function countValues(value: unknown, count: { left: number }): void {
  const open = [value]
  while (open.length > 0) {
    count.left -= 1
    if (count.left < 0)
      throw broken(`its calls have more than ${PROGRAM_CALLS_VALUES_MAX} values at once`)
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const each of Array.isArray(next) ? next : Object.values(next)) open.push(each)
  }
}

function readEnd({ result, error }: UntrustedObject): ProgramEnd {
  if (error !== undefined)
    return { error: requireBoundedText(error, PROGRAM_ERROR_LENGTH_MAX, 'its error') }
  const text = requireBoundedText(result, PROGRAM_RESULT_LENGTH_MAX, 'its result')
  // Serialised again: later readers parse exactly what was checked here.
  return { result: JSON.stringify(parseOutputJson(text)) }
}

/** Texts and bytes, and the list that maps files to ranges of them. */
export function readOverlay(list: string, texts: string, bytes: Uint8Array): FileOverlay {
  const { write, remove } = object(
    parseOutputJson(requireBoundedText(list, PROGRAM_OUTPUT_LENGTH_MAX, 'its list of files')),
  )
  if (!Array.isArray(write) || !Array.isArray(remove)) throw broken('its files are not lists')
  if (write.length > PROGRAM_FILES_MAX || remove.length > PROGRAM_FILES_MAX)
    throw broken(`it writes or removes more than ${PROGRAM_FILES_MAX} files`)
  const total = texts.length + bytes.length
  if (total > PROGRAM_FILES_BYTES_MAX)
    throw broken(`it writes ${total} bytes of files, at most ${PROGRAM_FILES_BYTES_MAX}`)
  let at = 0
  const written = write.map((file): WrittenFile => {
    const { path, length, bytes: stretch } = object(file)
    const about = { path: readPath(path) }
    if (length === undefined) return { ...about, bytes: readRange(stretch, bytes.length) }
    const [from, count] = readRange([at, length], texts.length)
    at += count
    return { ...about, text: texts.slice(from, at).replace(HALF, '\ufffd') }
  })
  return { write: written, remove: remove.map(readPath), bytes }
}

function readPath(value: unknown): string {
  return requireBoundedText(value, PROGRAM_NAME_LENGTH_MAX, 'a path')
}

function readRange(value: unknown, whole: number): [offset: number, length: number] {
  const [offset, length] = Array.isArray(value) ? (value as unknown[]) : []
  if (!isCount(offset) || !isCount(length) || offset + length > whole)
    throw broken('a file has no content')
  return [offset, length]
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function requireBoundedText(value: unknown, lengthMax: number, what: string): string {
  if (typeof value !== 'string') throw broken(`${what} is no text`)
  if (value.length > lengthMax) throw broken(`${what} has more than ${lengthMax} characters`)
  return value
}

function object(value: unknown): UntrustedObject {
  if (typeof value !== 'object' || value === null) throw broken('its output cannot be read')
  return value as UntrustedObject
}

function parseOutputJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw broken('its output is not JSON')
  }
}

function broken(why: string): SandboxError {
  return new SandboxError('SANDBOX_ANSWER', `the program's answer cannot be taken: ${why}`)
}
