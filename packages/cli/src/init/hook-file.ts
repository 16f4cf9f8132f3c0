// Where a client of this user has its hooks. Apart from what reads them: most users have none.

import { join } from 'node:path'
import { CLIENT_NAMES, type HookClient } from '@sluice/gateway/hooks/hook-event'
import type { Machine } from './files/client-files.ts'

/** The folder with the settings of a client. */
export function hookFolder(client: HookClient, { home, environment }: HookMachine): string {
  const names = CLIENT_NAMES[client]
  return environment[names.home] || join(home, names.folder)
}

export function hookFile(client: HookClient, machine: HookMachine): string {
  return join(hookFolder(client, machine), CLIENT_NAMES[client].file)
}

type HookMachine = Pick<Machine, 'home' | 'environment'>
