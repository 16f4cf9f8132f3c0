// The channels of approvals that the configuration names, given to the engine. Loaded only where there
// is one: most gates have none, and a mail client is large. Called when a gate starts.

import type { CreateApprovalLink } from '../../approvals/channels/approval-message.ts'
import type { Notifier } from '../../core/approval.ts'
import type { ChannelsConfig } from '../config/channels.ts'
import type { Log } from '../shared/log.ts'

/** Returns what ends them. */
export async function openChannels(
  { webhook, email }: ChannelsConfig,
  parts: {
    readonly add: (notifier: Notifier) => void
    readonly linkFor: CreateApprovalLink
    readonly log: Log
  },
): Promise<() => void> {
  const { add, linkFor, log } = parts
  if (webhook !== undefined) {
    const { WebhookNotifier } = await import('../../approvals/channels/webhook.ts')
    add(new WebhookNotifier(webhook, linkFor))
  }
  if (email === undefined) return () => {}
  const { EmailNotifier } = await import('../../approvals/channels/email.ts')
  const onFault = (approver: string, why: string) =>
    log('warn', `no mail could be sent to ${approver}`, { why })
  const notifier = new EmailNotifier(email, { linkFor, onFault })
  add(notifier)
  return () => notifier.close()
}
