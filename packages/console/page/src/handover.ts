// Keeps a person signed in over a reload, and in further tabs of the same browser. The token is in memory
// alone: when a page is left it is stored for a moment, for the page that follows in this tab, and another tab
// gets it from one that is open.

import { attempt } from '@sluice/policy/structures/attempt'

const KEY = 'sluice-handover'
const CHANNEL = 'sluice-session'
/** A reload takes less; a tab that is restored later is signed in again. */
const HANDED_MS = 30_000
const ANSWER_MS = 200

export function startHandover(token: () => string | undefined): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.addEventListener('message', ({ data }) => {
    if (data === 'ask' && token() !== undefined) channel.postMessage({ token: token() })
  })
  addEventListener('pagehide', () => {
    if (token() === undefined) return
    store(JSON.stringify({ token: token(), atMs: Date.now() }))
  })
  // The browser may show the page again as it was.
  addEventListener('pageshow', () => store(undefined))
}

/** Of the page before in this tab, or of another tab. */
export async function takeToken(): Promise<string | undefined> {
  return takeStored() ?? (await askOtherTabs())
}

function takeStored(): string | undefined {
  const { token, atMs } = attempt(() => JSON.parse(sessionStorage.getItem(KEY) ?? '{}'), {})
  store(undefined)
  return typeof token === 'string' && Date.now() - atMs < HANDED_MS ? token : undefined
}

/** Storage may be disabled: then a reload asks for the passkey. */
function store(text: string | undefined): void {
  attempt(() =>
    text === undefined ? sessionStorage.removeItem(KEY) : sessionStorage.setItem(KEY, text),
  )
}

function askOtherTabs(): Promise<string | undefined> {
  const channel = new BroadcastChannel(CHANNEL)
  const answer = new Promise<string | undefined>((resolve) => {
    channel.addEventListener('message', ({ data }) => {
      if (typeof data?.token === 'string') resolve(data.token)
    })
    setTimeout(() => resolve(undefined), ANSWER_MS)
  })
  channel.postMessage('ask')
  return answer.finally(() => channel.close())
}
