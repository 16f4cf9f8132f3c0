// Opens the record as the configuration says: signed with the key of the installation, its checkpoints
// sent to the second places. A record that is shorter or another than a second place remembers is not
// continued. Called when a gate starts.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey, type SigningKey } from '@sluice/access/identity/keys/signing-key'
import { lastCheckpoint } from '@sluice/ledger/chain/checkpoint-file'
import { checkAgainst } from '@sluice/ledger/chain/checkpointer'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import type {
  RemoteCheckpointStore,
  RemoteStoreConfig,
} from '@sluice/ledger/chain/remote-checkpoint-store'
import { Ledger, type LedgerState } from '@sluice/ledger/ledger'
import { LedgerError } from '@sluice/ledger/records/errors'
import { EntryHider } from '@sluice/ledger/records/hide-entry'
import type { Names } from '@sluice/ledger/records/names'
import type { SharedLog } from '@sluice/ledger/shared-log'
import type { GateConfig } from '../config/config.ts'
import type { Log } from '../shared/log.ts'

export interface OpenLedger {
  readonly ledger: Ledger
  /** Signs checkpoints. */
  readonly signer: SigningKey
  /** Says why checkpoints do not reach a second place; undefined if they do. */
  readonly why: () => string | undefined
  /** Writes what is waiting, and gives the last checkpoint time to arrive. */
  readonly close: () => Promise<void>
}

/** What the log says when the state of the ledger changes. */
const LEDGER_STATES: Readonly<Record<LedgerState, string>> = {
  writing: 'the ledger is written again',
  reserve: 'the disk is full: no call is forwarded, the ledger is written to its reserve',
  failing: 'the ledger cannot be written: no call is forwarded',
  closed: 'the ledger is closed',
}

/** For digests of arguments and names of counters in records. */
export function deriveRecordKey(key: InstallationKey): Buffer {
  return key.derive('records', 32)
}

/** What one gate of a cluster hides, another one finds: then the key is that of the cluster. */
export function createHider(key: InstallationKey, names: Names): EntryHider {
  return new EntryHider(deriveRecordKey(key), names)
}

interface LedgerParts {
  readonly hider: EntryHider
  readonly shared?: SharedLog | undefined
}

export async function openLedger(
  config: GateConfig,
  log: Log,
  { hider, shared }: LedgerParts,
): Promise<OpenLedger> {
  const { data, ledger: how } = config
  const signer = deriveSigningKey(InstallationKey.at(data))
  const places = await openPlaces(how.places, log)
  const ledger = Ledger.open({
    directory: data,
    sync: how.sync,
    hider,
    ...(shared === undefined ? {} : { shared }),
    onState: (state, fault) => {
      if (state === 'closed') return
      const level = state === 'writing' ? 'info' : 'error'
      log(level, LEDGER_STATES[state], { why: fault?.message ?? '' })
    },
    checkpoints: {
      signer,
      every: how.every,
      onCheckpoint: (checkpoint) => {
        for (const place of places) place.send(checkpoint)
      },
      onFault: (error) => log('error', 'no checkpoint could be made', { why: error.message }),
    },
  })
  const close = async (): Promise<void> => {
    ledger.close()
    await Promise.all(places.map((place) => place.close()))
  }
  try {
    for (const place of how.places)
      if (place.kind === 'file') compare(data, place.file, signer.publicKey, log)
  } catch (error) {
    await close()
    throw error
  }
  const why = () => {
    const failing = places.find((place) => place.why !== undefined)
    return failing && `checkpoints do not reach their second place: ${failing.why}`
  }
  return { ledger, signer, why, close }
}

/** Loaded only if there is one. */
async function openPlaces(
  places: readonly RemoteStoreConfig[],
  log: Log,
): Promise<RemoteCheckpointStore[]> {
  if (places.length === 0) return []
  const { RemoteCheckpointStore } = await import('@sluice/ledger/chain/remote-checkpoint-store')
  return places.map((place) => {
    const name = place.kind === 'file' ? place.file : place.kind
    const onState = (why: string | undefined) =>
      why === undefined
        ? log('info', `checkpoints reach their second place (${name}) again`)
        : log('error', `checkpoints do not reach their second place (${name})`, { why })
    return new RemoteCheckpointStore({ place, onState })
  })
}

/** An attacker who truncates the ledger and its checkpoints cannot truncate these. */
function compare(data: string, file: string, key: string, log: Log): void {
  const placed = lastCheckpoint(file)
  if (placed === undefined) return
  if (placed.checkpoint.key !== key)
    return log('warn', `${placed.where} is a checkpoint of another installation`, {
      key: placed.checkpoint.key,
    })
  using database = openLedgerReadOnly(data)
  try {
    checkAgainst(database, placed.checkpoint, placed.where)
  } catch (error) {
    const { message } = error as Error
    throw new LedgerError(
      'LEDGER_BROKEN',
      `${message}: if you have restored a backup, move that file aside and keep it`,
      '`sluice ledger verify --checkpoint` shows what is missing',
    )
  }
}
