// An approver of a gate that was just started, signed in to its console as `sluice console` does
// it.

import { askGate } from '../../packages/sluice/src/cli/connect/gate-socket.ts'

const PIN = '271828'

/** Sets the first PIN; later calls sign in with it. */
export async function firstPerson(data: string): Promise<void> {
  await askGate(data, { do: 'first-pin', name: 'ada', pin: PIN, at: 'a bench' })
}

/** The URL that signs a page in, once. */
export async function consoleAddress(data: string): Promise<string> {
  const opened = await askGate(data, { do: 'console', proof: { name: 'ada', pin: PIN } })
  return String(opened?.url)
}

export async function tokenOf(data: string): Promise<string> {
  const url = new URL(await consoleAddress(data))
  const code = new URLSearchParams(url.hash.slice(1)).get('code')
  const signedIn = await fetch(`${url.origin}/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const { token } = (await signedIn.json()) as { token: string }
  return token
}
