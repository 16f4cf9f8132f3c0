// Why no further request for approval is accepted: people can read only so many. Used by engine.ts.

import type { ApprovalSubmission } from './approval-submission.ts'
import {
  ARGS_LENGTH_MAX,
  DENIALS_MAX,
  OPEN_MAX,
  OPEN_PER_SESSION_MAX,
  OPEN_PER_TOOL_MAX,
} from './limits.ts'

/** Pending requests that count against a further one. */
export interface OpenRequests {
  readonly every: number
  readonly session: number
  /** How many requests of the session are for the same tool, or for lines that start the same if it takes
   * command lines. */
  readonly alike: number
  /** What these have in common; undefined: the tool. */
  readonly start: string | undefined
}

export function whyFull(
  { args, rest }: ApprovalSubmission,
  open: OpenRequests,
  isBarred: boolean,
): { readonly why: string; readonly barred: boolean } | undefined {
  if (isBarred)
    return { why: `people denied it ${DENIALS_MAX} times in this session`, barred: true }
  const no = (why: string) => ({ why, barred: false })
  if (args.length + rest.length > ARGS_LENGTH_MAX)
    return no(`it has more than ${ARGS_LENGTH_MAX} characters, too many to show to a person`)
  if (open.alike >= OPEN_PER_TOOL_MAX) {
    const kind = open.start === undefined ? 'this tool' : `\`${open.start}\``
    return no(`${open.alike} calls of ${kind} are pending approval in this session already`)
  }
  if (open.session >= OPEN_PER_SESSION_MAX)
    return no(`${open.session} calls of this session are pending approval already`)
  if (open.every >= OPEN_MAX) return no(`${open.every} calls are pending approval already`)
  return undefined
}
