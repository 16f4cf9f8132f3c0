// The tool definitions that the gate of a data directory has seen; none if it has never run.

import { readGateStore } from '@sluice/gateway/data/gate-store'
import { readKeptTools } from '@sluice/gateway/tools/stored-tools'
import { StoreError } from '@sluice/ledger/store/errors'
import type { KnownTool } from '@sluice/policy/calls/tools'

export function readSeenTools(data: string): KnownTool[] {
  try {
    return readGateStore(data, readKeptTools)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_MISSING') return []
    throw error
  }
}
