// The table of operations, and the parts of a running gate that they work on. Rows that only a running
// gate has (status, metrics, apply) are added by commands.ts.

import { OperationError } from '../core/operation-error.ts'
import { policyNames } from '../gateway/config/grants.ts'
import type { AdminParts, ClusterOperations, CommandParts } from '../gateway/start/run-admin.ts'
import { processClock } from '../store/process-clock.ts'
import { ApprovalNews } from './approval-news.ts'
import { APPROVAL_OPERATIONS } from './approvals.ts'
import { FREEZE_OPERATIONS } from './freeze.ts'
import { GRANT_OPERATIONS } from './grants.ts'
import type { Operation, OperationParts } from './operation.ts'
import { PEOPLE_OPERATIONS } from './people.ts'
import { PIN_OPERATIONS } from './pins.ts'
import { createServerOperations } from './servers.ts'
import { createPersonVerifier } from './verify-person.ts'

export const OPERATIONS: readonly Operation[] = [
  ...FREEZE_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  ...PIN_OPERATIONS,
]

export function toOperationParts(parts: AdminParts | CommandParts): OperationParts {
  const { config, freezes, gate, grants, ledger, people, pins, approvals } = parts
  let news: ApprovalNews | undefined
  return {
    people,
    ledger,
    freezes,
    grants,
    pins,
    nowMs: Date.now,
    prove: createPersonVerifier({ people, ledger, nowMs: processClock.nowMs }),
    tell: (what) => parts.log('warn', what),
    get servers() {
      return parts.servers.names
    },
    interrupt: () => gate.interrupt(),
    policies: policyNames(config),
    grantsChanged: () => parts.authenticator.grantsChanged(),
    toolsChanged: () => gate.policyChanged(),
    ...toClusterParts(parts.cluster),
    get traces() {
      if ('traces' in parts) return parts.traces
      throw new OperationError('recordings are for the command line', '`sluice traces list`')
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

function toClusterParts(cluster: ClusterOperations | undefined) {
  if (cluster === undefined) return {}
  const { directory, state } = cluster
  return {
    settle: () => state.settle(),
    beginChange: () => state.beginChange(),
    unconfirmed: () => directory.unconfirmed(state.version),
  }
}

/** Of a gate that was started from a file; another has no servers to change. */
export function createGateServerOperations(parts: AdminParts | CommandParts): readonly Operation[] {
  const { config, gate, ledger, parseConfig, servers } = parts
  if (parseConfig === undefined) return []
  return createServerOperations({
    file: config.file,
    parse: parseConfig,
    ledger,
    nowMs: Date.now,
    isOpenToApi: config.canApiChangeServers,
    running: { servers, gate },
  })
}
