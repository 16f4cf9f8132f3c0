// The bodies of webhooks: plain JSON for programs, and ready messages for chats in the style of
// Slack (Block Kit) and Teams (an Adaptive Card). Text from agents and servers goes into elements
// that show it literally, so that no name can spell a link or mention a group. Pure.

import type { ApprovalRequest } from '../approval.ts'
import type { ApprovalMessage } from './approval-message.ts'
import { MESSAGE_ARGS_LENGTH_MAX } from './limits.ts'

export const WEBHOOK_FORMS = ['plain', 'slack', 'teams'] as const
export type WebhookForm = (typeof WEBHOOK_FORMS)[number]

export function buildWebhookBody(
  form: WebhookForm,
  message: ApprovalMessage,
  request: ApprovalRequest,
): string {
  const body = { plain: buildPlainBody, slack, teams }[form](message, request)
  return JSON.stringify(body)
}

/** The message of a chat. */
export function buildChatBody(
  form: Exclude<WebhookForm, 'plain'>,
  message: ApprovalMessage,
): string {
  return JSON.stringify({ slack, teams }[form](message))
}

/** Values unchanged: a program reads them, and JSON delimits them. */
function buildPlainBody(message: ApprovalMessage, request: ApprovalRequest): unknown {
  const { id, atMs, expiresAtMs, principal, agent, session, server, method, name } = request
  const { category, risk, unknown, looksLike, asks, before, callId, args, rest, masked } = request
  const { sessionName } = request
  return {
    type: 'approval.pending',
    id,
    at: new Date(atMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    principal,
    agent,
    session,
    ...(sessionName === undefined ? {} : { sessionName }),
    server,
    method,
    name,
    category,
    risk,
    callId,
    ...(unknown === true ? { unknown } : {}),
    ...(looksLike === undefined ? {} : { looksLike }),
    asks: asks.map(({ rule, reason, approvers, quorum }) => ({ rule, reason, approvers, quorum })),
    before,
    masked,
    ...(message.args === undefined ? {} : { ...cutText('args', args), ...cutText('rest', rest) }),
    links: message.links,
  }
}

/** Programs receive the original length: truncated text is no longer JSON. */
function cutText(name: string, text: string): Record<string, unknown> {
  const isCut = text.length > MESSAGE_ARGS_LENGTH_MAX
  return {
    [name]: isCut ? text.slice(0, MESSAGE_ARGS_LENGTH_MAX) : text,
    [`${name}Cut`]: isCut,
    [`${name}Length`]: text.length,
  }
}

function slack(message: ApprovalMessage): unknown {
  const text = (value: string, max: number) => ({
    type: 'plain_text',
    text: value.length > max ? `${value.slice(0, max - 1)}…` : value,
    emoji: false,
  })
  const section = (value: string) => ({ type: 'section', text: text(value, SLACK_TEXT_LENGTH_MAX) })
  // Longer than a section may be: split over several, so that the note on what is missing is not
  // cut off.
  const sections = (name: string, value: string | undefined) =>
    value === undefined
      ? []
      : (`${name}: ${value}`.match(SLACK_PIECES) ?? []).map((piece) => section(piece))
  return {
    // Shown in notifications; escaped as the service requires, since this one is not plain.
    text: message.title.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'),
    blocks: [
      { type: 'header', text: text(message.title, 150) },
      ...message.facts.map(({ name, value }) => section(`${name}: ${value}`)),
      ...sections('Arguments', message.args),
      ...sections('Sent besides the arguments', message.rest),
      ...slackLinks(message, (value) => text(value, 75)),
      { type: 'context', elements: [text(message.otherwise, 2_000)] },
    ],
    // Disables links, mentions and emphasis in the line above.
    mrkdwn: false,
    parse: 'none',
    unfurl_links: false,
    unfurl_media: false,
  }
}

const SLACK_BUTTONS_MAX = 25
const SLACK_TEXT_LENGTH_MAX = 3_000
const SLACK_PIECES = new RegExp(`[^]{1,${SLACK_TEXT_LENGTH_MAX}}`, 'gu')

function slackLinks(message: ApprovalMessage, text: (value: string) => unknown): unknown[] {
  const elements = listButtons(message)
    .slice(0, SLACK_BUTTONS_MAX)
    .map(({ label, url }) => ({ type: 'button', text: text(label), url }))
  return elements.length === 0 ? [] : [{ type: 'actions', elements }]
}

function listButtons({ links, page }: ApprovalMessage): { label: string; url: string }[] {
  const own = links.map(({ approver, url }) => ({ label: `Look (${approver})`, url }))
  return page === undefined ? own : [...own, { label: 'Open the console', url: page }]
}

function teams(message: ApprovalMessage): unknown {
  const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more })
  const block = (...inlines: unknown[]) => ({ type: 'RichTextBlock', inlines })
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(run(message.title, { weight: 'Bolder', size: 'Medium' })),
      ...message.facts.map(({ name, value }) =>
        block(run(`${name}: `, { weight: 'Bolder' }), run(value)),
      ),
      ...(message.args === undefined ? [] : [block(run(message.args, { fontType: 'Monospace' }))]),
      ...(message.rest === undefined
        ? []
        : [
            block(
              run('Sent besides the arguments: ', { weight: 'Bolder' }),
              run(message.rest, { fontType: 'Monospace' }),
            ),
          ]),
      block(run(message.otherwise, { isSubtle: true })),
    ],
    actions: listButtons(message).map(({ label, url }) => ({
      type: 'Action.OpenUrl',
      title: label,
      url,
    })),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
  }
}
