// Where the configuration is if nobody names one: in the current folder, else the user's own, where
// `sluice init` put it.

import { existsSync } from 'node:fs'
import { findUserConfig } from '@sluice/gateway/config/user-folders'

/** What commands call the configuration if nobody names one. */
export const CONFIG = 'sluice.yaml'

/** Undefined if there is none. A folder with data of a gate has no other gate. */
export function findConfig(): string | undefined {
  if (existsSync(CONFIG)) return CONFIG
  return existsSync('./.sluice') ? undefined : findUserConfig(process.env)
}
