// The approvals of a running gate: the engine on gate.db, with the ledger to record and to look back
// in. What was under way when an earlier gate ended is settled before anything is served.

import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { PriorCall } from '@sluice/access/approvals/approval'
import { ApprovalEngine } from '@sluice/access/approvals/engine'
import { BEFORE_MAX, BEFORE_RECORDS_MAX } from '@sluice/access/approvals/limits'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { approverCheck, type People } from '@sluice/access/identity/people/people'
import { openLedgerReadOnly, recordsBackwards } from '@sluice/ledger/chain/read'
import type { Ledger } from '@sluice/ledger/ledger'
import { processClock } from '@sluice/ledger/store/process-clock'
import { wrongArgs } from '../call/wait-options.ts'
import type { GateConfig } from '../config/config.ts'
import type { Log } from '../shared/log.ts'
import { Slices } from '../shared/slices.ts'
import type { SharedStore } from './open-shared-store.ts'
import { warnOfEarlierClock } from './warn-of-clock.ts'

export interface OpenedApprovals {
  readonly engine: ApprovalEngine
  end(): void
}

interface ApprovalParts {
  readonly data: string
  /** The shared store of the cluster. This gate does not recover an approval that a call of another gate has used. */
  readonly shared?: Pick<SharedStore, 'clockFault' | 'key'> | undefined
  readonly store: DatabaseSync
  readonly ledger: Ledger
  readonly log: Log
  readonly people: People
  readonly issuers: GateConfig['issuers']
  readonly nameSession: (session: string) => string
}

export function openApprovals(parts: ApprovalParts): OpenedApprovals {
  const { data, store, ledger, log, people, issuers, nameSession, shared } = parts
  const record = openLedgerReadOnly(data)
  try {
    warnOfEarlierClock(record, log)
    const engine = new ApprovalEngine({
      database: store,
      key: (shared?.key ?? InstallationKey.at(data)).derive('approvals', 32),
      ledger,
      before: (session) => beforeIn(record, session),
      nameSession,
      readArgs: wrongArgs,
      isApprover: approverCheck(people, issuers),
      onVerdict: (name, atMs) => people.correctAhead(name, atMs),
      nowMs: processClock.nowMs,
      wallMs: Date.now,
      clockFault: shared && (() => shared.clockFault),
      newId: () => randomBytes(6).toString('hex'),
      slices: () => new Slices(),
      warn: (message, why) => log('warn', message, { why }),
    })
    if (shared === undefined) engine.recover(record)
    // Somebody may have been removed while no gate ran.
    engine.peopleChanged()
    const end = (): void => {
      engine.close()
      record.close()
    }
    return { engine, end }
  } catch (error) {
    record.close()
    throw error
  }
}

/** The page of a request; a socket has none. */
export function approvalUrl(base: string | undefined, id: string): string | undefined {
  return base && `${base}/approvals/${id}`
}

/** Lists what the session did before, as far as the last records show. */
function beforeIn(record: DatabaseSync, session: string): PriorCall[] {
  const calls: PriorCall[] = []
  let read = 0
  for (const each of recordsBackwards(record)) {
    if (++read > BEFORE_RECORDS_MAX || calls.length >= BEFORE_MAX) break
    if ((each.kind !== 'intent' && each.kind !== 'refusal') || each.session !== session) continue
    const { atMs, server, method, name, decision } = each
    // What a server asks has no name.
    calls.push({ atMs, server, name: name === '' ? method : name, action: decision.action })
  }
  return calls.reverse()
}
