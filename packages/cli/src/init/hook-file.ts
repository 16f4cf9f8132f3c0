// Where a client of this user has its hooks. Apart from what reads them: most users have none.

import { join } from 'node:path'
import { CODING_CLIENTS, type HookClient } from '@sluice/gateway/hooks/clients/table'
import type { Machine } from './files/client-files.ts'

/** The folder with the settings of a client. */
export function hookFolder(client: HookClient, { home, environment }: HookMachine): string {
  const { homeVariable = '', folder } = CODING_CLIENTS[client].settings
  return environment[homeVariable] || join(home, folder)
}

export function hookFile(client: HookClient, machine: HookMachine): string {
  return join(hookFolder(client, machine), CODING_CLIENTS[client].settings.file)
}

type HookMachine = Pick<Machine, 'home' | 'environment'>
