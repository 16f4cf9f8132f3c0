// The table of operations, and the parts of a running gate that they work on.

import { recordFirst } from '@sluice/ledger/record-first'
import { processClock } from '@sluice/ledger/store/process-clock'
import { OperationError, OutageError } from '@sluice/policy/structures/operation-error'
import { policyNames } from '../config/grants.ts'
import type { AdminParts, ClusterOperations, CommandParts } from '../start/run-admin.ts'
import { ApprovalNews } from './approval-news.ts'
import { APPROVAL_OPERATIONS } from './approvals.ts'
import { DECIDE_CALL } from './decide-call.ts'
import { FORGET_PERSON } from './forget-person.ts'
import { FREEZE_OPERATIONS } from './freeze.ts'
import { GRANT_OPERATIONS } from './grants.ts'
import { KEY_DIGESTS } from './key-digests.ts'
import type { Operation, OperationParts, ServerFile } from './operation.ts'
import { PEOPLE_OPERATIONS } from './people.ts'
import { PIN_OPERATIONS } from './pins.ts'
import { APPLY_POLICY } from './policy.ts'
import { SERVER_OPERATIONS } from './servers.ts'
import { SESSION_OPERATIONS } from './sessions.ts'
import { STATUS_OPERATIONS } from './status.ts'
import { TRACE_OPERATIONS } from './traces.ts'
import { TRUST_KEY } from './trust-key.ts'
import { UNDO_OPERATIONS } from './undo.ts'
import { createPersonVerifier } from './verify-person.ts'

export const OPERATIONS: readonly Operation[] = [
  DECIDE_CALL,
  KEY_DIGESTS,
  ...FREEZE_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  FORGET_PERSON,
  ...PIN_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...TRACE_OPERATIONS,
  APPLY_POLICY,
  TRUST_KEY,
  ...SERVER_OPERATIONS,
  ...UNDO_OPERATIONS,
]

export function toOperationParts(
  parts: AdminParts | CommandParts,
  lookup?: OperationParts['lookup'],
): OperationParts {
  const { authenticator, config, freezes, gate, grants, ledger, people, pins, approvals } = parts
  let news: ApprovalNews | undefined
  return {
    lookup,
    authenticator,
    gate,
    people,
    record: (name, detail) => recordFirst(ledger, { atMs: Date.now(), name, detail }),
    ledger,
    freezes,
    grants,
    pins,
    nowMs: Date.now,
    prove: createPersonVerifier({ people, ledger, nowMs: processClock.nowMs }),
    announce: (what) => parts.log('warn', what),
    get servers() {
      return parts.servers.names
    },
    interrupt: () => gate.interrupt(),
    policies: policyNames(config),
    grantsChanged: () => authenticator.grantsChanged(),
    toolsChanged: () => gate.policyChanged(),
    ...toClusterParts(parts.cluster),
    data: config.data,
    get serverFile() {
      return toServerFile(parts)
    },
    get policyFiles() {
      return this.running
    },
    get running() {
      if ('metrics' in parts) return parts
      throw new OperationError('this is for the command line', '`sluice help`')
    },
    get approvals() {
      if (approvals !== undefined) return approvals
      throw new OperationError('this gate holds no calls', 'start it again')
    },
    get news() {
      news ??= new ApprovalNews(this.approvals)
      return news
    },
  }
}

/** Undefined for a gate that shares no store. */
export function toClusterParts(
  cluster: ClusterOperations | undefined,
): Pick<OperationParts, 'settle' | 'beginChange' | 'unconfirmed'> {
  if (cluster === undefined) return {}
  const { directory, state } = cluster
  return {
    settle: () => state.settle(),
    beginChange: () => {
      const { fault } = cluster
      if (fault === undefined) return state.beginChange()
      throw new OutageError(`nothing is changed: ${fault}`, '`sluice status` says why')
    },
    unconfirmed: () => directory.unconfirmed(state.version),
  }
}

function toServerFile(parts: AdminParts | CommandParts): ServerFile {
  const { config, gate, parseConfig, servers } = parts
  if (parseConfig === undefined)
    throw new OperationError('this gate was not started from a file', 'it has no servers to change')
  const { file, canApiChangeServers: isOpenToApi } = config
  return { file, parse: parseConfig, isOpenToApi, running: { servers, gate } }
}
