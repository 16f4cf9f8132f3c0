// A code thread: runs one piece of a program at a time, in an instance that exists only for it.
// Between two pieces a program is a snapshot of its memory, so that no instance is held while a
// tool or a person is awaited. Started by programs.ts.

import { setPriority } from 'node:os'
import { openImage } from './image.ts'
import { type GuestAnswer, Instance } from './instance.ts'
import { PROGRAM_NICENESS } from './limits.ts'
import type { ProgramAnswer, ProgramPiece } from './programs.ts'
import { type FileOverlay, readOverlay, readProgramOutput } from './read-program.ts'
import { serveThread, threadData } from './thread-port.ts'

const image = openImage(threadData<{ image: Uint8Array<ArrayBuffer> }>().image)

// Hostile code must not starve the gate's thread. On Linux 0 is this thread alone; on other systems
// it would be the whole process.
if (process.platform === 'linux') setPriority(0, PROGRAM_NICENESS)

serveThread((piece: ProgramPiece) => {
  const instance = new Instance(image)
  const began = process.threadCpuUsage()
  // CPU time and not wall time: a thread that is starved of CPU must not use up its program's time.
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1_000
  }
  let { polls } = piece
  const call = (operation: string, text: string, bytes?: Uint8Array): GuestAnswer => {
    const left = Math.max(1, Math.ceil(piece.timeoutMs - usedMs()))
    const { nowMs } = piece
    const answer = instance.call({ operation, text, bytes, nowMs }, { polls, timeoutMs: left })
    polls -= answer.polls
    return answer
  }
  if (piece.memory === undefined) instance.load()
  else instance.load(asBuffer(piece.memory))
  call(piece.operation, piece.text, piece.bytes)
  const output = readProgramOutput(call('poll', '').text)
  const value: ProgramAnswer = {
    output,
    overlay: output.ended?.result === undefined ? undefined : takeFiles(call),
    memory: output.ended === null ? atRest(instance) : undefined,
    polls,
    usedMs: usedMs(),
  }
  const moved = value.overlay?.bytes.buffer
  return { value, transfer: moved === undefined ? [] : [moved as ArrayBuffer] }
})

function takeFiles(call: (operation: string, text: string) => GuestAnswer): FileOverlay {
  const { text, bytes: texts = new Uint8Array() } = call('take', '')
  const { bytes = new Uint8Array() } = call('take_bytes', '')
  return readOverlay(text, Buffer.from(texts).toString('utf8'), bytes)
}

/** Shared: the gate's thread holds it while a tool is awaited, and never copies it. */
function atRest(instance: Instance): Uint8Array {
  const delta = instance.save()
  const memory = new Uint8Array(new SharedArrayBuffer(delta.length))
  memory.set(delta)
  return memory
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
