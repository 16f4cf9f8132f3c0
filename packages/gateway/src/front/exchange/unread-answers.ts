// Answers that clients have not read, of all connections together. Past the bound those that have read
// nothing for the longest are ended: many who ask for much and read none of it must not take the memory
// of everybody else. Told of large answers only; held by the HTTP front.

import type { Socket } from 'node:net'
import { UNREAD_BYTES_MAX } from '../../shared/limits.ts'

export class UnreadResponses {
  readonly #bytesMax: number
  /** The longest unread first. */
  readonly #sockets = new Set<Socket>()

  constructor(bytesMax = UNREAD_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Something waits on this one. */
  add(socket: Socket): void {
    if (!this.#sockets.has(socket)) {
      this.#sockets.add(socket)
      const forget = (): void => {
        this.#sockets.delete(socket)
        socket.off('drain', forget)
        socket.off('close', forget)
      }
      socket.on('drain', forget)
      socket.on('close', forget)
    }
    let bytes = 0
    for (const each of this.#sockets) bytes += each.writableLength
    for (const each of this.#sockets) {
      if (bytes <= this.#bytesMax) return
      bytes -= each.writableLength
      this.#sockets.delete(each)
      each.destroy()
    }
  }
}
