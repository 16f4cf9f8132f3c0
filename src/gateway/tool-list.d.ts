import type { Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { KnownTool } from '../core/tools.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { Answer } from '../wire/message.ts'
import type { KnownTools } from './known-tools.ts'
export interface ToolListContext {
  readonly server: string
  readonly known: KnownTools
  readonly policy: () => CompiledPolicy
  readonly now: () => Instant
  /** Asks the server, as the gate. */
  readonly ask: (
    method: string,
    params: {
      cursor?: string
    },
  ) => Promise<Answer>
}
export declare class ToolList {
  #private
  constructor(context: ToolListContext)
  find(name: string): Promise<KnownTool | undefined>
  /** The server said its tools have changed: what was known is asked for again. */
  forget(): void
  /** A `tools/list` result with what this caller may see; definitions as they were written. */
  filter(resultText: string, facts: Omit<Facts, 'tool'>): string
}
