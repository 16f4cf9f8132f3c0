// Stands before a server of `node:http`: every connection is read by the gate itself as long as its
// requests are plain, and goes to that server with the first that is not. What the server would look
// after (idle and slow clients, its end) is looked after here for the others. Used by the HTTP front.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { CLIENT_CONNECTIONS_MAX, CLIENT_LOOK_EVERY_MS } from '../../shared/limits.ts'
import { FastPathConnection, type PlainEvents } from './connection.ts'

interface FastPathHandlers {
  /** A connection was made, before its first request. */
  readonly onOpen?: ((socket: Socket) => void) | undefined
  readonly onRequest: PlainEvents['onRequest']
  readonly onUnread?: PlainEvents['onUnread'] | undefined
  readonly most?: number | undefined
}

export class FastPathServer {
  readonly #all = new Set<FastPathConnection>()
  readonly #sweeper: NodeJS.Timeout
  readonly #server: Server
  readonly #most: number
  /** How many are open, with those that went to the server. */
  #open = 0
  #isLast = false

  /** `event` is the one that tells of a connection: `secureConnection` if there is TLS. */
  constructor(
    server: Server,
    event: 'connection' | 'secureConnection',
    { onOpen, onRequest, onUnread = () => {}, most = CLIENT_CONNECTIONS_MAX }: FastPathHandlers,
  ) {
    this.#server = server
    this.#most = most
    const theirs = server.listeners(event)
    server.removeAllListeners(event)
    const events: PlainEvents = {
      onRequest,
      onUnread,
      onHandOver: (connection) => {
        this.#all.delete(connection)
        for (const listener of theirs) listener.call(server, connection.socket)
      },
      onGone: (connection) => this.#all.delete(connection),
    }
    server.on(event, (accepted: Socket) => {
      this.#open += 1
      if (this.#open > this.#most) this.#makeRoom()
      const connection = new FastPathConnection(accepted, events)
      connection.socket.once('close', () => {
        this.#open -= 1
      })
      connection.isLast = this.#isLast
      this.#all.add(connection)
      onOpen?.(connection.socket)
    })
    this.#sweeper = setInterval(() => this.#look(), CLIENT_LOOK_EVERY_MS).unref()
  }

  /** From now on every answer ends its connection. */
  announceStop(): void {
    this.#isLast = true
    for (const connection of this.#all) connection.isLast = true
  }

  /** Takes no more requests; those that are open are answered. */
  stopTaking(): void {
    for (const connection of this.#all) connection.endSoon()
  }

  /** Ends what is still open. */
  close(): void {
    clearInterval(this.#sweeper)
    for (const { socket } of this.#all) socket.destroy()
  }

  /** Many who connect and say nothing, or never all of it, must not keep the others out. */
  #makeRoom(): void {
    let idlest: FastPathConnection | undefined
    for (const each of this.#all) if (each.idleLooks > (idlest?.idleLooks ?? -1)) idlest = each
    if (idlest === undefined) this.#server.closeIdleConnections()
    else idlest.socket.destroy()
  }

  #look(): void {
    for (const connection of this.#all) connection.look()
  }
}
