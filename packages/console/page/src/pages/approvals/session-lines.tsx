// What a standing approval of command lines would do, by the lines that this session has asked about: those that
// would pass, and those that would ask. The gate reads all lines; the page shows its answer.

import { type JSX, useEffect, useState } from 'react'
import type { LinesView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { ErrorNotice, Loading } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'

/** Debounce of typing. */
const TYPING_MS = 200
const SHOWN_MAX = 8

/** `path`: where the gate reads the line of the form. */
export function LinesOfSession({ path }: { path: string }): JSX.Element {
  const [asked, setAsked] = useState(path)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(path), TYPING_MS)
    return () => clearTimeout(timer)
  }, [path])
  const { value, error, reload } = useResource<LinesView>(asked)
  // An answer about an earlier line must not stand beside this one.
  if (asked === path && error !== undefined) return <ErrorNotice error={error} again={reload} />
  if (asked !== path || value === undefined) return <Loading />
  if (value.fault !== null) return <p className="small bad">{value.fault}</p>
  return (
    <div className="stack small">
      <Lines title="Would pass" lines={value.passes} />
      <Lines title="Would ask" lines={value.asks} />
      <p className="muted">
        A program runs what its files say: who may write them decides what it does. Behind `*` any
        words may stand.
      </p>
    </div>
  )
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }): JSX.Element {
  return (
    <section aria-label={title}>
      {title}: {lines.length === 0 && 'none of this session so far'}
      {lines.slice(0, SHOWN_MAX).map((line) => (
        <UntrustedText key={line} text={line} className="mono code" />
      ))}
      {lines.length > SHOWN_MAX && ` and ${lines.length - SHOWN_MAX} more`}
    </section>
  )
}
