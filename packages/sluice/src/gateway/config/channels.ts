// The channels that tell people of held calls beyond this machine, as sluice.yaml says under
// `approvals`: a webhook and e-mail. Called by config.ts.

import { readFileSync } from 'node:fs'
import { asMap } from '@sluice/policy/document/check-shape'
import { scalar } from '@sluice/policy/document/fields'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import type { EmailConfig } from '../../approvals/channels/email.ts'
import { MESSAGE_APPROVERS_MAX } from '../../approvals/channels/limits.ts'
import { WEBHOOK_FORMS, type WebhookForm } from '../../approvals/channels/message-forms.ts'
import type { WebhookConfig } from '../../approvals/channels/webhook.ts'
import { isLoopbackName, isSafeUrl } from '../../identity/oauth/safe-url.ts'
import type { ConfigValues } from './values.ts'

export interface ChannelsConfig {
  readonly webhook?: WebhookConfig
  readonly email?: EmailConfig
}

const text = (max: number): Shape => ({ kind: 'text', max })
const approverName = {
  kind: 'form',
  noun: 'name of an approver',
  form: /^[^\s\p{C}]{1,128}$/u,
  help: 'as `sluice approvers list` shows it',
} as const
const ARGS = {
  shape: { kind: 'boolean' },
  doc: 'messages carry the arguments, secrets masked; otherwise only the console shows them',
  default: false,
} as const

const WEBHOOK: Shape = {
  kind: 'object',
  noun: 'a webhook of approvals',
  fields: {
    url: {
      shape: text(2_048),
      doc: 'where pending approvals are posted',
      required: true,
      example: 'https://hooks.example.com/sluice',
    },
    secret: {
      shape: text(1_024),
      doc: 'signs the messages, at least 16 characters; give it by a variable. Required for `plain`',
      example: `$\{WEBHOOK_SECRET}`,
    },
    form: {
      shape: { kind: 'word', words: [...WEBHOOK_FORMS] },
      doc: '`plain` JSON, or a message in the format of `slack` or `teams`',
      default: 'plain',
    },
    approvers: {
      shape: { kind: 'list', of: text(128), max: MESSAGE_APPROVERS_MAX },
      doc: 'approvers whose links the message carries, one each',
      example: ['ann'],
    },
    args: ARGS,
  },
}

const EMAIL: Shape = {
  kind: 'object',
  noun: 'e-mail settings',
  fields: {
    host: {
      shape: text(256),
      doc: 'the mail server',
      required: true,
      example: 'mail.example.com',
    },
    port: {
      shape: { kind: 'integer', min: 1, max: 65_535 },
      doc: 'its port',
      unset: '587, or 465 with `tls: implicit`',
      example: 587,
    },
    tls: {
      shape: { kind: 'word', words: ['starttls', 'implicit', 'none'] },
      doc: '`starttls`, which must succeed; `implicit`; `none` only on this machine',
      default: 'starttls',
    },
    ca: {
      shape: text(4_096),
      doc: 'file with more certificates to trust',
      example: './mail-ca.pem',
    },
    user: { shape: text(256), doc: 'account at the mail server', example: 'sluice' },
    password: {
      shape: text(1_024),
      doc: 'its password; give it by a variable',
      example: `$\{MAIL_PASSWORD}`,
    },
    from: {
      shape: text(320),
      doc: 'the sender address',
      required: true,
      example: 'sluice@example.com',
    },
    to: {
      shape: { kind: 'record', keys: approverName, of: text(320) },
      doc: 'the address of each approver, by name: each gets a mail of their own',
      required: true,
      example: { ann: 'ann@example.com' },
    },
    args: ARGS,
  },
}

export const CHANNELS: Shape = {
  kind: 'object',
  noun: 'settings of approvals',
  fields: {
    webhook: { shape: WEBHOOK, doc: 'notifies a program or a chat if a rule names the channel' },
    email: { shape: EMAIL, doc: 'notifies approvers by e-mail if a rule names the channel' },
  },
}

export function readChannels(map: LocatedMap, values: ConfigValues): ChannelsConfig {
  const approvals = asMap(findEntry(map, 'approvals'))
  const webhook = findEntry(approvals, 'webhook')
  const email = findEntry(approvals, 'email')
  return {
    ...(webhook === undefined ? {} : { webhook: readWebhook(asMap(webhook), values) }),
    ...(email === undefined ? {} : { email: readEmail(asMap(email), values) }),
  }
}

function readWebhook(map: LocatedMap, values: ConfigValues): WebhookConfig {
  const urlNode = findEntry(map, 'url') as LocatedNode
  const secretNode = findEntry(map, 'secret')
  const url = values.text(urlNode)
  const secret = secretNode && values.text(secretNode)
  const form = (scalar(map, 'form') ?? 'plain') as WebhookForm
  // As it was written: what a variable holds may be a secret.
  if (!isSafeUrl(url))
    wrong(values, urlNode, `\`${written(urlNode)}\` is not an https address`, 'write `https://…`')
  if (form === 'plain' && secretNode === undefined)
    wrong(values, urlNode, 'a `plain` webhook needs a `secret`', SECRET_HELP)
  if (secretNode !== undefined && (secret ?? '').length < 16)
    wrong(values, secretNode, 'the secret is shorter than 16 characters', SECRET_HELP)
  return {
    url,
    ...(secret === undefined ? {} : { secret }),
    form,
    approvers: values.list(findEntry(map, 'approvers')),
    args: scalar(map, 'args') === true,
  }
}

const SECRET_HELP = 'make one with `openssl rand -hex 32`, and give it by a variable'
/** One mailbox and nothing else: no list, no comment, no second header. */
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

function readEmail(map: LocatedMap, values: ConfigValues): EmailConfig {
  const readString = (name: string) => values.member(map, name)
  const address = (node: LocatedNode): string => {
    const value = values.text(node)
    if (!ADDRESS.test(value))
      wrong(
        values,
        node,
        `\`${value}\` is not an address of one mailbox`,
        'write `ann@example.com`',
      )
    return value
  }
  const host = readString('host') ?? ''
  const tls = (scalar(map, 'tls') ?? 'starttls') as EmailConfig['tls']
  const [user, password] = [readString('user'), readString('password')]
  if (!/^[\w.:[\]-]{1,253}$/.test(host))
    wrong(
      values,
      findEntry(map, 'host') ?? map,
      `\`${host}\` is not a host`,
      'write `mail.example.com`',
    )
  if (tls === 'none' && !isLoopbackName(host))
    wrong(
      values,
      findEntry(map, 'tls') ?? map,
      `mails to \`${host}\` would go in the open`,
      '`none` is for this machine only: take `starttls` or `implicit`',
    )
  return {
    host,
    port: Number(scalar(map, 'port') ?? (tls === 'implicit' ? 465 : 587)),
    tls,
    ...readCa(findEntry(map, 'ca'), values),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    from: address(findEntry(map, 'from') as LocatedNode),
    to: Object.fromEntries(
      asMap(findEntry(map, 'to')).entries.map(({ key, value }) => [
        String(key.value),
        address(value),
      ]),
    ),
    args: scalar(map, 'args') === true,
  }
}

function readCa(node: LocatedNode | undefined, values: ConfigValues): { ca?: string } {
  const file = values.path(node)
  if (node === undefined || file === undefined) return {}
  try {
    return { ca: readFileSync(file, 'utf8') }
  } catch (error) {
    wrong(values, node, `\`${file}\`: ${(error as Error).message}`, 'name a file of certificates')
    return {}
  }
}

function written(node: LocatedNode): unknown {
  return node.kind === 'scalar' ? node.value : ''
}

function wrong(
  values: ConfigValues,
  { at }: Pick<LocatedNode, 'at'>,
  message: string,
  help: string,
) {
  values.problems.error('CONFIG_CHANNEL', at, message, help)
}
