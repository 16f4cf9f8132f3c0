// The guardrails that `protect` stands for (protection-parts.json). They are ordinary guardrails, so that
// `explain`, `prove`, `coverage` and the comparison of documents need to know nothing of presets. `strict`
// contains `balanced`: going from one to the other only adds.

import type { ProtectionLevel } from '../calls/provenance.ts'
import { parseExpression } from '../expression/expression.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { STRICT_ANSWERS } from '../model/answer-rule.ts'
import { APPROVAL_DEFAULT, type Guardrail } from '../model/rule.ts'
import parts from './protection-parts.json' with { type: 'json' }

/** One guardrail of a preset, with what it stops and what it costs. */
export interface ProtectionPart {
  readonly level: ProtectionLevel
  readonly name: string
  readonly when: string
  readonly stops: string
  readonly costs: string
  /** What this part alone achieves on the suite of docs/benchmarks/flows.md: how many of 223 plain and encoded
   * attacks it stops, and how many of 50 tasks it touches; with the prompt known, and without. */
  readonly measured: string
}

/** What `strict` does to answers, as a document would write it. */
export interface ProtectionAnswers extends Pick<ProtectionPart, 'stops' | 'costs'> {
  readonly redact: readonly string[]
  readonly links: readonly string[]
}

export const PROTECTION_PARTS: readonly ProtectionPart[] = parts.map((part) => ({
  ...part,
  level: part.level as ProtectionLevel,
  measured: describeMeasured(part.measured),
}))

/** Shares of plain and of encoded attacks that are stopped, in percent, and tasks that are touched. */
function describeMeasured({ known, unknown }: (typeof parts)[number]['measured']): string {
  const [one, other] = [known, unknown].map(
    ([plain, encoded, touched]) =>
      `${plain} % of plain and ${encoded} % of encoded attacks, touches ${touched} of 50 tasks`,
  )
  return `alone it stops ${one}; without the prompt ${other}`
}

/** Undefined: `balanced` leaves answers as they are. */
export function describeProtectionAnswers(level: ProtectionLevel): ProtectionAnswers | undefined {
  if (level === 'balanced') return undefined
  const { redact, links = [] } = STRICT_ANSWERS
  return {
    redact,
    links,
    stops:
      'keys and card numbers that a model would read and could pass on; links and images that send',
    costs: 'an agent cannot edit a file that holds a key, nor follow a link in Markdown',
  }
}

const NO_LABELS: ReadonlySet<string> = new Set()

export function listProtectionParts(level: ProtectionLevel): ProtectionPart[] {
  return PROTECTION_PARTS.filter((part) => level === 'strict' || part.level === 'balanced')
}

/** `at`: if the document says `protect`. */
export function buildProtectionGuardrails(level: ProtectionLevel, at: number): Guardrail[] {
  return listProtectionParts(level).map(({ name, when }) => ({
    // Below the key, which is a word: pointers are unique.
    pointer: `/protect/${when.slice('call.'.length)}`,
    at,
    reason: '',
    when: { expression: parseExpression(when, NO_LABELS), placeOf: () => at },
    limits: [],
    approval: APPROVAL_DEFAULT,
    extraArgs: true,
    shadow: false,
    name,
    action: 'require_approval',
    match: { methods: [TOOL_CALL] },
  }))
}
