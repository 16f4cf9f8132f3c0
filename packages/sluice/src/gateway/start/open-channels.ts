// The channels of approvals that the configuration names, given to the engine. Loaded only if there
// is one: most gates have none, and a mail client is large. Called when a gate starts.

import type { CreateApprovalLink } from '../../approvals/channels/approval-message.ts'
import type { AlertChannel } from '../../core/alert.ts'
import type { Notifier } from '../../core/approval.ts'
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
    const { WebhookNotifier } = await import('../../approvals/channels/webhook.ts')
    channels.push(new WebhookNotifier(webhook, linkFor))
  }
  if (email !== undefined) {
    const { EmailNotifier } = await import('../../approvals/channels/email.ts')
    const onFault = (approver: string, why: string) =>
      log('warn', `no mail could be sent to ${approver}`, { why })
    const notifier = new EmailNotifier(email, { linkFor, onFault })
    channels.push(notifier)
    closing.defer(() => notifier.close())
  }
  for (const channel of channels) add(channel)
  return channels
}
