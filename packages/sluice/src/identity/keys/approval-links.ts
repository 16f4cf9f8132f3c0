// Links in messages to approvers: one link is for one request and one named approver, until the request
// expires. A link decides nothing and shows nothing by itself: it says who is asked to sign in, with a
// passkey, and for what. Its token is a MAC over just that, so nothing has to be kept.

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

  /** The whole address; `base` is where people reach the gate, undefined where they cannot. */
  address(base: string | undefined, link: ApprovalLinkClaims): string | undefined {
    const page = base && `${base}/approvals/${encodeURIComponent(link.approval)}`
    return page && `${page}#link=${this.token(link)}`
  }

  token({ approval, approver, untilMs }: ApprovalLinkClaims): string {
    return this.#sealed.make([approval, approver, untilMs])
  }

  /** Undefined for what was not made here, or is too old. */
  read(token: string, nowMs: number): ApprovalLinkClaims | undefined {
    const said = this.#sealed.read(token)
    if (said === undefined) return undefined
    const [approval, approver, untilMs] = said as [string, string, number]
    return nowMs < untilMs ? { approval, approver, untilMs } : undefined
  }
}
