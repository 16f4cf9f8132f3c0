// Where a client of this user has its hooks. Apart from what reads them: most users have none.

import { join } from 'node:path'
import type { HookClient } from '../hooks/hook-event.ts'

interface HookMachine {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Where each client has its hooks. */
export function hookFile(client: HookClient, { home, environment }: HookMachine): string {
  const { CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME } = environment
  if (client === 'claude-code')
    return join(CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json')
  if (client === 'codex') return join(CODEX_HOME || join(home, '.codex'), 'hooks.json')
  if (client === 'copilot')
    return join(COPILOT_HOME || join(home, '.copilot'), 'hooks', 'sluice.json')
  return join(home, '.gemini', 'settings.json')
}
