// An approver of a gate that was just started, signed in to its console as `sluice console` does
// it.

import { People } from '../../packages/access/src/identity/people/people.ts'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'

const PIN = '271828'

/** Sets the first PIN; later calls sign in with it. In the file: the gate takes it only from a terminal. */
export async function firstPerson(data: string): Promise<void> {
  const people = People.open(data)
  const ada = { name: 'ada', kind: 'person', roles: [...ROLES], groups: [], owns: [] } as const
  await people.setFirst(ada, PIN, Date.now())
  people.close()
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
