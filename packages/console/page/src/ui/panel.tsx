// A part of a page in a frame, data that is fetched for it, and lists and tables of facts in it.

import type { JSX, ReactNode, Ref } from 'react'
import type { Resource } from '../resource.ts'
import { ErrorNotice, Loading } from './page.tsx'
import { UntrustedText } from './text.tsx'

interface PanelProps {
  /** Also its name for screen readers. */
  readonly title: string
  readonly isSmall?: boolean
  /** Beside the title. */
  readonly side?: ReactNode
  readonly ref?: Ref<HTMLElement>
  readonly children: ReactNode
}

export function Panel({ title, isSmall = false, side, ref, children }: PanelProps): JSX.Element {
  return (
    <section ref={ref} className="card card-body stack" aria-label={title}>
      <div className="row spread">
        <h2 className={isSmall ? 'small-head' : undefined}>{title}</h2>
        {side}
      </div>
      {children}
    </section>
  )
}

/** A part of what is shown, under its title. */
export function Part({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  return (
    <section className="stack part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** What was fetched; until then that it is awaited, or why it did not come. */
export function Loaded<Value>({
  of: { value, error, reload },
  children,
}: {
  of: Resource<Value>
  children: (value: Value) => ReactNode
}): JSX.Element {
  return (
    <>
      {error !== undefined && (
        <ErrorNotice error={error} again={error.status === 403 ? undefined : reload} />
      )}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && children(value)}
    </>
  )
}

interface FactsProps {
  readonly of: Readonly<Record<string, ReactNode>>
  readonly className?: string
}

/** Names and values. A fact whose value is undefined, null or false is left out. */
export function Facts({ of, className = 'facts' }: FactsProps): JSX.Element {
  const shown = Object.entries(of).filter(([, value]) => value != null && value !== false)
  return (
    <dl className={className}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>
            <UntrustedText text={name} />
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export interface DataColumn<Row> {
  /** Empty for a column of buttons. */
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: readonly (DataColumn<Row> | false)[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A table that is shown whole; at phone width each row is folded into a few lines. */
export function DataTable<Row>({ label, columns, rows, keyOf }: DataTableProps<Row>): JSX.Element {
  const shown = columns.filter((column) => column !== false)
  return (
    <div className="table-wrap">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {shown.map(({ head, className }) => (
              <th key={head} className={className}>
                {head === '' ? <span className="visually-hidden">Action</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ head, cell, className }) => (
                <td key={head} className={className} data-head={head || undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
