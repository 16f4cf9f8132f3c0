// What `sluice scan --fail-on` looks for in the definitions of tools: those that a gate would hold, those that
// are not what the lock file pins, those of unknown class, those that destroy. Pure.

import { getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import type { Pin } from '@sluice/catalogue/pins/lock-file'
import { pinOf } from '@sluice/catalogue/pins/pin'
import { sha256 } from '@sluice/gateway/tools/pins'
import { withInstructions } from '@sluice/gateway/tools/stored-pins'
import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { getInstructions } from '../terminal/server-instructions.ts'

export const FINDING_KINDS = ['held', 'changed', 'unknown', 'destructive'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** Something that fails a scan. */
export interface ScanFinding {
  readonly kind: FindingKind
  readonly server: string
  readonly name: string
  readonly message: string
  /** What a person can do about it. */
  readonly help: string
  /** The line of the lock file that is about the tool. */
  readonly line?: number
}

export interface LockedPin extends Pin {
  readonly line: number
}

/** `pins`: those of the lock file; undefined if there is none. `ignore`: what pins leave out, as in the configuration. */
export function listFindings(
  tools: readonly ToolDefinition[],
  kinds: ReadonlySet<FindingKind>,
  pins: readonly LockedPin[] | undefined,
  ignore: readonly string[],
): ScanFinding[] {
  return tools.flatMap((definition) => {
    const { server, name } = definition
    const pin = pins?.find((one) => one.server === server && one.name === name)
    const isPinned = pin !== undefined && isAsPinned(definition, pin, ignore)
    const found: (Omit<ScanFinding, 'server' | 'name'> | undefined)[] = [
      // What a person has looked at and pinned is accepted, as by the gate.
      isPinned ? undefined : findHeld(definition),
      pins === undefined || isPinned ? undefined : describeChange(pin),
      findClass(definition),
    ]
    return found.flatMap((one) => (one && kinds.has(one.kind) ? { ...one, server, name } : []))
  })
}

/** A definition is pinned together with what its server says of itself: otherwise new instructions would pass. */
function isAsPinned(
  definition: ToolDefinition,
  { digest }: Pin,
  ignore: readonly string[],
): boolean {
  const said = ignore.includes('/instructions') ? undefined : getInstructions(definition)
  return pinOf(definition, sha256, { instructions: said ?? '', ignore }) === digest
}

function findHeld(definition: ToolDefinition) {
  const whole = withInstructions(definition, getInstructions(definition))
  const { severity, findings } = inspectDefinition(whole)
  if (severity !== 'refuse' && severity !== 'hold') return undefined
  const worst = findings.find((finding) => finding.severity === severity)
  const message = `a gate holds its definition: ${worst?.kind} at ${worst?.at}: ${worst?.text.slice(0, 120)}`
  return {
    kind: 'held',
    message,
    help: 'do not use the server, or report it to its maker',
  } as const
}

function describeChange(pin: LockedPin | undefined) {
  const help = 'look at the definition, and if you want it run `sluice pin` and commit sluice.lock'
  if (pin === undefined)
    return { kind: 'changed', message: 'sluice.lock has no such tool', help } as const
  const message = 'it, or the instructions of its server, is not what sluice.lock pins'
  return { kind: 'changed', message, help, line: pin.line } as const
}

function findClass(definition: ToolDefinition) {
  const { category, unknown } = getAssessment(definition)
  if (unknown)
    return {
      kind: 'unknown',
      message: `what it does is not certain, perhaps ${category}`,
      help: 'say what it is under `classify` of the policy, and leave `unknown` out of --fail-on',
    } as const
  if (category !== 'Destructive') return undefined
  const help = 'deny it or ask a person for it, and leave `destructive` out of --fail-on'
  return { kind: 'destructive', message: 'it destroys', help } as const
}
