// What handling one request needs of its session: the pipeline, who calls, and what the gate remembers
// of this client with this server.

import type { Facts } from '@sluice/policy/core/call'
import type { ProtocolGeneration } from '../../protocol/protocol-generation.ts'
import type { ClientElicitations } from '../session/client-elicitations.ts'
import type { KnownNames } from '../session/known-names.ts'
import type { SealedHandles } from '../session/sealed-handles.ts'
import type { SessionTasks } from '../session/session-tasks.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { Freeze } from '../state/freezes.ts'
import type { Admission, CallPipeline } from './call-request.ts'

export interface RequestContext {
  readonly spine: CallPipeline
  readonly era: ProtocolGeneration
  readonly server: string
  /** Who calls, and in which session; looked up again for every call. */
  readonly facts: () => Omit<Facts, 'tool'>
  /** What of this conversation is frozen. */
  readonly frozen: () => Freeze | undefined
  /** Whether this caller is told the rule and what is left. */
  readonly explain: () => boolean
  readonly lists: VisibleLists
  readonly names: KnownNames
  readonly tasks: SessionTasks
  readonly handles: SealedHandles
  /** What the gate itself asks a client with a session. */
  readonly questions: ClientElicitations
  /** A call of the client's was judged; and one was admitted. */
  readonly onAsked: () => void
  readonly onCall: () => void
  readonly record: (admission: Admission, startedMs: number, outcome: CallOutcome) => void
  readonly log: (text: string) => void
}
