// The tool definitions that the gate of a data directory has seen; none if it has never run.

import type { KnownTool } from '@sluice/policy/core/tools'
import { readGateStore } from '../../gateway/data/gate-store.ts'
import { readKeptTools } from '../../gateway/tools/stored-tools.ts'
import { StoreError } from '../../store/errors.ts'

export function readSeenTools(data: string): KnownTool[] {
  try {
    return readGateStore(data, readKeptTools)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_MISSING') return []
    throw error
  }
}
