// Notifies approvers of a pending request. Console and terminal always show every request; the
// other channels that the rules name are tried in order until one has notified someone. Attempts
// and failures are recorded in the ledger.

import type { Channel } from '@sluice/policy/calls/decision'
import type { ApprovalRequest, Notifier } from './approval.ts'
import { NOTIFY_MS_MAX, NOTIFYING_MAX } from './limits.ts'

export interface NotificationResult {
  readonly channels: readonly Channel[]
  /** Why it failed; undefined if someone was notified. */
  readonly fault?: string
}

export class ApproverNotifiers {
  readonly #notifiers = new Map<Channel, Notifier>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  add(notifier: Notifier): void {
    this.#notifiers.set(notifier.channel, notifier)
  }

  /** Reports each attempt, in order; console and terminal first, which show every request. */
  async notify(
    request: ApprovalRequest,
    onResult: (result: NotificationResult) => void,
  ): Promise<void> {
    onResult({ channels: INBOXES })
    for (const channel of listChannels(request)) {
      const notifier = this.#notifiers.get(channel)
      if (notifier === undefined) continue
      const fault = await this.#inTurn(() => attempt(notifier, request))
      onResult({ channels: [channel], ...(fault === undefined ? {} : { fault }) })
      if (fault === undefined) return
    }
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= NOTIFYING_MAX)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }
}

const INBOXES: readonly Channel[] = ['console', 'terminal']

/** Lists the channels of all requirements, each at its first position. */
function listChannels({ asks }: ApprovalRequest): Channel[] {
  const named = new Set(asks.flatMap(({ channels }) => channels))
  return [...named].filter((channel) => channel !== 'client' && !INBOXES.includes(channel))
}

async function attempt(notifier: Notifier, request: ApprovalRequest): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`nothing within ${NOTIFY_MS_MAX} ms`), NOTIFY_MS_MAX)
  })
  try {
    return await Promise.race([notifier.notify(request).then(() => undefined), late])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}
