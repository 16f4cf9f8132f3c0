// An engine on an in-memory store with a ledger that only remembers, for tests of approvals.

import { DatabaseSync } from 'node:sqlite'
import type { GateEvent } from '@sluice/ledger/records/record'
import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import { onTestFinished } from 'vitest'
import type { Person } from '../identity/person.ts'
import type { ApprovalSubmission } from './approval-submission.ts'
import type { WorkSlices } from './deferred-changes.ts'
import { ApprovalEngine } from './engine.ts'
import {
  APPROVAL_INDEXES,
  APPROVAL_OF_UNKNOWN,
  APPROVAL_SESSION_NAME,
  APPROVAL_TABLES,
} from './schema.ts'

export class EngineBench {
  readonly database = new DatabaseSync(':memory:')
  readonly events: GateEvent[] = []
  readonly warned: string[] = []
  nowMs = 1_000_000
  /** Set to make the ledger fail. */
  fault: string | undefined
  /** Set to make the ledger slow with requests that are made. */
  untilProposed: Promise<void> | undefined
  /** Endless unless a test sets others. */
  slices: WorkSlices = { isOver: false, next: async () => {} }
  /** Names of removed approvers. */
  readonly removed = new Set<string>()
  engine: ApprovalEngine
  #ids = 0

  constructor() {
    this.database.exec(APPROVAL_TABLES + APPROVAL_OF_UNKNOWN + APPROVAL_SESSION_NAME)
    this.database.exec(APPROVAL_INDEXES)
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
          if (event.name === 'approval-proposed') await this.untilProposed
          return this.events.push(event)
        },
        figures: { seq: 0 },
      },
      before: () => [{ atMs: 5, server: 's', name: 'read', action: 'allow' }],
      readArgs: (text) => (text.startsWith('{') ? undefined : 'they are not an object'),
      isApprover: (name) => !this.removed.has(name),
      nowMs: () => this.nowMs,
      wallMs: () => this.nowMs,
      newId: () => `r${++this.#ids}`,
      slices: () => this.slices,
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
    name,
    kind: 'person',
    roles: ['approver'],
    groups: [],
    owns: [],
    proof: 'pin',
    ...more,
  }
}

export const ASK: ApprovalRequirement = {
  rule: '/tools/s~1pay',
  reason: 'money',
  timeoutMs: 60_000,
  waitMs: 1_000,
  approvers: [],
  quorum: 1,
  channels: ['console', 'terminal', 'webhook', 'email'],
  separateDuties: false,
  editArgs: false,
  says: 'rule',
}

export function makeCall(args: string, more: Partial<ApprovalSubmission> = {}): ApprovalSubmission {
  return {
    callId: 'c1',
    principal: { id: 'local', kind: 'local' },
    agent: null,
    session: 'x',
    server: 's',
    method: 'tools/call',
    name: 'pay',
    category: 'Write',
    risk: 'low',
    pin: 'pin',
    rest: '{"name":"pay"}',
    args,
    asks: [ASK],
    ...more,
  }
}

export const asking = (more: Partial<ApprovalRequirement>) => ({ asks: [{ ...ASK, ...more }] })

/** The id of the pending request for this call. */
export async function proposed(b: EngineBench, call: ApprovalSubmission): Promise<string> {
  const hold = await b.engine.ask(call)
  if (hold.is !== 'pending') throw new Error(`it is ${hold.is}`)
  return hold.id
}

export const ada = person('ada', { groups: ['finance'] })
export const bob = person('bob', { groups: ['ops'] })
export const yes = { verdict: 'approve' } as const

/** Closed after the test. */
export function bench(): EngineBench {
  const made = new EngineBench()
  onTestFinished(() => made.engine.close())
  return made
}
