// Stores checkpoints out of reach of anyone who can write the data directory: in a file, a signed
// webhook, or an S3 bucket. Each checkpoint covers all before it, so only the newest is queued
// while a store cannot be reached. Started by the gate.

import { appendFile } from 'node:fs/promises'
import { AwsClient } from 'aws4fetch'
import {
  PLACE_END_MS_MAX,
  PLACE_RETRY_MS_MAX,
  PLACE_RETRY_MS_MIN,
  POST_MS_MAX,
} from '../records/limits.ts'
import { type Checkpoint, checkpointText } from './checkpoint.ts'
import { deliverWebhook, type WebhookEndpoint } from './deliver-webhook.ts'

export type RemoteStoreConfig =
  | { readonly kind: 'file'; readonly file: string }
  | ({ readonly kind: 'webhook' } & WebhookEndpoint)
  | {
      readonly kind: 's3'
      readonly endpoint: string
      readonly bucket: string
      readonly prefix: string
      readonly region: string
      readonly accessKey: string
      readonly secretKey: string
    }

export interface RemoteStoreOptions {
  readonly place: RemoteStoreConfig
  /** Called once when it starts to fail, with the reason, and once when it works again. */
  readonly onState: (why: string | undefined) => void
  readonly retryMs?: number
}

export class RemoteCheckpointStore {
  readonly #options: RemoteStoreOptions
  readonly #put: (checkpoint: Checkpoint, signal: AbortSignal) => Promise<void>
  readonly #end = new AbortController()
  #newest: Checkpoint | undefined
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #pauseMs: number
  #why: string | undefined

  constructor(options: RemoteStoreOptions) {
    this.#options = options
    this.#put = createSender(options.place)
    this.#pauseMs = options.retryMs ?? PLACE_RETRY_MS_MIN
  }

  /** Why the newest checkpoint is not stored; undefined if it is. */
  get why(): string | undefined {
    return this.#why
  }

  send(checkpoint: Checkpoint): void {
    this.#newest = checkpoint
    this.#sending ??= this.#sendAll()
  }

  /** Tries to deliver the newest one before closing. */
  async close(endMs = PLACE_END_MS_MAX): Promise<void> {
    clearTimeout(this.#timer)
    const ends = setTimeout(() => this.#end.abort(), endMs)
    if (this.#newest !== undefined) this.#sending ??= this.#sendAll()
    await this.#sending
    // The gate stops: the failure is reported, and the first checkpoint of the next start covers
    // it.
    clearTimeout(this.#timer)
    clearTimeout(ends)
    this.#end.abort()
  }

  async #sendAll(): Promise<void> {
    while (this.#newest !== undefined) {
      const checkpoint = this.#newest
      try {
        await this.#put(checkpoint, this.#end.signal)
      } catch (error) {
        this.#failed((error as Error).message)
        break
      }
      if (this.#newest === checkpoint) this.#newest = undefined
      this.#pauseMs = this.#options.retryMs ?? PLACE_RETRY_MS_MIN
      this.#become(undefined)
    }
    this.#sending = undefined
  }

  #failed(why: string): void {
    this.#become(why)
    this.#timer = setTimeout(() => {
      this.#sending ??= this.#sendAll()
    }, this.#pauseMs)
    this.#timer.unref()
    this.#pauseMs = Math.min(PLACE_RETRY_MS_MAX, this.#pauseMs * 2)
  }

  #become(why: string | undefined): void {
    const changed = (why === undefined) !== (this.#why === undefined)
    this.#why = why
    if (changed) this.#options.onState(why)
  }
}

function createSender(place: RemoteStoreConfig) {
  switch (place.kind) {
    case 'file':
      return (checkpoint: Checkpoint) =>
        appendFile(place.file, `${checkpointText(checkpoint)}\n`, { mode: 0o600, flush: true })
    case 'webhook':
      return (checkpoint: Checkpoint, signal: AbortSignal) => {
        const id = `checkpoint-${checkpoint.seq}-${checkpoint.head.slice(0, 16)}`
        return deliverWebhook(
          place,
          { id, body: checkpointText(checkpoint) },
          { triesMax: 1, signal },
        )
      }
    case 's3':
      return putInto(place)
  }
}

/** Stores one object per checkpoint, with names that sort and do not collide for one number. */
function putInto(place: Extract<RemoteStoreConfig, { kind: 's3' }>) {
  const client = new AwsClient({
    accessKeyId: place.accessKey,
    secretAccessKey: place.secretKey,
    service: 's3',
    region: place.region,
    retries: 0,
  })
  return async (checkpoint: Checkpoint, signal: AbortSignal): Promise<void> => {
    const name = `${String(checkpoint.seq).padStart(15, '0')}-${checkpoint.head.slice(0, 16)}.json`
    const path = `${place.bucket}/${place.prefix}${name}`.split('/').map(encodeURIComponent)
    const answer = await client.fetch(`${place.endpoint.replace(/\/$/, '')}/${path.join('/')}`, {
      method: 'PUT',
      body: checkpointText(checkpoint),
      headers: { 'content-type': 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(POST_MS_MAX)]),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the bucket answered ${answer.status}`)
  }
}
