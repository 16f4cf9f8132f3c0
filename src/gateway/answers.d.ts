import type { Decision } from '../core/decision.ts'
import type { KnownTool } from '../core/tools.ts'
import type { Id } from '../wire/message.ts'
export declare function refusalAnswer(
  id: Id,
  method: string,
  name: string,
  decision: Decision,
  tool: KnownTool | undefined,
): string
/** A server's result without what only the gate may say; every other byte as it was. */
export declare function withoutOurNames(resultText: string): string
export declare function joinMembers(members: ReadonlyMap<string, string>): string
