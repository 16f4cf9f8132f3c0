// A code thread: runs one piece of a program at a time, in an instance that is made for it and gone
// after it. Between two pieces a program is its memory at rest, so that none is held while a tool or
// a person is waited for. Started by programs.ts.

import { setPriority } from 'node:os'
import { openImage } from './image.ts'
import { type GuestAnswer, Instance } from './instance.ts'
import { PROGRAM_NICENESS } from './limits.ts'
import type { ProgramAnswer, ProgramPiece } from './programs.ts'
import { serveThread, threadData } from './thread-port.ts'

const image = openImage(threadData<{ image: Uint8Array<ArrayBuffer> }>().image)

// Hostile code takes what it gets: the gate's thread goes first. On Linux 0 is this thread alone;
// elsewhere it would be the whole process.
if (process.platform === 'linux') setPriority(0, PROGRAM_NICENESS)

serveThread((piece: ProgramPiece) => {
  const instance = new Instance(image)
  const began = performance.now()
  let { polls } = piece
  const call = (operation: string, text: string, bytes?: Uint8Array): GuestAnswer => {
    const left = Math.max(1, Math.ceil(piece.timeoutMs - (performance.now() - began)))
    const { nowMs } = piece
    const answer = instance.call({ operation, text, bytes, nowMs }, { polls, timeoutMs: left })
    polls -= answer.polls
    return answer
  }
  if (piece.memory === undefined) instance.load()
  else instance.load(Buffer.from(piece.memory))
  call(piece.operation, piece.text, piece.bytes)
  const said = call('poll', '')
  const overlay = hasEnded(said.text) ? call('take', '') : undefined
  const memory = overlay === undefined ? new Uint8Array(instance.save()) : undefined
  const value: ProgramAnswer = {
    said: said.text,
    overlay: overlay && { text: overlay.text, bytes: overlay.bytes ?? new Uint8Array() },
    memory,
    polls,
    usedMs: performance.now() - began,
  }
  return { value }
})

/** A guess of this thread's; whoever asked reads the answer again, with care. */
function hasEnded(text: string): boolean {
  return !text.includes('"ended":null')
}
