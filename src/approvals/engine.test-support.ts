// An engine on a store in memory with a ledger that only remembers, for tests that look at approvals
// from their door.

import { DatabaseSync } from 'node:sqlite'
import type { Person } from '../core/person.ts'
import type { Event } from '../ledger/record.ts'
import { ApprovalEngine } from './engine.ts'
import { APPROVAL_TABLES } from './schema.ts'

export class EngineBench {
  readonly database = new DatabaseSync(':memory:')
  readonly events: Event[] = []
  readonly warned: string[] = []
  nowMs = 1_000_000
  /** Set to make the ledger fail. */
  fault: string | undefined
  /** Names of whoever was removed. */
  readonly removed = new Set<string>()
  engine: ApprovalEngine
  #ids = 0

  constructor() {
    this.database.exec(APPROVAL_TABLES)
    this.engine = this.open()
  }

  /** As after a restart. */
  open(): ApprovalEngine {
    this.engine = new ApprovalEngine({
      database: this.database,
      key: Buffer.alloc(32, 7),
      ledger: {
        event: async (event) => {
          if (this.fault !== undefined) throw new Error(this.fault)
          return this.events.push(event)
        },
        figures: { seq: 0 },
      },
      before: () => [{ atMs: 5, server: 's', name: 'read', action: 'allow' }],
      readArgs: (text) => (text.startsWith('{') ? undefined : 'they are no object'),
      isApprover: (name) => !this.removed.has(name),
      nowMs: () => this.nowMs,
      newId: () => `r${++this.#ids}`,
      warn: (message, why) => void this.warned.push(`${message}: ${why}`),
    })
    return this.engine
  }

  get steps(): string[] {
    return this.events.map(({ name }) => name.replace('approval-', ''))
  }
}

export function person(name: string, more: Partial<Person> = {}): Person {
  return {
    ...{ name, kind: 'person', roles: ['approver'], groups: [], owns: [], proof: 'pin' },
    ...more,
  }
}
