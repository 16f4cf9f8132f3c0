// An example of each rule of money: the tool that the rule is there for, and one that looks like it and is not meant.

import { describe, expect, test } from 'vitest'
import { gatherSignals } from './gather-signals.ts'
import type { MONEY_RULES } from './money-rules.ts'

interface Example {
  readonly server: string
  readonly name: string
  readonly description: string
  /** Names of arguments. */
  readonly takes?: readonly string[]
}

interface RuleExamples {
  readonly is: Example
  readonly isNot: Example
}

const EXAMPLES: Readonly<Record<keyof typeof MONEY_RULES, RuleExamples>> = {
  'spends on ads': {
    is: {
      server: 'media',
      name: 'create_campaign',
      description: 'Creates a campaign.',
      takes: ['daily_budget'],
    },
    isNot: {
      server: 'media',
      name: 'create_campaign',
      description: 'Creates a campaign.',
      takes: ['title'],
    },
  },
  'works on ads': {
    is: {
      server: 'media',
      name: 'update_ad',
      description: 'Changes the text of an ad.',
      takes: ['text'],
    },
    isNot: { server: 'media', name: 'get_ad', description: 'Shows an ad.', takes: ['text'] },
  },
  'runs a campaign': {
    is: {
      server: 'google-ads',
      name: 'resume_campaign',
      description: 'Resumes a campaign.',
      takes: ['id'],
    },
    isNot: {
      server: 'mail',
      name: 'resume_campaign',
      description: 'Resumes a campaign.',
      takes: ['id'],
    },
  },
  'places an order': {
    is: { server: 'desk', name: 'place_order', description: 'Places an order.', takes: ['id'] },
    isNot: {
      server: 'desk',
      name: 'place_order',
      description: 'Places an order on a testnet.',
      takes: ['id'],
    },
  },
  'buys what is sold': {
    is: { server: 'travel', name: 'book_flight', description: 'Books a flight.', takes: ['id'] },
    isNot: { server: 'travel', name: 'find_flight', description: 'Finds a flight.', takes: ['id'] },
  },
  'sets what is asked for': {
    is: {
      server: 'ebay',
      name: 'create_listing',
      description: 'Creates a listing.',
      takes: ['title'],
    },
    isNot: {
      server: 'notes',
      name: 'create_listing',
      description: 'Creates a listing.',
      takes: ['title'],
    },
  },
  'changes an order': {
    is: {
      server: 'shopify',
      name: 'update_order',
      description: 'Updates an order.',
      takes: ['id'],
    },
    isNot: {
      server: 'shopify',
      name: 'update_order_note',
      description: 'Updates the note of an order.',
      takes: ['id', 'note'],
    },
  },
  'tells of money': {
    is: { server: 'metrics', name: 'send', description: 'Sends the message.', takes: ['text'] },
    isNot: { server: 'chat', name: 'send', description: 'Sends the message.', takes: ['text'] },
  },
  'sets a price': {
    is: {
      server: 'warehouse',
      name: 'update_item',
      description: 'Sets the price of an item.',
      takes: ['id'],
    },
    isNot: {
      server: 'warehouse',
      name: 'update_item',
      description: 'Updates the colour of an item.',
      takes: ['id'],
    },
  },
  'changes a trade': {
    is: {
      server: 'desk',
      name: 'modify_position',
      description: 'Changes the stop-loss of a position.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'list_positions',
      description: 'Lists open positions.',
      takes: ['id'],
    },
  },
  'only annotates money': {
    is: {
      server: 'desk',
      name: 'update_payment_metadata',
      description: 'Updates the metadata of a payment.',
      takes: ['metadata'],
    },
    isNot: {
      server: 'desk',
      name: 'update_payment_metadata',
      description: 'Updates the metadata of a payment.',
      takes: ['metadata', 'amount'],
    },
  },
  'settles a dispute': {
    is: {
      server: 'desk',
      name: 'accept_dispute',
      description: 'Accepts a dispute.',
      takes: ['id'],
    },
    isNot: { server: 'desk', name: 'get_dispute', description: 'Shows a dispute.', takes: ['id'] },
  },
  'keeps books': {
    is: {
      server: 'desk',
      name: 'create_expense',
      description: 'Creates an expense.',
      takes: ['id'],
    },
    isNot: { server: 'desk', name: 'get_expense', description: 'Shows an expense.', takes: ['id'] },
  },
  'accepts a price': {
    is: { server: 'stripe', name: 'accept_quote', description: 'Accepts a quote.', takes: ['id'] },
    isNot: {
      server: 'notes',
      name: 'accept_quote',
      description: 'Accepts a quote.',
      takes: ['id'],
    },
  },
  'costs money': {
    is: {
      server: 'cloud',
      name: 'create_server',
      description: 'Creates a server. You will be charged by the hour.',
      takes: ['id'],
    },
    isNot: {
      server: 'cloud',
      name: 'create_server',
      description: 'Creates a server.',
      takes: ['id'],
    },
  },
  'books what was spent': {
    is: { server: 'xero', name: 'create_bill', description: 'Creates a bill.', takes: ['id'] },
    isNot: { server: 'xero', name: 'get_bill', description: 'Shows a bill.', takes: ['id'] },
  },
  'changes a subscription': {
    is: {
      server: 'desk',
      name: 'update_subscription',
      description: 'Changes a subscription.',
      takes: ['plan_id'],
    },
    isNot: {
      server: 'desk',
      name: 'get_subscription',
      description: 'Shows a subscription.',
      takes: ['plan_id'],
    },
  },
  'takes a payment back': {
    is: { server: 'desk', name: 'void_payment', description: 'Voids a payment.', takes: ['id'] },
    isNot: { server: 'desk', name: 'get_payment', description: 'Shows a payment.', takes: ['id'] },
  },
  'claims what was earned': {
    is: {
      server: 'chain',
      name: 'claim_rewards',
      description: 'Claims the rewards of a stake.',
      takes: ['id'],
    },
    isNot: {
      server: 'chain',
      name: 'list_rewards',
      description: 'Lists the rewards of a stake.',
      takes: ['id'],
    },
  },
  'moves an amount to somebody': {
    is: {
      server: 'desk',
      name: 'send_amount',
      description: 'Sends it.',
      takes: ['recipient', 'amount'],
    },
    isNot: { server: 'desk', name: 'send_amount', description: 'Sends it.', takes: ['amount'] },
  },
  'issues a token': {
    is: {
      server: 'chain',
      name: 'deploy_asset',
      description: 'Deploys an asset.',
      takes: ['total_supply'],
    },
    isNot: {
      server: 'chain',
      name: 'deploy_asset',
      description: 'Deploys an asset.',
      takes: ['id'],
    },
  },
  'sends a transaction': {
    is: {
      server: 'chain',
      name: 'broadcast_transaction',
      description: 'Broadcasts it.',
      takes: ['raw'],
    },
    isNot: { server: 'chain', name: 'get_transaction', description: 'Shows it.', takes: ['raw'] },
  },
  'takes a deal back': {
    is: {
      server: 'desk',
      name: 'delete_order',
      description: 'Deletes a pending order.',
      takes: ['id'],
    },
    isNot: { server: 'desk', name: 'delete_note', description: 'Deletes a note.', takes: ['id'] },
  },
  'opens a checkout': {
    is: {
      server: 'desk',
      name: 'create_checkout',
      description: 'Creates a checkout.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'get_checkout',
      description: 'Shows a checkout.',
      takes: ['id'],
    },
  },
  'settles a purchase': {
    is: { server: 'desk', name: 'cancel_order', description: 'Cancels an order.', takes: ['id'] },
    isNot: { server: 'desk', name: 'get_order', description: 'Shows an order.', takes: ['id'] },
  },
  'makes a purchase': {
    is: {
      server: 'desk',
      name: 'create_order',
      description: 'Creates an order of a buyer.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'create_order',
      description: 'Creates an order.',
      takes: ['id'],
    },
  },
  'makes or changes a booking': {
    is: {
      server: 'desk',
      name: 'create_reservation',
      description: 'Reserves a hotel room.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'create_reservation',
      description: 'Reserves a table.',
      takes: ['id'],
    },
  },
  'sets a rate': {
    is: {
      server: 'desk',
      name: 'update_rate',
      description: 'Changes the price of a night.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'update_rate',
      description: 'Changes how often it looks.',
      takes: ['id'],
    },
  },
  'takes goods back': {
    is: {
      server: 'desk',
      name: 'approve_return',
      description: 'Approves a return.',
      takes: ['id'],
    },
    isNot: { server: 'desk', name: 'get_return', description: 'Shows a return.', takes: ['id'] },
  },
  'ends a checkout': {
    is: {
      server: 'desk',
      name: 'deactivate_link',
      description: 'Deactivates a payment link.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'deactivate_link',
      description: 'Deactivates a link.',
      takes: ['id'],
    },
  },
  'checks out': {
    is: {
      server: 'desk',
      name: 'complete_basket',
      description: 'Completes the purchase.',
      takes: ['id'],
    },
    isNot: {
      server: 'desk',
      name: 'complete_basket',
      description: 'Completes the basket.',
      takes: ['id'],
    },
  },
}

function featuresOf({ server, name, description, takes = [] }: Example): string[] {
  const properties = Object.fromEntries(takes.map((one) => [one, { type: 'string' }]))
  const inputSchema = { type: 'object', properties }
  return gatherSignals({ server, name, description, inputSchema }).map(({ feature }) => feature)
}

describe.each(Object.entries(EXAMPLES))('%s', (rule, { is, isNot }) => {
  test(`${is.server}/${is.name}`, () => {
    expect(featuresOf(is)).toContain(rule)
  })

  test(`not ${isNot.server}/${isNot.name}`, () => {
    expect(featuresOf(isNot)).not.toContain(rule)
  })
})
