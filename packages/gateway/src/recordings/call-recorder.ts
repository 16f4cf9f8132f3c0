// Records calls with their arguments and answers, for `policy simulate`, while a person has turned it
// on: encrypted, bounded in size and time, deleted when it expires, never part of a backup. A restart
// ends a recording. Whatever goes wrong here ends the recording and touches no call.

import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger } from '@sluice/ledger/ledger'
import { recordFirst } from '@sluice/ledger/record-first'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { JsonObject } from '@sluice/policy/values/json'
import type { Log } from '../shared/log.ts'
import { TRACE_BYTES_MAX, TRACE_CALL_LENGTH_MAX, TRACE_SWEEP_MS, TRACES_MAX } from './limits.ts'
import {
  type RecordedCallContent,
  type RecordingContent,
  type RecordingHeader,
  RecordingWriter,
  readCalls,
  readHeader,
} from './recording-file.ts'

export interface CallRecorderParts {
  /** The data directory. */
  readonly directory: string
  /** 32 bytes. */
  readonly key: Buffer
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
  readonly log: Log
}

export interface RecordingRequest extends Pick<RecordingHeader, 'server' | 'principal'> {
  readonly by: string
  readonly forMs: number
  readonly keepMs: number
}

export interface RecordingView extends RecordingHeader {
  readonly bytes: number
  readonly isRecording: boolean
}

const FILE = /^traces-([0-9a-f]{12})\.sealed$/

export class CallRecorder {
  readonly #parts: CallRecorderParts
  readonly #sweeper: NodeJS.Timeout
  #writer: RecordingWriter | undefined
  #timer: NodeJS.Timeout | undefined
  #isStarting = false

  constructor(parts: CallRecorderParts) {
    this.#parts = parts
    this.sweep()
    this.#sweeper = setInterval(() => this.sweep(), TRACE_SWEEP_MS).unref()
  }

  /** Looked at for every call: nothing else is done while it is off. */
  get isRecording(): boolean {
    return this.#writer !== undefined
  }

  /** The start is in the ledger before any call is traced. */
  async start({ by, forMs, keepMs, server, principal }: RecordingRequest): Promise<RecordingView> {
    if (this.#writer !== undefined || this.#isStarting)
      throw new OperationError(
        `a recording is on, started by \`${this.#writer?.header.by ?? by}\``,
        '`sluice traces stop` ends it',
      )
    this.sweep()
    const { key, nowMs } = this.#parts
    if (this.list().length >= TRACES_MAX)
      throw new OperationError(
        `there are ${TRACES_MAX} recordings, which is the limit`,
        'delete one with `sluice traces delete ID`',
      )
    const startedMs = nowMs()
    const header: RecordingHeader = {
      id: randomBytes(6).toString('hex'),
      by,
      startedMs,
      expiresMs: startedMs + keepMs,
      ...pickDefined({ server, principal }),
    }
    const until = new Date(startedMs + forMs).toISOString()
    const expires = new Date(header.expiresMs).toISOString()
    const what = { server: server ?? null, principal: principal ?? null }
    const detail = { id: header.id, by, until, expires, ...what }
    this.#isStarting = true
    try {
      await this.#event('traces-start', detail)
      this.#writer = new RecordingWriter(this.#path(header.id), key, header)
    } finally {
      this.#isStarting = false
    }
    this.#timer = setTimeout(() => void this.stop('its time is over'), forMs).unref()
    this.#parts.log('warn', `calls are recorded with their answers until ${until}, by ${by}`)
    return this.#view(header)
  }

  /** Never throws. */
  take(call: RecordedCallContent & { readonly principal: string }): void {
    const writer = this.#writer
    if (writer === undefined) return
    const { principal, ...traced } = call
    const { header } = writer
    if (header.server !== undefined && header.server !== call.server) return
    if (header.principal !== undefined && header.principal !== principal) return
    try {
      const isLong = traced.answer.length > TRACE_CALL_LENGTH_MAX
      writer.add(isLong ? { ...traced, answer: '', omitted: true } : traced)
      if (writer.bytes >= TRACE_BYTES_MAX) void this.stop('it is full')
    } catch (error) {
      void this.stop((error as Error).message)
    }
  }

  /** Undefined if none is on. */
  async stop(why: string, by?: string): Promise<RecordingView | undefined> {
    const writer = this.#writer
    if (writer === undefined) return undefined
    this.#writer = undefined
    clearTimeout(this.#timer)
    const { id } = writer.header
    const { log } = this.#parts
    try {
      writer.end()
    } catch (error) {
      log('error', `the end of the recording ${id} was not written: ${(error as Error).message}`)
    }
    const detail = { id, why, calls: writer.calls, ...(by === undefined ? {} : { by }) }
    await this.#event('traces-stop', detail).catch(({ message }: Error) =>
      log('error', `the end of the recording ${id} is not on record: ${message}`),
    )
    log('warn', `calls are no longer recorded: ${why}`)
    return this.#view(writer.header)
  }

  /** Newest first. */
  list(): RecordingView[] {
    return readdirSync(this.#parts.directory)
      .flatMap((name) => {
        const id = FILE.exec(name)?.[1]
        const header = id === undefined ? undefined : this.#header(id)
        return header === undefined ? [] : [this.#view(header)]
      })
      .sort((one, other) => other.startedMs - one.startedMs)
  }

  /** In the ledger before anything is shown. */
  async read(id: string, by: string): Promise<RecordingContent> {
    this.#find(id)
    await this.#event('traces-export', { id, by })
    return readCalls(this.#path(id), this.#parts.key)
  }

  async delete(id: string, by: string): Promise<void> {
    const trace = this.#find(id)
    if (trace.isRecording) await this.stop('it is deleted', by)
    await this.#event('traces-delete', { id, by })
    rmSync(this.#path(id), { force: true })
  }

  /** Deletes what has expired, and files that are no recording. */
  sweep(): void {
    const { directory, log, nowMs } = this.#parts
    for (const name of readdirSync(directory)) {
      const id = FILE.exec(name)?.[1]
      if (id === undefined || id === this.#writer?.header.id) continue
      const header = this.#header(id)
      if (header !== undefined && header.expiresMs > nowMs()) continue
      rmSync(join(directory, name), { force: true })
      log('info', `the recording ${id} has expired and is deleted`)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    await this.stop('the gate is stopping')
  }

  #find(id: string): RecordingView {
    const found = this.list().find((one) => one.id === id)
    if (found !== undefined) return found
    throw new OperationError(
      `there is no recording \`${id.slice(0, 40)}\``,
      '`sluice traces list` shows them',
    )
  }

  #header(id: string): RecordingHeader | undefined {
    return attempt(() => readHeader(this.#path(id)))
  }

  #view(header: RecordingHeader): RecordingView {
    const bytes = statSync(this.#path(header.id), { throwIfNoEntry: false })?.size ?? 0
    return { ...header, bytes, isRecording: this.#writer?.header.id === header.id }
  }

  #event(name: string, detail: JsonObject): Promise<unknown> {
    return recordFirst(this.#parts.ledger, { atMs: Date.now(), name, detail })
  }

  #path(id: string): string {
    return join(this.#parts.directory, `traces-${id}.sealed`)
  }
}
