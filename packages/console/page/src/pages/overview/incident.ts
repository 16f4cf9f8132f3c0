// What a session did after an alert, collected for the person who has to answer for it: what it read and sent, what was redacted
// and refused, what became of its held calls; and all of it as a report. Pure.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import { countEach } from '@sluice/policy/structures/count-each'
import type { CallRecord, SentAlertView } from '../../../../src/contract/contract.ts'

/** Tools by what they did, with how often. */
export type Incident = Readonly<
  Record<'Read' | 'Sent or changed' | 'Redacted' | 'Refused', string[]>
>

export function summarizeIncident(calls: readonly CallRecord[]): Incident {
  const passed = calls.filter(({ word }) => word === 'allow')
  const isRead = ({ category }: CallRecord) => category === 'Read'
  return {
    Read: countTools(passed.filter(isRead)),
    'Sent or changed': countTools(passed.filter((call) => !isRead(call))),
    Redacted: [...new Set(calls.flatMap(({ redacted }) => redacted))],
    Refused: countTools(calls.filter(({ word }) => word === 'deny' || word === 'limited')),
  }
}

function countTools(calls: readonly CallRecord[]): string[] {
  return [...countEach(calls.map(titleOfCall))].map(([title, times]) =>
    times === 1 ? title : `${title} (${times})`,
  )
}

export interface IncidentReport {
  readonly alert: SentAlertView
  readonly calls: readonly CallRecord[]
  /** No call is left out. */
  readonly isWhole: boolean
}

/** As Markdown, with times in UTC. Texts of strangers are in code spans, on one line. */
export function writeReport({ alert, calls, isWhole }: IncidentReport): string {
  const time = (ms: number) => new Date(ms).toISOString()
  const code = (text: string) => `\`${text.replace(/[\s`|]+/g, ' ').slice(0, 500)}\``
  const facts = alert.facts.map(({ name, value }) => `- ${name}: ${code(value)}`)
  const summary = Object.entries(summarizeIncident(calls)).map(
    ([name, list]) => `- ${name}: ${list.length === 0 ? 'nothing' : list.map(code).join(', ')}`,
  )
  const rows = calls.map((call) => {
    const { atMs, seq, word, approval, reason, labels, redacted } = call
    const notes = [
      approval === undefined ? '' : code(reason),
      ...labels,
      ...redacted.map((one) => `redacted ${one}`),
    ]
    const cells = [
      time(atMs),
      String(seq),
      word,
      code(titleOfCall(call)),
      notes.filter(Boolean).join('; '),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const { handled } = alert
  return [
    `# ${alert.title}`,
    '',
    `Alert ${alert.id}, ${time(alert.atMs)}${alert.gate === '' ? '' : `, gate ${alert.gate}`}.`,
    ...(handled === null
      ? []
      : [`Handled by ${handled.by}, ${time(handled.atMs)}: ${code(handled.note)}`]),
    '',
    ...facts,
    ...calls
      .slice(0, 1)
      .map(({ session, sessionName = session }) => `- Session: ${code(sessionName)}`),
    ...(alert.found === '' ? [] : [`- Words of the answer: ${code(alert.found)}`]),
    '',
    '## What the session did from there on',
    '',
    ...summary,
    '',
    ...(isWhole ? [] : [`The first ${calls.length} calls; the ledger has more.`, '']),
    '| time | record | decision | call | notes |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
