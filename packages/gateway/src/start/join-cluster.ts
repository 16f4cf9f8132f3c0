// Joins the gates that share a store, at the start of a gate, and connects what they share with the parts of
// this one: a change of another gate takes effect here before the next call is admitted.

import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { Ledger } from '@sluice/ledger/ledger'
import type { DecisionEntry } from '@sluice/ledger/records/record'
import type { AdmissionStore } from '@sluice/ledger/store/admission'
import { EmbeddedAdmissionStore } from '@sluice/ledger/store/memory/admission'
import type { MirroredRow } from '@sluice/ledger/store/sqlite/mirrored-tables'
import { overwriteDeleted } from '@sluice/ledger/store/sqlite/open'
import type { Counters, LimitUsage } from '@sluice/policy/calls/counters'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { GateConfig } from '../config/config.ts'
import { eraseDerived } from '../data/erase-derived.ts'
import { SharedAdmissionStore } from '../data/shared-admission.ts'
import { SHARED_GRANT_TABLES, SHARED_PEOPLE_TABLES } from '../data/shared-tables.ts'
import { clusterObjection } from '../state/cluster-objection.ts'
import type { CompiledDocuments } from '../state/documents.ts'
import type { OpenedApprovals } from './open-approvals.ts'
import type { OwnParts, SharedStore } from './open-shared-store.ts'
import type { AdminParts } from './run-admin.ts'

/** Joins the cluster. Without a shared store it returns undefined and loads nothing of it. */
export async function joinCluster(
  config: GateConfig,
  documents: CompiledDocuments,
  own: OwnParts,
): Promise<SharedStore | undefined> {
  const { cluster, clusterSettings } = config
  if (cluster === undefined) {
    if (clusterSettings === undefined) return undefined
    throw new OperationError(
      `\`${config.file}\` has \`cluster:\`, which does nothing without a shared store`,
      'add `store: postgres://…` or pass --store, or remove `cluster:`',
    )
  }
  const objection = clusterObjection(documents.policies.values())
  if (objection !== undefined)
    throw new OperationError(objection, 'see docs/concepts/scale.md for what gates share')
  const { SharedStore } = await import('./open-shared-store.ts')
  return SharedStore.open({ ...config, cluster }, own)
}

/** Says what gates with a shared store cannot enforce in these policies; undefined if they can enforce all. */
export function objectTo({ policies }: CompiledDocuments): string | undefined {
  return clusterObjection(policies.values())
}

export interface AdmissionParts {
  readonly counters: Counters & LimitUsage
  readonly approvals: OpenedApprovals
  readonly ledger: Ledger
}

/** Opens the admission of calls: by the shared store, or by the counters of this process and its ledger. */
export function openAdmission(
  shared: SharedStore | undefined,
  { approvals: { engine }, counters, ledger }: AdmissionParts,
): AdmissionStore<DecisionEntry> {
  if (shared === undefined)
    return new EmbeddedAdmissionStore({ counters, approvals: engine, log: ledger })
  shared.approvals = engine
  return new SharedAdmissionStore(shared.admission, engine)
}

export interface ClusterParts
  extends Pick<
      AdminParts,
      'freezes' | 'policies' | 'pins' | 'people' | 'grants' | 'gate' | 'names' | 'store'
    >,
    Pick<AdminParts, 'config' | 'url'> {
  readonly approvals: OpenedApprovals
  readonly authenticator: Pick<Authenticator, 'look'>
  readonly publicKey: string
  readonly isReady: () => boolean
}

export async function connectCluster(
  shared: SharedStore | undefined,
  parts: ClusterParts,
): Promise<void> {
  if (shared === undefined) return
  const { approvals, authenticator, freezes, gate, grants, people, pins, policies } = parts
  shared.watch(grants.file.database, SHARED_GRANT_TABLES)
  shared.watch(people.file.database, SHARED_PEOPLE_TABLES)
  const apply = (changed: ReadonlySet<string>, rows: readonly MirroredRow[]): void => {
    if (changed.has('documents')) policies.reloadStored()
    if (changed.has('freezes')) {
      freezes.reload()
      gate.interrupt()
    }
    const tools = rows.filter(({ kind }) => kind === 'pins' || kind === 'refusals')
    if (tools.length > 0 && pins.reload(tools.map(toToolName))) gate.policyChanged()
    if (changed.has('people') || changed.has('passkeys')) approvals.engine.peopleChanged()
    if (changed.has('grants')) {
      authenticator.look()
      gate.sessions.endUnheld()
    }
    if (changed.has('names')) {
      parts.names.reload()
      const isForgotten = ({ kind, body }: MirroredRow): boolean =>
        kind === 'names' && (body === null || JSON.parse(body).name === null)
      if (rows.some(isForgotten)) {
        eraseDerived(parts.config.data)
        const { database } = parts.names
        for (const one of [database, grants.file.database, people.file.database, parts.store])
          overwriteDeleted(one)
      }
    }
    const requests = rows.filter(({ kind }) => kind === 'approvals')
    if (requests.length > 0 || changed.has('approvals_standing'))
      approvals.engine.sharedChanged(requests.map(({ key }) => readKey(key)[0] ?? ''))
  }
  shared.state.onApplied((rows) => apply(new Set(rows.map(({ kind }) => kind)), rows))
  // Other gates may have changed something while this one was starting.
  pins.reload()
  gate.policyChanged()
  apply(new Set(['documents', 'freezes', 'grants', 'approvals_standing']), [])
  const { toGateReport } = await import('./open-shared-store.ts')
  const { config, publicKey } = parts
  await shared.begin(() =>
    toGateReport(config, { ok: parts.isReady(), url: parts.url(), publicKey }),
  )
}

/** Reads the name of a tool from the row itself, if there is one, because in its key a name ends at a NUL. */
function toToolName({ key, body }: MirroredRow): {
  readonly server: string
  readonly name: string
} {
  if (body !== null) return JSON.parse(body) as { readonly server: string; readonly name: string }
  const [server = '', name = ''] = readKey(key)
  return { server, name }
}

/** The key of a row is a list of SQL literals; here they are texts. */
function readKey(key: string): string[] {
  return (JSON.parse(key) as string[]).map((text) => text.slice(1, -1).replaceAll("''", "'"))
}
