// A program that approves what is held, in place of a person with a PIN.

import { People } from '../../packages/access/src/identity/people/people.ts'

export class Approver {
  #token = ''

  /** What `sluice approvers add bot --token` does, which asks a person for a PIN. */
  readonly add = async (data: string): Promise<void> => {
    const people = People.open(data)
    const system = { name: 'bot', kind: 'system', roles: ['approver'] } as const
    const added = await people.add({ ...system, groups: [], owns: [] }, { token: true }, Date.now())
    this.#token = added.token ?? ''
    people.close()
  }

  /** Approves the one call that waits. */
  async approvePending(gateUrl: string): Promise<void> {
    const { requests } = await this.#ask(`${gateUrl}/api/approvals?states=pending`)
    const [request, ...others] = requests ?? []
    if (request === undefined || others.length > 0) throw new Error('not one call waits')
    await this.#ask(`${gateUrl}/api/approvals/${request.id}/verdict`, {
      method: 'POST',
      body: JSON.stringify({ verdict: 'approve', comment: '' }),
    })
  }

  async #ask(url: string, init: RequestInit = {}): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
    }
    const response = await fetch(url, { ...init, headers })
    if (!response.ok) throw new Error(`refused: ${await response.text()}`)
    return (await response.json()) as Answer
  }
}

interface Answer {
  readonly requests?: readonly { readonly id: string }[]
}
