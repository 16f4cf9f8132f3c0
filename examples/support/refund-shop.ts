// The shop whose agent asks by ACS: its policy, what its functions do, and what its model says.

import type { ScriptedMessage } from './start-model.ts'

export const SHOP_KEY = 'an example key of 32 bytes or more'

export const SHOP_POLICY = `
version: 1
default: deny
tools:
  shop/get_order: allow
  shop/delete_all: { action: deny, reason: nobody deletes all orders }
  shop/refund: { action: require_approval, reason: refunds need a person, approval: { wait: 1s } }
`
/** The parts of `sluice.yaml` that make the gate the guardian of this agent. */
export const SHOP_GATE = {
  servers: { shop: { builtin: 'acs' as const } },
  grants: { shop: { acs: 'shop', hmac_key: SHOP_KEY, policy: 'policy' } },
}

export const TASK = 'Refund 40 of order 7, and tidy up.'

/** One message with three calls: one is allowed, one denied, and one waits for a person. */
export const SCRIPT: readonly ScriptedMessage[] = [
  {
    calls: [
      { id: 'call_1', name: 'get_order', args: { order: 7 } },
      { id: 'call_2', name: 'delete_all', args: {} },
      { id: 'call_3', name: 'refund', args: { order: 7, amount: 40 } },
    ],
  },
  { text: 'Refunded.' },
]

export interface ShopFunction {
  readonly name: string
  readonly args: readonly string[]
}

export const FUNCTIONS: readonly ShopFunction[] = [
  { name: 'get_order', args: ['order'] },
  { name: 'delete_all', args: [] },
  { name: 'refund', args: ['order', 'amount'] },
]

/** The functions of the shop, which do nothing but note that they were called. */
export class Shop {
  readonly made: string[] = []

  make(name: string, args: unknown): string {
    this.made.push(`${name} ${JSON.stringify(args)}`)
    return `${name} done`
  }
}

/** Where a run has come to. */
export interface ShopRun<Saved> {
  /** What the run goes on from when the call that waits was decided; undefined if it has ended. */
  readonly saved: Saved | undefined
  /** What the model has read of the answers of its calls. */
  readonly answers: readonly string[]
  /** What the model said at last. */
  readonly text: string
}
