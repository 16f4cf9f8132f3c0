// What the grants commands share: the configuration that says where they are kept and which policies
// they may name, and the store itself.

import { Grants } from '@sluice/access/identity/callers/grants'
import type { GateConfig } from '@sluice/gateway/config/config'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { type ConfigOptions, loadConfig } from '../connect/load-config.ts'
import type { DataPlace } from '../connect/offline-parts.ts'
import type { Output } from '../terminal/output.ts'

type GrantsPlace = DataPlace & { readonly config: GateConfig }

/** The data directory of the configuration, made if there is none yet: a grant may come before a gate. */
export function findGrants(options: ConfigOptions, output: Output): GrantsPlace {
  const config = loadConfig(options, output)
  makePrivateFolder(config.data)
  return { data: config.data, config }
}

/** Runs `work` on the grants of an installation and closes them, whatever happens. */
export function withGrants<T>(config: GateConfig, work: (grants: Grants) => T): T {
  const grants = Grants.open(config.data, config.grants)
  try {
    return work(grants)
  } finally {
    grants.close()
  }
}
