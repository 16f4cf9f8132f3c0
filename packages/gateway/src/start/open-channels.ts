// The channels of approvals that the configuration names, given to the engine. Loaded only if there
// is one: most gates have none, and a mail client is large. Called when a gate starts.

import type { AlertChannel } from '@sluice/access/approvals/alert'
import type { Notifier } from '@sluice/access/approvals/approval'
import type { CreateApprovalLink } from '@sluice/access/approvals/channels/approval-message'
import type { ChannelsConfig } from '../config/channels.ts'
import type { Log } from '../shared/log.ts'

/** Alerts go out on the same ones. */
export async function openChannels(
  { webhook, email }: ChannelsConfig,
  parts: {
    readonly add: (notifier: Notifier) => void
    readonly linkFor: CreateApprovalLink
    readonly log: Log
  },
  closing: AsyncDisposableStack,
): Promise<AlertChannel[]> {
  const { add, linkFor, log } = parts
  const channels: (Notifier & AlertChannel)[] = []
  if (webhook !== undefined) {
    const { WebhookNotifier } = await import('@sluice/access/approvals/channels/webhook')
    channels.push(new WebhookNotifier(webhook, linkFor))
  }
  if (email !== undefined) {
    const { EmailNotifier } = await import('@sluice/access/approvals/channels/email')
    const onFault = (approver: string, why: string) =>
      log('warn', `no mail could be sent to ${approver}`, { why })
    const notifier = new EmailNotifier(email, { linkFor, onFault })
    channels.push(notifier)
    closing.defer(() => notifier.close())
  }
  for (const channel of channels) add(channel)
  return channels
}
