// The clients with hooks that the gate knows, by the name that their server has in sluice.yaml. A client that is
// added here is known to `builtin`, `init --hooks`, `status` and `doctor`; CONTRIBUTING.md lists the places that
// protect its settings.

import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { CodingClient } from './coding-client.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'
import { vscode } from './vscode.ts'

export type HookClient =
  | 'claude-code'
  | 'codex'
  | 'copilot'
  | 'gemini'
  | 'opencode'
  | 'qwen'
  | 'vscode'
  | 'cursor'

/** What sends events: a client with hooks, or an agent by the Agent Control Standard (../../acs). */
export type HookSource = HookClient | 'acs'

export const CODING_CLIENTS: Readonly<Record<HookClient, CodingClient>> = {
  'claude-code': claudeCode,
  codex,
  copilot,
  gemini,
  opencode,
  qwen,
  vscode,
  cursor,
}

export const HOOK_CLIENTS: readonly HookClient[] = Object.keys(CODING_CLIENTS) as HookClient[]

export function isHookClient(name: unknown): name is HookClient {
  return typeof name === 'string' && Object.hasOwn(CODING_CLIENTS, name)
}
