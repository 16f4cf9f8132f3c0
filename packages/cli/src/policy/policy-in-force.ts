// Whether the policy files of a configuration are in force: as the running gate says, after it has read them
// again; if none runs, by what was in force last. For `policy check`, `enforce` and `doctor`.

import type { GateConfig } from '@sluice/gateway/config/config'
import { readGateStore } from '@sluice/gateway/data/gate-store'
import { APPLY_POLICY } from '@sluice/gateway/operations/policy'
import { compileDocuments, readDocuments } from '@sluice/gateway/state/documents'
import { findWaiting } from '@sluice/gateway/state/policies'
import { readStoredDocuments } from '@sluice/gateway/state/stored-documents'
import { attempt } from '@sluice/policy/structures/attempt'
import { type JsonObject, listObjects } from '@sluice/policy/values/json'
import { askIfRunning } from '../connect/ask-operation.ts'
import { GATE_STATUS_MS_MAX } from '../terminal/limits.ts'

export interface PolicyInForce {
  /** Why the files are not in force; undefined if they are. */
  readonly why?: string
  /** The documents in force at the running gate; undefined if none runs. */
  readonly documents?: readonly JsonObject[]
}

export async function readPolicyInForce(
  config: GateConfig,
  waitMs = GATE_STATUS_MS_MAX,
): Promise<PolicyInForce> {
  const seen = (await askIfRunning(config.data, APPLY_POLICY, { waitMs })) as JsonObject | undefined
  if (seen !== undefined) {
    const why = String(seen.why ?? '')
    return { ...(why === '' ? {} : { why }), documents: listObjects(seen.documents) }
  }
  const stored = readStored(config.data)
  const { compiled } = compileDocuments(readDocuments(config), Object.keys(config.servers))
  const why = stored && compiled && findWaiting(compiled, stored)
  return why === undefined ? {} : { why }
}

/** For a command that only adds it to what it says: a gate that does not answer is no failure. */
export async function explainNotInForce(config: GateConfig): Promise<string | undefined> {
  const inForce = readPolicyInForce(config).catch(({ message }: Error) => ({ why: message }))
  return (await inForce).why
}

/** Undefined if no gate has run with this directory. */
function readStored(data: string) {
  return attempt(() => readGateStore(data, readStoredDocuments))
}
