// The arguments of a held call so that a person can read them: a row for each, texts as text over
// their lines, everything else as indented JSON. Exactly what will be sent, secrets masked.

import type { JSX } from 'react'
import { Said, SaidAtLength } from '../../ui/said.tsx'

export function Arguments({ json }: { json: string }): JSX.Element {
  if (json === '') return <p className="muted">They are not kept once it is decided.</p>
  const members = membersOf(json)
  if (members === undefined) return <SaidAtLength text={json} code />
  if (members.length === 0) return <p className="muted">It has no arguments.</p>
  return (
    <dl className="args">
      {members.map(([name, value]) => (
        <div key={name} className="arg">
          <dt>
            <Said text={name} className="mono" />
          </dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ value }: { value: unknown }): JSX.Element {
  if (typeof value === 'string') {
    if (value === '') return <span className="muted">empty text</span>
    const isBlock = value.length > 80 || value.includes('\n')
    return isBlock ? <SaidAtLength text={value} code /> : <Said text={value} className="mono" />
  }
  if (typeof value === 'object' && value !== null)
    return <SaidAtLength text={JSON.stringify(value, null, 2)} code />
  return <span className="mono strong">{String(value)}</span>
}

/** Numbers that no double holds keep their digits. */
export function membersOf(json: string): [string, unknown][] | undefined {
  try {
    const exact = JSON.parse(json, keepDigits) as unknown
    if (typeof exact !== 'object' || exact === null || Array.isArray(exact)) return undefined
    return Object.entries(exact)
  } catch {
    return undefined
  }
}

/** A number that a double does not hold is shown as it was written. */
function keepDigits(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source ? value : new Digits(context.source)
}

class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  toJSON(): unknown {
    const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON
    return raw === undefined ? this.text : raw(this.text)
  }
}
