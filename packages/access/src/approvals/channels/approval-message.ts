// Composes the message about a pending approval: who, what, why, until when, and one link for each
// named approver. Names, reasons and arguments come from agents and servers, so every text is made
// visible and truncated before it goes into a message. Pure; used by the formats of all channels.

import { visibleText } from '@sluice/guard/show/visible-text'
import { describeServerRequest, titleOfCall } from '@sluice/ledger/records/call-title'
import type { ApprovalRequest } from '../approval.ts'
import { describeMasked } from '../describe-masked.ts'
import {
  MESSAGE_ARGS_LENGTH_MAX,
  MESSAGE_NAME_LENGTH_MAX,
  MESSAGE_PRIOR_CALLS_MAX,
  MESSAGE_TEXT_LENGTH_MAX,
} from './limits.ts'

/** A link for one named approver; undefined if there is none. */
export type CreateApprovalLink = (request: ApprovalRequest, approver: string) => string | undefined

export interface ApprovalLink {
  /** The person who may decide by this link, and nobody else. */
  readonly approver: string
  readonly url: string
}

export interface ApprovalMessage {
  readonly id: string
  readonly title: string
  /** The facts of the request, one per line. */
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** JSON as it will be sent, secrets masked; undefined if messages do not include it. */
  readonly args: string | undefined
  /** The same for what is sent besides the arguments; undefined also if that is nothing. */
  readonly rest: string | undefined
  readonly links: readonly ApprovalLink[]
  /** The page of the console that the message is about, for everybody. */
  readonly page?: string | undefined
  /** What to do without a link. */
  readonly otherwise: string
}

export function composeMessage(
  request: ApprovalRequest,
  links: readonly ApprovalLink[],
  showsArgs: boolean,
): ApprovalMessage {
  const { server, name, principal, agent, sessionName, category, risk, unknown, looksLike } =
    request
  const { asks, before, command } = request
  const called = {
    server: toVisibleLine(server, MESSAGE_NAME_LENGTH_MAX),
    method: request.method,
    name: toVisibleLine(name, MESSAGE_NAME_LENGTH_MAX),
  }
  const what = titleOfCall(called)
  const purpose = describeServerRequest(called)
  const who = toVisibleLine(principal.id, MESSAGE_NAME_LENGTH_MAX)
  const by = agent === null ? who : `${who} (${toVisibleLine(agent, MESSAGE_NAME_LENGTH_MAX)})`
  const labels = unknown === true ? ['unknown', `perhaps ${category}`] : [category, risk]
  const kind = labels.flatMap((word) => (word === null ? [] : [toVisibleLine(word, 64)]))
  const reasons = asks.map(({ rule, reason }) => toVisibleLine(reason === '' ? rule : reason))
  const past = before
    .slice(-MESSAGE_PRIOR_CALLS_MAX)
    .map(
      (call) =>
        `${call.action} ${toVisibleLine(`${call.server}/${call.name}`, MESSAGE_NAME_LENGTH_MAX)}`,
    )
  const masked = describeMasked(request)
  const facts = [
    { name: 'Call', value: what },
    ...(command === undefined || !showsArgs
      ? []
      : [
          { name: 'Command', value: `$ ${toVisibleLine(command.line)}` },
          { name: 'In', value: toVisibleLine(command.directory) },
          { name: 'Touches', value: toVisibleLine(command.touches) },
        ]),
    ...(purpose === undefined ? [] : [{ name: 'Who asks', value: purpose }]),
    ...(looksLike === undefined
      ? []
      : [
          {
            name: 'Beware',
            value: `the name looks like ${toVisibleLine(looksLike, MESSAGE_NAME_LENGTH_MAX)}, and is not`,
          },
        ]),
    { name: 'By', value: by },
    ...(sessionName === undefined
      ? []
      : [{ name: 'Session', value: toVisibleLine(sessionName, MESSAGE_NAME_LENGTH_MAX) }]),
    ...(kind.length > 0 ? [{ name: 'Class', value: kind.join(', ') }] : []),
    { name: 'Why asked', value: [...new Set(reasons)].join('; ') },
    ...(past.length > 0 ? [{ name: 'Before', value: past.join(', ') }] : []),
    ...(masked === undefined ? [] : [{ name: 'Masked', value: masked }]),
    { name: 'Until', value: new Date(request.expiresAtMs).toISOString() },
    { name: 'Request', value: toVisibleLine(request.id, MESSAGE_NAME_LENGTH_MAX) },
  ]
  return {
    id: request.id,
    title: `Approval wanted: ${what} by ${by}`,
    facts,
    args: showsArgs ? toVisibleLine(request.args, MESSAGE_ARGS_LENGTH_MAX) : undefined,
    rest:
      showsArgs && request.rest !== ''
        ? toVisibleLine(request.rest, MESSAGE_ARGS_LENGTH_MAX)
        : undefined,
    links,
    otherwise: `Decide in the console, or with: sluice approvals show ${toVisibleLine(request.id, MESSAGE_NAME_LENGTH_MAX)}`,
  }
}

export function linksFor(
  request: ApprovalRequest,
  approvers: readonly string[],
  linkFor: CreateApprovalLink,
): ApprovalLink[] {
  return approvers.flatMap((approver) => {
    const url = linkFor(request, approver)
    return url === undefined ? [] : [{ approver, url }]
  })
}

/**
 * One line without control characters or links, of at most `max` characters. Truncated text states
 * how much is missing, so that no one decides by the start alone.
 */
export function toVisibleLine(text: string, max = MESSAGE_TEXT_LENGTH_MAX): string {
  const shown = visibleText(text.slice(0, max))
  // Truncated again: an escape is longer than its character, and is included whole or not at all.
  const cut = shown.length <= max ? shown : shown.slice(0, max).replace(/\\u?\{?[0-9a-f]*$/, '')
  const isWhole = cut.length === shown.length && text.length <= max
  const whole = isWhole ? 0 : visibleText(text).length
  const missing = isWhole ? '' : `… [${whole - cut.length} of ${whole} characters not shown]`
  return withoutLinks(cut) + missing
}

/**
 * Chat and mail programs turn URLs in any text into links: nothing an agent wrote may be one click
 * away. `[:]` and `[.]` are the usual way to defang URLs.
 */
function withoutLinks(text: string): string {
  return text
    .replace(/:\/\//g, '[:]//')
    .replace(/\b(mailto|tel|javascript|data|file):/gi, '$1[:]')
    .replace(/\bwww\./gi, 'www[.]')
}
