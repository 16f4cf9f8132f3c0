// Alerts in the forms of the channels: plain JSON for programs, chats, and mail. Every text is made
// visible and cut, and no name can spell a link. Pure.

import type { SentAlert } from '../alert.ts'
import { type ApprovalMessage, toVisibleLine } from './approval-message.ts'
import { MESSAGE_NAME_LENGTH_MAX } from './limits.ts'
import { buildChatBody, type WebhookForm } from './message-forms.ts'

export function buildAlertBody(form: WebhookForm, alert: SentAlert): string {
  if (form !== 'plain') return buildChatBody(form, toMessage(alert))
  const { id, kind, atMs, title, facts, suppressed, url, overAtMs } = alert
  const at = new Date(atMs).toISOString()
  const state = overAtMs === undefined ? 'raised' : 'over'
  const over = overAtMs === undefined ? {} : { overAt: new Date(overAtMs).toISOString() }
  const link = url === undefined ? {} : { url }
  const body = { type: 'alert', id, kind, state, at, title, facts, suppressed }
  return JSON.stringify({ ...body, ...over, ...link })
}

export function composeAlertMail(alert: SentAlert): { subject: string; text: string } {
  const { title, facts, otherwise } = toMessage(alert)
  const text = [
    `${title}:`,
    '',
    ...facts.map(({ name, value }) => `> ${name}: ${value}`),
    '',
    otherwise,
    '',
  ].join('\n')
  return { subject: `[sluice] ${title}`, text }
}

function toMessage(alert: SentAlert): ApprovalMessage {
  const { id, title, facts, atMs, suppressed, url, overAtMs } = alert
  return {
    id,
    title: toVisibleLine(title),
    facts: [
      ...facts.map(({ name, value }) => ({
        name: toVisibleLine(name, MESSAGE_NAME_LENGTH_MAX),
        value: toVisibleLine(value),
      })),
      { name: overAtMs === undefined ? 'At' : 'Since', value: new Date(atMs).toISOString() },
      ...(overAtMs === undefined
        ? []
        : [{ name: 'Until', value: new Date(overAtMs).toISOString() }]),
      ...(suppressed === 0
        ? []
        : [{ name: 'Not sent', value: `${suppressed} more of this kind since the last message` }]),
    ],
    args: undefined,
    rest: undefined,
    links: [],
    page: url,
    otherwise: url === undefined ? 'Open the console: sluice console' : `Open the console: ${url}`,
  }
}
