// The inbox shared by the whole console: every pending approval, kept up to date by the gate's
// events. Notifies a user who looks away.

import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { get } from '../../api.ts'
import { SharedValue, useShared } from '../../shared-value.ts'
import { listen } from '../../stream.ts'
import { complain } from '../../ui/toasts.tsx'

const KEPT_MAX = 500

export interface Inbox {
  readonly requests: readonly ApprovalRequest[]
  readonly state: 'loading' | 'open' | 'lost'
  /** Why it is lost, if the gate reported a reason. */
  readonly why?: string | undefined
}

const inbox = new SharedValue<Inbox>({ requests: [], state: 'loading' })
let ending: (() => void) | undefined

function change(next: Partial<Inbox>): void {
  inbox.set({ ...inbox.get(), ...next })
}

/** The one with the least time left first. */
export function listPending({ requests }: Inbox): readonly ApprovalRequest[] {
  return requests
    .filter(({ state }) => state === 'pending')
    .sort((one, other) => one.expiresAtMs - other.expiresAtMs)
}

/** Started again with every sign-in. */
export function openInbox(): () => void {
  ending?.()
  change({ requests: [], state: 'loading' })
  // Events that arrive while the list is loading are newer than the list.
  let known: ApprovalRequest[] = []
  const load = () => {
    known = []
    return get<{ requests: ApprovalRequest[] }>('/approvals?states=pending').then(
      ({ requests }) => {
        change({ requests, state: 'open' })
        for (const request of known) upsertRequest(request)
      },
      () => change({ state: 'lost' }),
    )
  }
  ending = listen('/approvals/watch', {
    keeps: 'while seen or first',
    // What was missed between two streams is in the list.
    onState: (state, why) => (state === 'open' ? void load() : change({ state: 'lost', why })),
    onEvent: ({ data }) => {
      const request = JSON.parse(data) as ApprovalRequest
      known.push(request)
      upsertRequest(request)
    },
  })
  return ending
}

/** With those that are decided. */
export function loadDecided(): void {
  get<{ requests: ApprovalRequest[] }>('/approvals').then(({ requests }) => {
    const known = new Set(inbox.get().requests.map(({ id }) => id))
    const others = requests.filter(({ id }) => !known.has(id))
    change({ requests: [...inbox.get().requests, ...others].sort((a, b) => b.atMs - a.atMs) })
  }, complain)
}

export function upsertRequest(request: ApprovalRequest): void {
  const known = inbox.get().requests
  const before = known.find(({ id }) => id === request.id)
  const others = known.filter(({ id }) => id !== request.id)
  const requests = [request, ...others].sort((a, b) => b.atMs - a.atMs).slice(0, KEPT_MAX)
  change({ requests })
  if (before === undefined && request.state === 'pending') notifyBrowser(request)
}

/** Only names that the gate checked: a notification must not contain what a caller wrote. */
function notifyBrowser({ server, name, principal }: ApprovalRequest): void {
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted')
    return
  const plain = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
  new Notification('A call waits for you', {
    body: `${plain(server)}/${plain(name)}, asked by ${plain(principal.id)}`,
    tag: 'sluice-approval',
  })
}

export function useInbox(): Inbox {
  return useShared(inbox)
}
