// Common parts of pages: the head, an empty state, notices and errors.

import type { JSX, ReactNode } from 'react'
import type { ApiError } from '../api.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'
import { GateText } from './text.tsx'

interface PageHeadProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly children?: ReactNode
}

export function PageHead({ title, lead, children }: PageHeadProps): JSX.Element {
  return (
    <header className="row page-head">
      <h1>{title}</h1>
      <span className="spacer" />
      {children}
      {lead !== undefined && <p className="full lead">{lead}</p>}
    </header>
  )
}

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  /** Beside the title. */
  readonly side?: ReactNode
  readonly children: ReactNode
}

/** A page whose content scrolls below its head. */
export function Page({ title, lead, side, children }: PageProps): JSX.Element {
  return (
    <div className="page">
      <PageHead title={title} lead={lead}>
        {side}
      </PageHead>
      <div className="scroll page-body stack">{children}</div>
    </div>
  )
}

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
}

export function Empty({ icon, title, children }: EmptyProps): JSX.Element {
  return (
    <div className="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

interface NoticeProps {
  readonly kind?: 'plain' | 'good' | 'warn' | 'bad'
  readonly children: ReactNode
}

export function Notice({ kind = 'plain', children }: NoticeProps): JSX.Element {
  const icon = { plain: 'info', good: 'allow', warn: 'warn', bad: 'deny' } as const
  return (
    <div className={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <Icon name={icon[kind]} />
      <div>{children}</div>
    </div>
  )
}

/** Gates share a store, and what others recorded may be missing. */
export function NotFollowed({ why }: { why: string }): JSX.Element {
  return (
    <Notice kind="warn">
      Records of other gates may be missing: <GateText text={why} />.
    </Notice>
  )
}

export interface ErrorNoticeProps {
  readonly error: ApiError
  readonly again?: (() => void) | undefined
}

export function ErrorNotice({ error, again }: ErrorNoticeProps): JSX.Element {
  return (
    <Notice kind="bad">
      <span className="strong">
        <GateText text={error.message} />
      </span>
      {error.help !== '' && (
        <div>
          <GateText text={error.help} />
        </div>
      )}
      {again !== undefined && (
        <div>
          <Button onPress={again}>Try again</Button>
        </div>
      )}
    </Notice>
  )
}

/** The shape of what is awaited: a head, and lines below it. */
export function Loading(): JSX.Element {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {['28%', '100%', '100%', '100%', '100%', '64%'].map((width, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never move
        <span key={at} style={{ width }} />
      ))}
    </div>
  )
}
