// Alerts in the forms of the channels: plain JSON for programs, chats, and mail. Every text is made
// visible and cut, and no name can spell a link. Pure.

import type { SentAlert } from '../../core/alert.ts'
import { type ApprovalMessage, toVisibleLine } from './approval-message.ts'
import { buildChatBody, type WebhookForm } from './message-forms.ts'

export function buildAlertBody(form: WebhookForm, alert: SentAlert): string {
  if (form !== 'plain') return buildChatBody(form, toMessage(alert))
  const { id, kind, atMs, title, facts, suppressed, url } = alert
  const at = new Date(atMs).toISOString()
  const link = url === undefined ? {} : { url }
  return JSON.stringify({ type: 'alert', id, kind, at, title, facts, suppressed, ...link })
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

function toMessage({ id, title, facts, atMs, suppressed, url }: SentAlert): ApprovalMessage {
  return {
    id,
    title: toVisibleLine(title),
    facts: [
      ...facts.map(({ name, value }) => ({ name, value: toVisibleLine(value) })),
      { name: 'At', value: new Date(atMs).toISOString() },
      ...(suppressed === 0
        ? []
        : [{ name: 'Not sent', value: `${suppressed} more of this kind since the last message` }]),
    ],
    args: undefined,
    rest: undefined,
    links: [],
    otherwise: url === undefined ? 'Open the console: sluice console' : `Open the console: ${url}`,
  }
}
