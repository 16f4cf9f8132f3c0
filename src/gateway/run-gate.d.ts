import { type CompiledPolicy } from '../policy/policy.ts'
import type { GateConfig } from './config.ts'
import type { Log } from './upstream/upstream.ts'
export interface RunningGate {
  readonly url: string
  /** Lets open calls finish, then ends everything. */
  stop(why: string): Promise<void>
}
export declare function runGate(
  config: GateConfig,
  policy: CompiledPolicy,
  policyText: string,
  log: Log,
): Promise<RunningGate>
