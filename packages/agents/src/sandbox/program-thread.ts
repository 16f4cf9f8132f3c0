// A code thread: runs one piece of a program at a time. The instance is kept for the next piece, since most calls
// are answered soon. When another program comes, it becomes a snapshot of its memory, so that a program that waits for
// long holds no instance. Started by programs.ts.

import { setPriority } from 'node:os'
import { SandboxError } from './errors.ts'
import { openImage } from './image.ts'
import type { GuestAnswer, GuestCall, Instance } from './instance.ts'
import { PROGRAM_NICENESS } from './limits.ts'
import { InstancePool } from './pool.ts'
import type { ProgramAnswer, ProgramPiece } from './programs.ts'
import { type FileOverlay, readOverlay, readProgramOutput } from './read-program.ts'
import { serveThread, threadData } from './thread-port.ts'

const { image } = threadData<{ image: Uint8Array<ArrayBuffer> }>()
const pool = new InstancePool(openImage(image))

// Hostile code must not starve the gate's thread. On Linux 0 is this thread alone; on other systems
// it would be the whole process.
if (process.platform === 'linux') setPriority(0, PROGRAM_NICENESS)

/** The instance of the program whose piece was run last, if it has not ended. */
let kept: Instance | undefined

serveThread((request: ProgramPiece | { readonly operation: 'rest' }) => {
  const before = kept
  kept = undefined
  return request.operation === 'rest' ? { value: atRest(before) } : runPiece(request, before)
})

function runPiece(piece: ProgramPiece, before: Instance | undefined) {
  const instance = instanceFor(piece, before)
  const began = process.threadCpuUsage()
  // CPU time and not wall time: a thread that is starved of CPU must not use up its program's time.
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1_000
  }
  let { polls } = piece
  const call = (about: Omit<GuestCall, 'nowMs'>, used = usedMs()): GuestAnswer => {
    const timeoutMs = Math.max(1, Math.ceil(piece.timeoutMs - used))
    const answer = instance.call({ ...about, nowMs: piece.nowMs }, { polls, timeoutMs })
    polls -= answer.polls
    return answer
  }
  const { operation, text, bytes } = piece
  const output = readProgramOutput(call({ operation, text, bytes, next: 'poll' }, 0).text)
  const overlay = output.ended?.result === undefined ? undefined : takeFiles(call)
  if (output.ended === null) kept = instance
  else pool.give(instance)
  const value: ProgramAnswer = { output, overlay, polls, usedMs: usedMs() }
  const moved = overlay?.bytes.buffer
  return { value, transfer: moved === undefined ? [] : [moved as ArrayBuffer] }
}

/** The instance of the piece before, or one of its own. */
function instanceFor({ operation, memory }: ProgramPiece, before: Instance | undefined): Instance {
  if (operation === 'settle' && memory === undefined) return before ?? lost()
  if (before !== undefined) pool.give(before)
  return pool.take(memory && asBuffer(memory))
}

function takeFiles(call: (about: Omit<GuestCall, 'nowMs'>) => GuestAnswer): FileOverlay {
  const { text, bytes: texts = new Uint8Array() } = call({ operation: 'take', text: '' })
  const { bytes = new Uint8Array() } = call({ operation: 'take_bytes', text: '' })
  return readOverlay(text, Buffer.from(texts).toString('utf8'), bytes)
}

/** Shared: the gate's thread holds it while a tool is awaited, and never copies it. */
function atRest(instance: Instance = lost()): Uint8Array {
  const delta = instance.save()
  pool.give(instance)
  const memory = new Uint8Array(new SharedArrayBuffer(delta.length))
  memory.set(delta)
  return memory
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** The thread was started again since. */
function lost(): never {
  throw new SandboxError('SANDBOX_LOST', 'the instance of the program is gone')
}
