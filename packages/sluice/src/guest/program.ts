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
}

// Taken before any code of the agent's runs.
const { parse, stringify } = JSON
const { create, freeze } = Object
const TextError = Error
const toText = String
const AnyName = Proxy

const LOG_LENGTH_MAX = 65_536
const RESULT_LENGTH_MAX = 200_000
const CALLS_MAX = 1_000

let overlay: Overlay | undefined
let taken: ReturnType<Overlay['take']> | undefined
let logs = ''
let calls: { id: number; server: string; tool: string; input: unknown }[] = []
let nextCall = 1
let ended: { result?: string; error?: string } | undefined
const waiting: PendingToolCall[] = []

function start(text: string, bytes?: Uint8Array): void {
  const { code, files, seed } = parse(text) as Start
  seedRandom(seed)
  overlay = fileApi(files, bytes)
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...values: unknown[]) => Promise<unknown>
  let run: (...values: unknown[]) => Promise<unknown>
  try {
    run = new AsyncFunction('files', 'tools', 'console', `"use strict";${code}\n`)
  } catch (error) {
    ended = { error: describeError(error) }
    return
  }
  run(overlay.api, anyTool(), consoleApi()).then(
    (value) => {
      ended = { result: formatResult(value) }
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
    waiting[id] = { resolve, reject }
    calls.push({ id, server, tool, input: input ?? {} })
  })
}

function resolveToolCall(text: string): void {
  const { id, value, error } = parse(text) as { id: number; value?: unknown; error?: string }
  const each = waiting[id]
  delete waiting[id]
  if (error !== undefined) each?.reject(new TextError(error))
  else each?.resolve(value)
}

function poll(): string {
  const sent = calls
  calls = []
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

function formatResult(value: unknown): string {
  try {
    const text = stringify(value) ?? 'null'
    return text.length <= RESULT_LENGTH_MAX ? text : stringify(text.slice(0, RESULT_LENGTH_MAX))
  } catch (error) {
    return stringify(describeError(error))
  }
}

function describeError(error: unknown): string {
  try {
    const text = toText(error)
    return text.slice(0, 2_000)
  } catch {
    return 'an error that cannot be shown'
  }
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
  __guest(operation: string, text: string, bytes?: Uint8Array): unknown {
    if (operation === 'start') start(text, bytes)
    else if (operation === 'settle') resolveToolCall(text)
    else if (operation === 'poll') return poll()
    else if (operation === 'take') {
      taken = overlay?.take()
      return [stringify(taken?.list), taken?.texts]
    } else if (operation === 'take_bytes') return ['', taken?.bytes]
    return ''
  },
})
