// The first line of a connection to the gate's socket: one JSON object that says what the connection
// is for, read strictly and bounded in size and time. Used by the socket front.

import type { Socket } from 'node:net'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'
import { SOCKET_HELLO_BYTES_MAX, SOCKET_HELLO_MS_MAX } from '../../shared/limits.ts'

export interface SocketHandshake {
  /** What is wanted: `pipe`, or the word of a command. */
  readonly word: string
  readonly request: JsonObject
  /** What came behind the line. */
  readonly rest: Buffer
}

/** Rejects with what is wrong with the line; never settles where the peer goes away before. */
export function readHello(
  socket: Socket,
  bytesMax = SOCKET_HELLO_BYTES_MAX,
): Promise<SocketHandshake> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (): void => {
      clearTimeout(patience)
      socket.off('data', take)
    }
    const fail = (why: string): void => {
      stop()
      reject(new Error(why))
    }
    const patience = setTimeout(
      () => fail(`no line came within ${SOCKET_HELLO_MS_MAX} ms`),
      SOCKET_HELLO_MS_MAX,
    )
    const take = (chunk: Buffer): void => {
      // Put together once: byte by byte, all that came would be copied and searched for every byte.
      const at = chunk.indexOf(0x0a)
      const end = bytes + (at < 0 ? chunk.length : at)
      bytes += chunk.length
      chunks.push(chunk)
      if (end > bytesMax) return fail(`the first line has more than ${bytesMax} bytes`)
      if (at < 0) return
      stop()
      const received = Buffer.concat(chunks)
      // Nothing is lost until somebody reads on.
      socket.pause()
      try {
        resolve({ ...parseHandshake(received.subarray(0, end)), rest: received.subarray(end + 1) })
      } catch (error) {
        reject(error)
      }
    }
    socket.on('data', take)
    socket.once('close', stop)
  })
}

function parseHandshake(line: Uint8Array): { word: string; request: JsonObject } {
  const read = readJson(decodeUtf8(line))
  if (!read.ok) throw new Error(`the first line is not JSON: ${read.message}`)
  const request = read.value
  if (!isObject(request) || typeof request.do !== 'string')
    throw new Error('the first line is not an object with `do`, such as {"do":"status"}')
  return { word: request.do, request }
}
