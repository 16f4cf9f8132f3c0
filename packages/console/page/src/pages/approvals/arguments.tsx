// The arguments of a pending approval in a readable form: one row each, texts as text over their
// lines, everything else as indented JSON. Exactly what will be sent, secrets masked.

import type { JSX } from 'react'
import { Facts } from '../../ui/panel.tsx'
import { FOLD_LENGTH, UntrustedText } from '../../ui/text.tsx'
import { parseMembers } from './members.ts'

/** Whether a value is long enough to be folded until it is expanded. */
export function hasLongValues(json: string): boolean {
  const members = parseMembers(json)
  if (members === undefined) return json.length > FOLD_LENGTH
  return members.some(([, value]) => formatValue(value).length > FOLD_LENGTH)
}

export function Arguments({ json, whole }: { json: string; whole: boolean }): JSX.Element {
  const members = parseMembers(json)
  if (members === undefined) return <Long text={json} whole={whole} />
  if (members.length === 0) return <p className="muted">It has no arguments.</p>
  return (
    <Facts
      className="facts mono framed"
      of={Object.fromEntries(
        members.map(([name, value]) => [name, <Value key={name} value={value} whole={whole} />]),
      )}
    />
  )
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** Folded or expanded, for all of them together. */
function Long({ text, whole }: { text: string; whole: boolean }): JSX.Element {
  const hidden = whole ? 0 : Math.max(0, text.length - FOLD_LENGTH)
  return (
    <div className="code">
      <UntrustedText text={hidden > 0 ? text.slice(0, FOLD_LENGTH) : text} />
      {hidden > 0 && `… (${hidden.toLocaleString('en')} more characters)`}
    </div>
  )
}

function Value({ value, whole }: { value: unknown; whole: boolean }): JSX.Element {
  if (typeof value === 'string') {
    if (value === '') return <span className="muted">empty text</span>
    const isBlock = value.length > 80 || value.includes('\n')
    return isBlock ? (
      <Long text={value} whole={whole} />
    ) : (
      <UntrustedText text={value} className="mono" />
    )
  }
  if (typeof value === 'object' && value !== null)
    return <Long text={formatValue(value)} whole={whole} />
  return <span className="mono strong">{String(value)}</span>
}
