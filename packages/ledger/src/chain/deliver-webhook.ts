// Delivers a message to an external HTTP endpoint, signed so that the receiver can authenticate the
// sender and detect replays: HMAC-SHA256 over id, time and body, in the headers of the Standard
// Webhooks specification. Follows no redirect, reads little of the response, has a timeout. Used
// for checkpoints, and by the approval channels.

import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  POST_ANSWER_BYTES_MAX,
  POST_BODY_BYTES_MAX,
  POST_FIRST_PAUSE_MS,
  POST_MS_MAX,
  POST_PAUSE_MS_MAX,
  POST_TRIES_MAX,
} from '../records/limits.ts'

export interface WebhookEndpoint {
  readonly url: string
  /**
   * `whsec_` and base64, or any text. Without it nothing is signed: for endpoints whose URL is
   * itself the secret, such as those of chats.
   */
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface WebhookMessage {
  /** The same for every attempt: the receiver deduplicates by it. */
  readonly id: string
  readonly body: string
}

export interface WebhookPostOptions {
  readonly nowMs?: () => number
  readonly triesMax?: number
  readonly timeoutMs?: number
  readonly firstPauseMs?: number
  /** Aborts, between attempts and within one. */
  readonly signal?: AbortSignal
}

/** `again`: whether another attempt may help. */
class DeliveryError extends Error {
  readonly again: boolean
  readonly pauseMs: number
  constructor(message: string, again: boolean, pauseMs = 0) {
    super(message)
    this.again = again
    this.pauseMs = pauseMs
  }
}

/** Resolves once the endpoint has answered with 2xx; retries if that may help. */
export async function deliverWebhook(
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
  options: WebhookPostOptions = {},
): Promise<void> {
  const { triesMax = POST_TRIES_MAX, signal } = options
  let pauseMs = options.firstPauseMs ?? POST_FIRST_PAUSE_MS
  for (let tried = 1; ; tried++) {
    try {
      return await postOnce(endpoint, message, options)
    } catch (error) {
      const failed = error as DeliveryError
      if (!failed.again || tried >= triesMax || signal?.aborted) throw failed
      const waitMs = Math.min(POST_PAUSE_MS_MAX, Math.max(pauseMs, failed.pauseMs))
      try {
        await sleep(waitMs, undefined, signal === undefined ? {} : { signal })
      } catch {
        throw failed
      }
      pauseMs *= 2
    }
  }
}

async function postOnce(
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
  options: WebhookPostOptions,
): Promise<void> {
  const { nowMs = Date.now, timeoutMs = POST_MS_MAX, signal } = options
  const bytes = Buffer.byteLength(message.body)
  if (bytes > POST_BODY_BYTES_MAX)
    throw new DeliveryError(
      `the message has ${bytes} bytes, the limit is ${POST_BODY_BYTES_MAX}`,
      false,
    )
  const ends = AbortSignal.timeout(timeoutMs)
  let status = 0
  let retryAfter: string | null = null
  try {
    const answer = await fetch(endpoint.url, {
      method: 'POST',
      body: message.body,
      headers: {
        ...endpoint.headers,
        'content-type': 'application/json',
        ...signWebhook(endpoint.secret, message, nowMs()),
      },
      // A redirect would send the message to a host that is not configured.
      redirect: 'manual',
      signal: signal === undefined ? ends : AbortSignal.any([ends, signal]),
    })
    ;({ status } = answer)
    retryAfter = answer.headers.get('retry-after')
    await drainResponse(answer)
  } catch (error) {
    if (status === 0) throw new DeliveryError(unreached(error as Error, ends, timeoutMs), true)
  }
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400)
    throw new DeliveryError(`it answered ${status}: redirects are not followed`, false)
  const again = status >= 500 || status === 408 || status === 425 || status === 429
  throw new DeliveryError(`it answered ${status}`, again, readRetryAfter(retryAfter))
}

function signWebhook(
  secret: string | undefined,
  { id, body }: WebhookMessage,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const idHeaders = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return idHeaders
  const mac = createHmac('sha256', decodeWebhookSecret(secret)).update(`${id}.${timestamp}.${body}`)
  return { ...idHeaders, 'webhook-signature': `v1,${mac.digest('base64')}` }
}

function decodeWebhookSecret(secret: string): Buffer {
  const coded = /^whsec_(.+)$/.exec(secret)?.[1]
  return coded === undefined ? Buffer.from(secret) : Buffer.from(coded, 'base64')
}

/** Does not wait for an endpoint that never ends its response. */
async function drainResponse(answer: Response): Promise<void> {
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    if (bytes > POST_ANSWER_BYTES_MAX) break
  }
}

function unreached(error: Error, ends: AbortSignal, timeoutMs: number): string {
  if (ends.aborted) return `no answer within ${timeoutMs} ms`
  const cause = error.cause as (Error & { code?: string }) | undefined
  return `it cannot be reached: ${cause?.code ?? cause?.message ?? error.message}`
}

function readRetryAfter(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0
}
