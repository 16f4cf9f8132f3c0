// Links in messages to approvers: one link is for one request and one named approver, until the request
// expires. A link decides nothing and shows nothing by itself: it says who is asked to sign in, with a
// passkey, and for what. Its token is a MAC over just that, so nothing has to be kept.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InstallationKey } from './installation-key.ts'

export interface LinkFor {
  /** The request's id. */
  readonly approval: string
  readonly approver: string
  readonly untilMs: number
}

const PREFIX = 'sluice_link_'
const MAC_BYTES = 24
const LINK_LENGTH_MAX = 1_000

export class Links {
  readonly #key: Buffer

  constructor(key: InstallationKey) {
    this.#key = key.derive('links', 32)
  }

  /** The whole address; `base` is where people reach the gate, undefined where they cannot. */
  address(base: string | undefined, link: LinkFor): string | undefined {
    const page = base && `${base}/approvals/${encodeURIComponent(link.approval)}`
    return page && `${page}#link=${this.token(link)}`
  }

  token({ approval, approver, untilMs }: LinkFor): string {
    const said = Buffer.from(JSON.stringify([approval, approver, untilMs]))
    return PREFIX + Buffer.concat([this.#mac(said), said]).toString('base64url')
  }

  /** Undefined for what was not made here, or is too old. */
  read(token: string, nowMs: number): LinkFor | undefined {
    if (!token.startsWith(PREFIX) || token.length > LINK_LENGTH_MAX) return undefined
    const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url')
    if (bytes.length <= MAC_BYTES) return undefined
    const said = bytes.subarray(MAC_BYTES)
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(said))) return undefined
    const [approval, approver, untilMs] = JSON.parse(said.toString()) as [string, string, number]
    return nowMs < untilMs ? { approval, approver, untilMs } : undefined
  }

  #mac(said: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(said).digest().subarray(0, MAC_BYTES)
  }
}
