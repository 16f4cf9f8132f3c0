// What runs the code that an agent writes, in an image and a memory of its own. The code gets its
// files, its tools as async functions, and a console; calls leave as data and come back as data. It
// may break every builtin in here: what it then says about itself is all it can spoil. This file is
// what the image of a program is baked from.

import { fileApi, type Overlay } from './program-files.ts'
import type { FileIn } from './protocol.ts'

interface Start {
  readonly code: string
  readonly files: readonly FileIn[]
  readonly seed: string
}

interface PendingToolCall {
  resolve(value: unknown): void
  reject(error: Error): void
  /** Made where the call is, so that its stack has the line of the program. */
  readonly error: Error & { code?: string }
}

/** `error` is a text in journals of older versions. */
interface ToolCallResult {
  readonly id: number
  readonly value?: unknown
  readonly error?: string | { readonly code: string; readonly message: string }
}

// Taken before any code of the agent's runs.
const { parse, stringify } = JSON
const { create, freeze } = Object
const TextError = Error
const toText = String
const AnyName = Proxy
const { apply } = Reflect
const { exec } = RegExp.prototype

const LOG_LENGTH_MAX = 65_536
const RESULT_LENGTH_MAX = 200_000
const ERROR_LENGTH_MAX = 2_000
const CALLS_MAX = 1_000

let overlay: Overlay | undefined
let taken: ReturnType<Overlay['take']> | undefined
let logs = ''
let calls: { id: number; server: string; tool: string; input: unknown }[] = []
let nextCall = 1
let ended: { result?: string; error?: string } | undefined
/** What the program returned. It has ended when the calls that it did not wait for have ended. */
let returned: { readonly value: unknown } | undefined
const waiting: PendingToolCall[] = []
/** Calls without a result. */
let open = 0

function start(text: string, bytes?: Uint8Array): void {
  const { code, files, seed } = parse(text) as Start
  seedRandom(seed)
  overlay = fileApi(files, bytes)
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...values: unknown[]) => Promise<unknown>
  let run: (...values: unknown[]) => Promise<unknown>
  try {
    run = new AsyncFunction('files', 'tools', 'console', `"use strict";\n${code}\n`)
  } catch (error) {
    ended = { error: describeError(error) }
    return
  }
  run(overlay.api, anyTool(), consoleApi()).then(
    (value) => {
      returned = { value }
    },
    (error: unknown) => {
      ended = { error: describeError(error) }
    },
  )
}

/** Every name is a call, and the host says whether there is such a tool. */
function anyTool(): object {
  return anyName((server) => anyName((tool) => (input: unknown) => send(server, tool, input)))
}

/** An object that has every name but those that the language looks for by itself, and lists none. */
function anyName(make: (name: string) => unknown): object {
  const get = (_: object, name: string | symbol): unknown =>
    typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : make(name)
  return new AnyName(freeze(create(null)), { get })
}

function send(server: string, tool: string, input: unknown): Promise<unknown> {
  if (nextCall > CALLS_MAX) throw new TextError(`a program makes at most ${CALLS_MAX} calls`)
  return new Promise((resolve, reject) => {
    const id = nextCall++
    open += 1
    waiting[id] = { resolve, reject, error: new TextError('') }
    calls.push({ id, server, tool, input: input ?? {} })
  })
}

function resolveToolCall(text: string): void {
  const { id, value, error } = parse(text) as ToolCallResult
  const call = waiting[id]
  if (call === undefined) return
  delete waiting[id]
  open -= 1
  if (error === undefined) return call.resolve(value)
  call.error.message = typeof error === 'string' ? error : error.message
  if (typeof error !== 'string') call.error.code = error.code
  call.reject(call.error)
}

/** `rejected` is why a promise was rejected that nothing handles. */
function poll(...rejected: unknown[]): string {
  const sent = calls
  calls = []
  if (ended === undefined && returned !== undefined && open === 0)
    ended = rejected.length > 0 ? { error: describeLost(rejected[0]) } : readResult(returned.value)
  return stringify({ calls: sent, ended: ended ?? null, logs: ended ? logs : '' })
}

function consoleApi(): object {
  const write = (...values: unknown[]): void => {
    if (logs.length >= LOG_LENGTH_MAX) return
    const line = values
      .map((value) => (typeof value === 'string' ? value : formatResult(value)))
      .join(' ')
    logs = `${logs}${line}\n`.slice(0, LOG_LENGTH_MAX)
  }
  return freeze({ log: write, info: write, warn: write, error: write, debug: write })
}

function readResult(value: unknown): { result: string } | { error: string } {
  try {
    if (typeof value === 'function' || typeof value === 'symbol')
      throw new TextError(`it is a ${typeof value}`)
    return { result: toJson(value) }
  } catch (error) {
    return { error: `the result cannot be JSON: ${describeError(error)}` }
  }
}

function formatResult(value: unknown): string {
  try {
    return toJson(value)
  } catch (error) {
    return stringify(describeError(error))
  }
}

function toJson(value: unknown): string {
  const text = stringify(value) ?? 'null'
  return text.length <= RESULT_LENGTH_MAX ? text : stringify(text.slice(0, RESULT_LENGTH_MAX))
}

function describeLost(error: unknown): string {
  return `a promise that the program did not wait for was rejected: ${describeError(error)}`
}

function describeError(error: unknown): string {
  try {
    const text = toText(error).slice(0, ERROR_LENGTH_MAX)
    const { code, stack } = Object(error) as { code?: unknown; stack?: unknown }
    const withCode = typeof code === 'string' ? `${text} [${code.slice(0, 100)}]` : text
    const line = typeof stack === 'string' ? readLine(stack) : undefined
    return line === undefined ? withCode : `${withCode} (line ${line})`
  } catch {
    return 'an error that cannot be shown'
  }
}

/** A frame of the program, and the only one of an error of its grammar. */
const FRAME = /(?<!<eval> )\(<input>:(\d+):/
const GRAMMAR_FRAME = /at <input>:(\d+):/
/** Lines that `AsyncFunction` and `start` put before those of the program. */
const LINES_BEFORE = 3

function readLine(stack: string): number | undefined {
  const [, line] = apply(exec, FRAME, [stack]) ?? apply(exec, GRAMMAR_FRAME, [stack]) ?? []
  return line === undefined ? undefined : Number(line) - LINES_BEFORE
}

/** The same program gets the same numbers, also when it is run again after a crash. */
function seedRandom(seed: string): void {
  let state = 0x2545f491
  for (let at = 0; at < seed.length; at += 1)
    state = Math.imul(state ^ seed.charCodeAt(at), 0x5bd1e995) | 1
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  Object.defineProperty(Math, 'random', { value: next })
}

Object.assign(globalThis, {
  __guest(operation: string, text: string, ...more: unknown[]): unknown {
    if (operation === 'start') start(text, more[0] as Uint8Array | undefined)
    else if (operation === 'settle') resolveToolCall(text)
    else if (operation === 'poll') return poll(...more)
    else if (operation === 'take') {
      taken = overlay?.take()
      return [stringify(taken?.list), taken?.texts]
    } else if (operation === 'take_bytes') return ['', taken?.bytes]
    return ''
  },
})
