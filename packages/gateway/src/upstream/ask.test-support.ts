// A client over a link, for the tests of this folder: asks, waits for answers, keeps what else came.

import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { programFile } from '../../../../test/support/start-gate.ts'
import { readStat } from '../processes/process-group.ts'
import { LargeMessagePlace } from '../shared/large-messages.ts'
import { LARGE_MESSAGE_BYTES_MIN, LARGE_MESSAGES_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import type { MessageContext } from '../shared/transport.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from './upstream.ts'

export function fixture(name: string, ...args: string[]): string[] {
  return [process.execPath, programFile(name), ...args]
}

export type Logged = { level: string; message: string; fields: Record<string, string | number> }

export function keepLog(): { log: Log; entries: Logged[] } {
  const entries: Logged[] = []
  const log: Log = (level, message, fields = {}) => void entries.push({ level, message, fields })
  return { log, entries }
}

/** Takes every place for large messages; the function that is returned gives them back. */
export function takePlaces(): () => void {
  const places = Array.from({ length: LARGE_MESSAGES_MAX }, () => new LargeMessagePlace(() => {}))
  for (const place of places) place.hold(LARGE_MESSAGE_BYTES_MIN + 1)
  return () => {
    for (const place of places) place.leave()
  }
}

export class Asker<Link extends Upstream = Upstream> {
  readonly link: Link
  /** Set to count messages instead of handling them. */
  onEvery: (() => void) | undefined
  readonly others: { message: JsonRpcMessage; related: MessageContext | undefined }[] = []
  readonly failures: UpstreamFailure[] = []
  readonly closed: Promise<string>
  readonly #waiting = new Map<RequestId, (answer: JsonRpcResponse | UpstreamFailure) => void>()
  #nextId = 1

  constructor(connect: (events: UpstreamEvents) => Link) {
    let onClose = (_why: string): void => {}
    this.closed = new Promise((resolve) => {
      onClose = resolve
    })
    this.link = connect({
      onClose: (why) => onClose(why),
      onMessage: (message, related) => {
        if (this.onEvery !== undefined) this.onEvery()
        else if (message.kind !== 'answer') this.others.push({ message, related })
        else this.#settle(message.id as RequestId, message)
      },
      onFailure: (failure) => {
        this.failures.push(failure)
        if (failure.request !== undefined) this.#settle(failure.request, failure)
      },
    })
  }

  get lastId(): number {
    return this.#nextId - 1
  }

  ask(
    method: string,
    params: object = {},
    carried?: UpstreamSendOptions,
  ): Promise<JsonRpcResponse | UpstreamFailure> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve)
      if (!this.link.send(writeRequest(id, method, texts(params)), carried))
        reject(new Error('the link is closed'))
    })
  }

  /** The parsed result; throws if there is none. */
  async result(
    method: string,
    params: object = {},
    carried?: UpstreamSendOptions,
  ): Promise<unknown> {
    const answer = await this.ask(method, params, carried)
    if (!('kind' in answer) || answer.result === undefined) throw new Error(JSON.stringify(answer))
    return JSON.parse(answer.result)
  }

  async call(name: string, args: object = {}): Promise<string> {
    const result = await this.result('tools/call', { name, arguments: args })
    return (result as { content: { text: string }[] }).content[0]?.text ?? ''
  }

  notify(method: string, params?: object): boolean {
    return this.link.send(writeNotification(method, params && texts(params)))
  }

  async initialize(protocolVersion = '2025-11-25'): Promise<unknown> {
    const clientInfo = { name: 'asker', version: '1' }
    const result = await this.result('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo,
    })
    this.notify('notifications/initialized')
    return result
  }

  #settle(id: RequestId, answer: JsonRpcResponse | UpstreamFailure): void {
    this.#waiting.get(id)?.(answer)
    this.#waiting.delete(id)
  }
}

function texts(params: object): Map<string, string> {
  return new Map(Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)]))
}

/** A zombie that nobody reaps does not run. */
export function isRunning(pid: number): boolean {
  const stat = readStat(pid)
  return stat !== undefined && stat.state !== 'Z'
}

export async function until(what: () => boolean, timeoutMs = 60_000): Promise<void> {
  const untilMs = performance.now() + timeoutMs
  while (!what()) {
    if (performance.now() > untilMs) throw new Error(`never true: ${what}`)
    await sleep(10)
  }
}
