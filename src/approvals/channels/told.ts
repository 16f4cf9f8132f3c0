// What a message to people says of a held call: who, what, why, until when, and one link for each
// approver who is named. Names, reasons and arguments come from agents and servers, so every text is
// made visible and cut before it goes into any message. Pure; used by the forms of all channels.

import type { ApprovalRequest } from '../../core/approval.ts'
import {
  TOLD_ARGS_LENGTH_MAX,
  TOLD_BEFORE_MAX,
  TOLD_NAME_LENGTH_MAX,
  TOLD_TEXT_LENGTH_MAX,
} from './limits.ts'

/** A link for one named approver; undefined where there is none to give. */
export type LinkFor = (request: ApprovalRequest, approver: string) => string | undefined

export interface Link {
  readonly approver: string
  readonly url: string
}

export interface Told {
  readonly id: string
  readonly title: string
  /** What is asked, a line each. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** JSON as it will be sent, secrets masked; undefined where messages do not carry it. */
  readonly args: string | undefined
  readonly links: readonly Link[]
  /** What to do without a link. */
  readonly otherwise: string
}

export function tellOf(request: ApprovalRequest, links: readonly Link[], showsArgs: boolean): Told {
  const { server, name, principal, agent, category, risk, asks, before } = request
  const what = `${visible(server, TOLD_NAME_LENGTH_MAX)}/${visible(name, TOLD_NAME_LENGTH_MAX)}`
  const who = visible(principal.id, TOLD_NAME_LENGTH_MAX)
  const by = agent === null ? who : `${who} (${visible(agent, TOLD_NAME_LENGTH_MAX)})`
  const kind = [category, risk].flatMap((word) => (word === null ? [] : [visible(word, 64)]))
  const reasons = asks.map(({ rule, reason }) => visible(reason === '' ? rule : reason))
  const past = before
    .slice(-TOLD_BEFORE_MAX)
    .map((call) => `${call.action} ${visible(`${call.server}/${call.name}`, TOLD_NAME_LENGTH_MAX)}`)
  const facts = [
    { name: 'Call', value: what },
    { name: 'By', value: by },
    ...(kind.length > 0 ? [{ name: 'Class', value: kind.join(', ') }] : []),
    { name: 'Why asked', value: [...new Set(reasons)].join('; ') },
    ...(past.length > 0 ? [{ name: 'Before', value: past.join(', ') }] : []),
    { name: 'Until', value: new Date(request.expiresAtMs).toISOString() },
    { name: 'Request', value: visible(request.id, TOLD_NAME_LENGTH_MAX) },
  ]
  return {
    id: request.id,
    title: `Approval wanted: ${what} by ${by}`,
    facts,
    args: showsArgs ? visible(request.args, TOLD_ARGS_LENGTH_MAX) : undefined,
    links,
    otherwise: `Decide in the console, or with: sluice approvals show ${visible(request.id, TOLD_NAME_LENGTH_MAX)}`,
  }
}

export function linksFor(
  request: ApprovalRequest,
  approvers: readonly string[],
  linkFor: LinkFor,
): Link[] {
  return approvers.flatMap((approver) => {
    const url = linkFor(request, approver)
    return url === undefined ? [] : [{ approver, url }]
  })
}

/** One line without anything that drives a reader's screen, at most so long. */
export function visible(text: string, max = TOLD_TEXT_LENGTH_MAX): string {
  const whole = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escaped)
  return whole.length <= max ? whole : `${whole.slice(0, max)}… (${text.length} characters)`
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`
}
