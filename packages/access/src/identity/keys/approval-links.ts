// Links in messages to approvers: a link is for one request and one named approver, until the
// request expires. A link alone decides nothing and shows nothing: it states who is to sign in,
// with a passkey, and for what. Its token is a MAC over that, so nothing has to be stored.

import type { InstallationKey } from './installation-key.ts'
import { SignedToken } from './signed-token.ts'

export interface ApprovalLinkClaims {
  /** The request's id. */
  readonly approval: string
  readonly approver: string
  readonly untilMs: number
}

export class ApprovalLinks {
  readonly #sealed: SignedToken

  constructor(key: InstallationKey) {
    this.#sealed = new SignedToken(key, 'links', 'sluice_link_')
  }

  /** The whole URL; `base` is where approvers reach the gate, undefined if they cannot. */
  address(base: string | undefined, link: ApprovalLinkClaims): string | undefined {
    const page = base && `${base}/approvals/${encodeURIComponent(link.approval)}`
    return page && `${page}#link=${this.token(link)}`
  }

  token({ approval, approver, untilMs }: ApprovalLinkClaims): string {
    return this.#sealed.make([approval, approver, untilMs])
  }

  /** Returns undefined if the link was not created here, or has expired. */
  read(token: string, nowMs: number): ApprovalLinkClaims | undefined {
    const payload = this.#sealed.read(token)
    if (payload === undefined) return undefined
    const [approval, approver, untilMs] = payload as [string, string, number]
    return nowMs < untilMs ? { approval, approver, untilMs } : undefined
  }
}
