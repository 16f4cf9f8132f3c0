// The network of a locked server: a namespace with loopback only, whose sockets the gate holds. The gate answers
// its DNS questions: a name that the profile lists gets an address of its own in 127.1.0.0/16, by which a
// connection shows whom it is for; the gate dials the real host and passes bytes on. TLS stays end to end.

import type { Socket as DatagramSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect, type Server, type Socket } from 'node:net'
import { getZone } from '@sluice/policy/readers/ip-address'
import { readQuestion, writeAnswer } from './dns-answer.ts'
import { LOCKED_CONNECTIONS_MAX, LOCKED_NAMES_MAX } from './limits.ts'

/** Where a host is reached that is listed without a port. */
const WEB_PORTS = [443, 80]

/** A host of a `sandbox`. */
export interface HostLine {
  /** A name, `*.` before one, or `*`. */
  readonly name: string
  /** Undefined if the line names none: the ports of the web. */
  readonly port: number | undefined
}

export function readHostLine(line: string): HostLine {
  const [, name = line, port] = /^(.*?)(?::(\d+))?$/.exec(line) ?? []
  return { name: name.toLowerCase(), port: port === undefined ? undefined : Number(port) }
}

export interface NetworkOptions {
  readonly hosts: readonly string[]
  readonly onRefused: (host: string) => void
  /** Whether the gate itself listens there: it would take its own connection for the local user's. */
  readonly isOwnPort: (port: number) => boolean
}

export class LockedNetwork {
  readonly #lines: readonly HostLine[]
  readonly #onRefused: (host: string) => void
  readonly #isOwnPort: (port: number) => boolean
  /** Addresses that names were given, and back. */
  readonly #addresses = new Map<string, string>()
  readonly #names = new Map<string, string>([['127.0.0.1', 'localhost']])
  readonly #handles = new Set<DatagramSocket | Server>()
  readonly #sockets = new Set<Socket>()

  constructor({ hosts, onRefused, isOwnPort }: NetworkOptions) {
    this.#lines = hosts.map(readHostLine)
    this.#onRefused = onRefused
    this.#isOwnPort = isOwnPort
  }

  /** The ports that the launcher has to bind. */
  get ports(): readonly number[] {
    const named = this.#lines.flatMap(({ port }) => (port === undefined ? WEB_PORTS : [port]))
    return [...new Set([...WEB_PORTS, ...named])]
  }

  /** A socket in the server's namespace, from the launcher. */
  take({ port }: { readonly port: number }, handle: DatagramSocket | Server): void {
    this.#handles.add(handle)
    handle.on('error', () => {})
    if ('listening' in handle)
      handle.on('connection', (socket: Socket) => void this.#connect(socket, port))
    else
      handle.on('message', (packet, from) => {
        const question = readQuestion(packet)
        if (question === undefined) return
        const answer = writeAnswer(packet, question, this.#addressOf(question.name))
        handle.send(answer, from.port, from.address, () => {})
      })
  }

  close(): void {
    for (const handle of this.#handles) handle.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#handles.clear()
  }

  #addressOf(name: string): string | undefined {
    const known = this.#addresses.get(name)
    if (known !== undefined) return known
    if (!this.#lines.some((line) => isFor(line, name))) {
      this.#onRefused(name)
      return undefined
    }
    const count = this.#addresses.size + 1
    if (count > LOCKED_NAMES_MAX) return undefined
    const address = `127.1.${count >> 8}.${count & 255}`
    this.#addresses.set(name, address)
    this.#names.set(address, name)
    return address
  }

  async #connect(near: Socket, port: number): Promise<void> {
    near.on('error', () => near.destroy())
    const name = this.#names.get(near.localAddress ?? '')
    const isOwn = name === 'localhost' && this.#isOwnPort(port)
    const line = this.#lines.find(
      (each) => name !== undefined && !isOwn && isFor(each, name) && portsOf(each).includes(port),
    )
    if (name !== undefined && line === undefined) this.#onRefused(`${name}:${port}`)
    if (name === undefined || line === undefined || this.#sockets.size >= LOCKED_CONNECTIONS_MAX)
      return void near.destroy()
    this.#sockets.add(near)
    near.once('close', () => this.#sockets.delete(near))
    const address = await findAddress(name, line).catch(() => undefined)
    if (address === undefined || near.destroyed) return void near.destroy()
    const far = connect(port, address)
    far.on('error', () => near.destroy())
    far.once('close', () => near.destroy())
    near.once('close', () => far.destroy())
    near.pipe(far).pipe(near)
  }
}

function portsOf({ port }: HostLine): readonly number[] {
  return port === undefined ? WEB_PORTS : [port]
}

function isFor({ name: listed }: HostLine, name: string): boolean {
  if (listed === '*') return true
  return listed.startsWith('*.') ? name.endsWith(listed.slice(1)) : name === listed
}

/** An address of the host that the line opens. Loopback only for `localhost`, a private address only for a name that
 * is written out: otherwise anyone who has a name in DNS could lead the server to this machine. */
async function findAddress(name: string, { name: listed }: HostLine): Promise<string | undefined> {
  const found = await lookup(name, { all: true })
  return found.find(({ address }) => {
    const zone = getZone(address)
    if (zone === 'loopback') return listed === 'localhost'
    return zone === 'public' || (zone === 'private' && listed === name)
  })?.address
}
