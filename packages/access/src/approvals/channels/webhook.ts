// Notifies people, or a program, of a pending approval by a webhook: signed, retried, with the same
// id each time. The message carries no authority: its recipient still has to authenticate. Created
// by the gate from `approvals: { webhook }`.

import { deliverWebhook } from '@sluice/ledger/chain/deliver-webhook'
import type { AlertChannel, SentAlert } from '../alert.ts'
import type { ApprovalRequest, Notifier } from '../approval.ts'
import { buildAlertBody } from './alert-message.ts'
import { type CreateApprovalLink, composeMessage, linksFor } from './approval-message.ts'
import {
  TELLING_MS_MAX,
  WEBHOOK_FIRST_PAUSE_MS,
  WEBHOOK_TRIES_MAX,
  WEBHOOK_TRY_MS_MAX,
} from './limits.ts'
import { buildWebhookBody, type WebhookForm } from './message-forms.ts'

export interface WebhookConfig {
  readonly url: string
  /** The key of the signature; undefined for chats, whose URL is the secret. */
  readonly secret?: string
  readonly form: WebhookForm
  /** Approvers whose links the message contains. */
  readonly approvers: readonly string[]
  /** Whether arguments are included, secrets masked. */
  readonly args: boolean
}

export interface WebhookTimes {
  readonly tryMs?: number
  readonly firstPauseMs?: number
  readonly allMs?: number
}

export class WebhookNotifier implements Notifier, AlertChannel {
  readonly channel = 'webhook'
  readonly #config: WebhookConfig
  readonly #linkFor: CreateApprovalLink
  readonly #times: WebhookTimes

  constructor(config: WebhookConfig, linkFor: CreateApprovalLink, times: WebhookTimes = {}) {
    this.#config = config
    this.#linkFor = linkFor
    this.#times = times
  }

  async notify(request: ApprovalRequest): Promise<void> {
    const { form, approvers, args } = this.#config
    const message = composeMessage(request, linksFor(request, approvers, this.#linkFor), args)
    await this.#deliver(`approval-${request.id}`, buildWebhookBody(form, message, request))
  }

  async alert(alert: SentAlert): Promise<void> {
    const id = `alert-${alert.id}${alert.overAtMs === undefined ? '' : '-over'}`
    await this.#deliver(id, buildAlertBody(this.#config.form, alert))
  }

  async #deliver(id: string, body: string): Promise<void> {
    const { url, secret } = this.#config
    const { tryMs, firstPauseMs, allMs } = this.#times
    const endpoint = { url, ...(secret === undefined ? {} : { secret }) }
    await deliverWebhook(
      endpoint,
      { id, body },
      {
        triesMax: WEBHOOK_TRIES_MAX,
        timeoutMs: tryMs ?? WEBHOOK_TRY_MS_MAX,
        firstPauseMs: firstPauseMs ?? WEBHOOK_FIRST_PAUSE_MS,
        signal: AbortSignal.timeout(allMs ?? TELLING_MS_MAX),
      },
    )
  }
}
