// The channels that tell people of held calls beyond this machine, as sluice.yaml says under
// `approvals`: a webhook and e-mail. Called by config.ts.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { EmailConfig } from '@sluice/access/approvals/channels/email'
import { MESSAGE_APPROVERS_MAX } from '@sluice/access/approvals/channels/limits'
import { WEBHOOK_FORMS } from '@sluice/access/approvals/channels/message-forms'
import type { WebhookConfig } from '@sluice/access/approvals/channels/webhook'
import { isLoopbackName } from '@sluice/access/identity/oauth/safe-url'
import {
  BOOLEAN,
  form,
  integer,
  list,
  object,
  record,
  required,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { fillDefaults, type ShapeValue } from '@sluice/policy/document/shape'
import { type ConfigValues, readFields, SECRET_HELP, safeUrlShape, secretShape } from './values.ts'

/** The channels that tell people of calls that wait. */
export interface ChannelsConfig {
  /** Absent if nothing is posted. */
  readonly webhook?: WebhookConfig
  /** Absent if no mail is sent. */
  readonly email?: EmailConfig
}

const code = 'CONFIG_CHANNEL'
/** One mailbox and nothing else: no list, no comment, no second header. */
const MAILBOX = form(
  'address of one mailbox',
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/,
  'write `ann@example.com`',
  { code },
)
const HOST = form('host', /^[\w.:[\]-]{1,253}$/, 'write `mail.example.com`', { code })
const approverName = form(
  'name of an approver',
  /^[^\s\p{C}]{1,128}$/u,
  'as `sluice approvers list` shows it',
)
const ARGS = {
  shape: BOOLEAN,
  doc: 'messages carry the arguments, secrets masked; otherwise only the console shows them',
  default: false,
} as const

const WEBHOOK = object('a webhook of approvals', {
  url: required(
    safeUrlShape(code),
    'where pending approvals are posted',
    'https://hooks.example.com/sluice',
  ),
  secret: {
    shape: secretShape(code),
    doc: 'signs the messages, at least 16 characters; give it by a variable. Required for `plain`',
    example: `$\{WEBHOOK_SECRET}`,
  },
  form: {
    shape: word(WEBHOOK_FORMS),
    doc: '`plain` JSON, or a message in the format of `slack` or `teams`',
    default: 'plain',
  },
  approvers: {
    shape: list(text(128), MESSAGE_APPROVERS_MAX),
    doc: 'approvers whose links the message carries, one each',
    example: ['ann'],
  },
  args: ARGS,
})

const EMAIL = object('e-mail settings', {
  host: required(HOST, 'the mail server', 'mail.example.com'),
  port: {
    shape: integer(1, 65_535),
    doc: 'its port',
    unset: '587, or 465 with `tls: implicit`',
    example: 587,
  },
  tls: {
    shape: word(['starttls', 'implicit', 'none']),
    doc: '`starttls`, which must succeed; `implicit`; `none` only on this machine',
    default: 'starttls',
  },
  ca: { shape: text(4_096), doc: 'file with more certificates to trust', example: './mail-ca.pem' },
  user: { shape: text(256), doc: 'account at the mail server', example: 'sluice' },
  password: {
    shape: text(1_024),
    doc: 'its password; give it by a variable',
    example: `$\{MAIL_PASSWORD}`,
  },
  from: required(MAILBOX, 'the sender address', 'sluice@example.com'),
  to: required(
    record(approverName, MAILBOX),
    'the address of each approver, by name: each gets a mail of their own',
    { ann: 'ann@example.com' },
  ),
  args: ARGS,
})

export const CHANNELS = object('settings of approvals', {
  webhook: { shape: WEBHOOK, doc: 'notifies a program or a chat if a rule names the channel' },
  email: { shape: EMAIL, doc: 'notifies approvers by e-mail if a rule names the channel' },
})

export function readChannels(map: LocatedMap, values: ConfigValues): ChannelsConfig {
  const node = asMap(findEntry(map, 'approvals'))
  const { webhook, email } = readFields(CHANNELS.fields, findEntry(map, 'approvals'))
  const wrong: ReportProblem = (path, message, help) => {
    const at = path.reduce<LocatedNode>(
      (inner, name) => findEntry(asMap(inner), name) ?? inner,
      node,
    )
    values.problems.error(code, at.at, message, help)
  }
  return {
    ...(webhook === undefined ? {} : { webhook: readWebhook(webhook, wrong) }),
    ...(email === undefined ? {} : { email: readEmail(email, values.folder, wrong) }),
  }
}

type ReportProblem = (path: readonly string[], message: string, help: string) => void

function readWebhook(webhook: ShapeValue<typeof WEBHOOK>, wrong: ReportProblem): WebhookConfig {
  const read = fillDefaults(WEBHOOK.fields, webhook)
  const { form, secret, approvers = [] } = read
  if (form === 'plain' && secret === undefined)
    wrong(['webhook', 'url'], 'a `plain` webhook needs a `secret`', SECRET_HELP)
  return { ...read, approvers }
}

function readEmail(
  email: ShapeValue<typeof EMAIL>,
  folder: string,
  wrong: ReportProblem,
): EmailConfig {
  const { ca, ...read } = fillDefaults(EMAIL.fields, email)
  const { host, tls, port = tls === 'implicit' ? 465 : 587 } = read
  if (tls === 'none' && !isLoopbackName(host))
    wrong(
      ['email', 'tls'],
      `mails to \`${host}\` would go in the open`,
      '`none` is for this machine only: take `starttls` or `implicit`',
    )
  return { ...read, port, ...(ca === undefined ? {} : readCa(resolve(folder, ca), wrong)) }
}

function readCa(file: string, wrong: ReportProblem): { ca?: string } {
  try {
    return { ca: readFileSync(file, 'utf8') }
  } catch (error) {
    const { message } = error as Error
    wrong(['email', 'ca'], `\`${file}\`: ${message}`, 'name a file of certificates')
    return {}
  }
}
