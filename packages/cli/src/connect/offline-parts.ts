// What operations work on if no gate runs: the stores of a data directory, opened when an operation
// first needs them and closed behind it. For a command that holds the lock of the directory.

import type { DatabaseSync } from 'node:sqlite'
import { Grants } from '@sluice/access/identity/callers/grants'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { People } from '@sluice/access/identity/people/people'
import type { GateConfig } from '@sluice/gateway/config/config'
import { policyNames } from '@sluice/gateway/config/grants'
import { openGateStore } from '@sluice/gateway/data/gate-store'
import { createHider } from '@sluice/gateway/data/open-ledger'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import type { OperationParts, PolicyFiles, ServerFile } from '@sluice/gateway/operations/operation'
import { createPersonVerifier, type VerifyPerson } from '@sluice/gateway/operations/verify-person'
import { FreezeStore } from '@sluice/gateway/state/freezes'
import { Ledger } from '@sluice/ledger/ledger'
import { Names } from '@sluice/ledger/records/names'
import { OperationError } from '@sluice/policy/structures/operation-error'

export interface DataPlace {
  readonly data: string
  /** Names of the servers; undefined if only the directory is known. */
  readonly servers?: readonly string[]
  /** For operations on grants. */
  readonly config?: GateConfig
  /** For operations on servers. */
  readonly serverFile?: ServerFile
  /** For applying a policy. */
  readonly policyFiles?: (parts: OfflineParts) => PolicyFiles
}

export async function withOfflineParts<T>(
  place: DataPlace,
  work: (parts: OfflineParts & OperationParts) => Promise<T>,
): Promise<T> {
  const parts = new OfflineParts(place)
  try {
    return await work(parts as OfflineParts & OperationParts)
  } finally {
    parts.close()
  }
}

/** Everything but what `needsGate` is for. */
type DirectoryParts = Omit<
  OperationParts,
  'pins' | 'approvals' | 'authenticator' | 'gate' | 'news' | 'running'
>

export class OfflineParts implements DirectoryParts {
  readonly ledger: Ledger
  readonly people: People
  readonly names: Names
  readonly prove: VerifyPerson
  readonly nowMs = Date.now
  readonly record: OperationParts['record'] = (name, detail) =>
    this.ledger.event({ atMs: Date.now(), name, detail })
  readonly #place: DataPlace
  readonly #close: (() => void)[] = []
  #store: DatabaseSync | undefined
  #grants: Grants | undefined

  constructor(place: DataPlace) {
    this.#place = place
    if (isSharedCopy(place.data))
      throw new OperationError(
        `\`${place.data}\` is a copy of a shared store, and no gate runs on it`,
        'start the gate, or ask another gate of the cluster',
      )
    const names = new Names(place.data)
    this.#close.push(() => names.close())
    this.names = names
    this.ledger = this.#keep(
      Ledger.open({
        directory: place.data,
        hider: createHider(InstallationKey.at(place.data), names),
      }),
    )
    try {
      this.people = this.#keep(People.open(place.data))
    } catch (error) {
      this.close()
      throw error
    }
    const { people, ledger } = this
    this.prove = createPersonVerifier({ people, ledger, nowMs: Date.now })
  }

  get servers(): readonly string[] | undefined {
    return this.#place.servers
  }

  get store(): DatabaseSync {
    this.#store ??= this.#keep(openGateStore(this.#place.data))
    return this.#store
  }

  get freezes(): FreezeStore {
    return new FreezeStore(this.store)
  }

  get grants(): Grants {
    this.#grants ??= this.#keep(Grants.open(this.#place.data, this.#place.config?.grants ?? []))
    return this.#grants
  }

  get policies(): readonly string[] {
    return this.#place.config === undefined ? [] : policyNames(this.#place.config)
  }

  get data(): string {
    return this.#place.data
  }

  get serverFile(): ServerFile {
    return this.#place.serverFile as ServerFile
  }

  get policyFiles(): PolicyFiles {
    return this.#place.policyFiles?.(this) as PolicyFiles
  }

  interrupt(): number {
    return 0
  }

  announce(): void {}

  grantsChanged(): void {}

  toolsChanged(): void {}

  close(): void {
    for (const close of this.#close.splice(0).reverse()) close()
  }

  #keep<T extends { close(): void }>(opened: T): T {
    this.#close.push(() => opened.close())
    return opened
  }
}
