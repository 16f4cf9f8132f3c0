// Records of the ledger as lines: for people, with colour on a terminal and what servers and agents
// named made printable. Used by the ledger commands.

import { timeText } from '@sluice/ledger/export/record-json'
import { describeChanges } from '@sluice/ledger/records/answer-changes'
import { findTarget, titleOfCall } from '@sluice/ledger/records/call-title'
import { describeEvent } from '@sluice/ledger/records/event-title'
import type { DecisionRecord, LedgerRecord, OutcomeRecord } from '@sluice/ledger/records/record'
import { shadowText } from '@sluice/ledger/records/shadow-text'
import { ACTION_STYLES, type Output, printable, type Style } from '../terminal/output.ts'

const NAME_WIDTH = 36
const GATE_WIDTH = 12

export function recordLine(record: LedgerRecord, output: Output, sessionName?: string): string {
  switch (record.kind) {
    case 'intent':
    case 'refusal':
      return callLine({ record, outcome: null, sessionName }, output)
    case 'outcome':
      return `${beginning(record, output)}  ${output.paint('dim', `  of ${record.intent}:`)} ${outcomeText(record, output)}`
    case 'event': {
      const detail = output.paint('dim', printable(describeEvent(record.detail, record.name)))
      return `${beginning(record, output)}  ${output.paint('cyan', printable(record.name))} ${detail}`
    }
  }
}

export interface CallLine {
  readonly record: DecisionRecord
  readonly outcome: OutcomeRecord | null
  /** The client as it calls itself. */
  readonly sessionName?: string | undefined
}

/** A call, its decision, what became of it and in whose session. */
export function callLine({ record, outcome, sessionName }: CallLine, output: Output): string {
  const { decision, principal, agent, server, method, name, category, unknown } = record
  const what =
    method === 'tools/call'
      ? titleOfCall({ ...record, ...findTarget(record) })
      : `${server} ${method} ${name}`
  const who = agent === null ? principal.id : `${principal.id} (${agent})`
  const end =
    record.kind === 'intent'
      ? outcome && outcomeText(outcome, output)
      : output.paint(
          'dim',
          `${decision.code}${decision.reason ? `: ${printable(decision.reason)}` : ''}`,
        )
  const shadow = shadowText(decision.shadow)
  return [
    beginning(record, output),
    output.paint(ACTION_STYLES[decision.action] ?? 'bold', decision.action.padEnd(5)),
    printable(what).padEnd(NAME_WIDTH),
    output.paint('dim', printable(who).padEnd(10)),
    end ?? '',
    unknown === true ? output.paint('dim', `unknown class, perhaps ${category}`) : '',
    shadow === '' ? '' : output.paint('magenta', printable(`shadow: ${shadow}`)),
    sessionName === undefined ? '' : output.paint('dim', printable(`session ${sessionName}`)),
  ]
    .filter((part) => part !== '')
    .join('  ')
    .trimEnd()
}

function beginning({ seq, atMs, gate }: LedgerRecord, output: Output): string {
  const place = gate === undefined ? '' : `${printable(gate).padEnd(GATE_WIDTH)} `
  return `${place}${String(seq).padStart(7)}  ${output.paint('dim', timeText(atMs))}`
}

function outcomeText(outcome: OutcomeRecord, output: Output): string {
  const { status, durationMs, bytes, errorCode } = outcome
  const style: Style = status === 'answered' ? 'green' : status === 'unknown' ? 'yellow' : 'red'
  const code = errorCode === null ? '' : ` ${errorCode}`
  const figures = `${Math.round(durationMs * 10) / 10} ms, ${bytes} bytes`
  const changed = describeChanges(outcome.changes)
  const changes = changed === '' ? '' : `, ${output.paint('yellow', printable(changed))}`
  return `${output.paint(style, status)}${code} ${output.paint('dim', figures)}${changes}`
}
