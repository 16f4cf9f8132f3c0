// `POST /triggers/<agent>/<name>`: a signed webhook that prompts an agent. Behind the HTTP front, which has looked at
// host and origin. The signature is checked before anything is begun, by Standard Webhooks or as GitHub signs. A wrong
// one, an agent and a schedule that are not there get one answer: nobody finds out which agents there are.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  TRIGGER_AGAIN_S,
  TRIGGER_BODY_BYTES_MAX,
  TRIGGER_TIME_OFF_S_MAX,
} from '../../shared/limits.ts'
import { JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'
import { readBody } from './read-body.ts'

/** A delivery whose signature is right. */
export interface TriggerDelivery {
  readonly agent: string
  readonly name: string
  /** The id that the sender gave: the same again begins nothing. */
  readonly id: string
  readonly body: string
}

export type TriggerResult =
  | { readonly runId: string }
  /** `isDenied`: by the policy, as opposed to a fault of the moment. */
  | { readonly refused: string; readonly isDenied: boolean }

/** The agents, as far as webhooks reach them. */
export interface TriggerTarget {
  /** A secret for any name, whether or not there is such a schedule. */
  webhookSecret(agent: string, name: string): Promise<Buffer>
  /** Begins the run, or finds the one that the same delivery began. */
  deliver(delivery: TriggerDelivery): Promise<TriggerResult>
}

export interface TriggersFrontOptions {
  /** The target; undefined while the agents do not run. */
  readonly target: () => TriggerTarget | undefined
  readonly nowMs: () => number
}

type SignedMessage = { readonly headers: IncomingHttpHeaders; readonly body: string }

const PATH = /^\/triggers\/(agent_[0-9a-f-]{36})\/([a-z0-9-]{1,32})$/
const REFUSED = 'the signature is wrong or too old, or there is no such webhook'
const AWAY = 'the agents do not run at the moment: send it again later'
const SIGNATURES_MAX = 8

export class TriggersFront {
  readonly #options: TriggersFrontOptions

  constructor(options: TriggersFrontOptions) {
    this.#options = options
  }

  static isPath(path: string): boolean {
    return path.startsWith('/triggers/')
  }

  async serve(path: string, request: IncomingMessage, reply: ResponseWriter): Promise<void> {
    const send = (status: number, body: object, headers: Record<string, string> = {}) =>
      reply.send(status, { ...JSON_TYPE, ...headers }, JSON.stringify(body))
    const later = (error: string) => send(503, { error }, { 'retry-after': `${TRIGGER_AGAIN_S}` })
    if (request.method !== 'POST') return reply.send(405, { allow: 'POST' })
    const read = await readBody(request, TRIGGER_BODY_BYTES_MAX)
    if (read.text === undefined) return send(read.status, { error: read.why })
    const target = this.#options.target()
    if (target === undefined) return later(AWAY)
    const [, agent, name] = PATH.exec(path) ?? []
    if (agent === undefined || name === undefined) return send(401, { error: REFUSED })
    const message = { headers: request.headers, body: read.text }
    let result: TriggerResult
    try {
      const secret = await target.webhookSecret(agent, name)
      const id = findDeliveryId(message, secret, this.#options.nowMs() / 1_000)
      if (id === undefined) return send(401, { error: REFUSED })
      result = await target.deliver({ agent, name, id, body: read.text })
    } catch {
      return later(AWAY)
    }
    if ('runId' in result) return send(202, { runId: result.runId })
    if (result.isDenied) return send(403, { error: result.refused })
    later(result.refused)
  }
}

/** The id of a delivery whose signature is right; undefined if it is wrong. */
function findDeliveryId(message: SignedMessage, secret: Buffer, nowS: number): string | undefined {
  const isGithub = message.headers['x-hub-signature-256'] !== undefined
  return isGithub ? readGithub(message, secret) : readStandard(message, secret, nowS)
}

/** GitHub's secret is a text. It signs neither a time nor its id of the delivery: anyone who has recorded one could send it
 * again under another id, so the body is the id. */
function readGithub({ headers, body }: SignedMessage, secret: Buffer): string | undefined {
  const key = `whsec_${secret.toString('base64')}`
  const expected = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
  const isRight = isSame(one(headers, 'x-hub-signature-256'), expected)
  return isRight ? hash('sha256', body) : undefined
}

function readStandard(
  { headers, body }: SignedMessage,
  secret: Buffer,
  nowS: number,
): string | undefined {
  const [id, at] = [one(headers, 'webhook-id'), one(headers, 'webhook-timestamp')]
  const isTimely = /^\d{1,12}$/.test(at) && Math.abs(nowS - Number(at)) <= TRIGGER_TIME_OFF_S_MAX
  const code = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
  const signatures = one(headers, 'webhook-signature').split(' ', SIGNATURES_MAX)
  const isRight = signatures.some((each) => isSame(each, `v1,${code}`))
  return isRight && isTimely && id !== '' ? id : undefined
}

function one(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[name] ?? '')
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
