// Whose counter of a limit it is: a session leads to its calls.

import type { JSX } from 'react'
import { formatQuery } from '../api.ts'
import { pathTo } from '../route.ts'
import { Link } from './button.tsx'
import { UntrustedText } from './text.tsx'
import { clock } from './words.ts'

/** The id of a session: whose it is, which one, and when it began. */
const SESSION = /^(.+)#\d+@(\d{13})$/

export function LimitOwner({ whose }: { whose: string }): JSX.Element {
  const [, caller, beganMs] = SESSION.exec(whose) ?? []
  if (caller === undefined)
    return <UntrustedText text={whose === '' ? 'everyone' : whose} className="muted" />
  return (
    <Link to={`${pathTo('ledger')}${formatQuery({ session: whose })}`}>
      <UntrustedText text={caller} /> (session since {clock(Number(beganMs))})
    </Link>
  )
}
