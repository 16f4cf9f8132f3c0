// Short messages at the page's edge, announced by screen readers, removed after a timeout. One may lead
// somewhere, or offer to take back what was done.

import type { JSX } from 'react'
import { toApiError } from '../api.ts'
import { SharedValue, useShared } from '../shared-value.ts'
import { Button, Link } from './button.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './page.tsx'
import { GateText } from './text.tsx'

const SHOWN_MS = 8_000

interface ToastOptions {
  readonly kind?: 'good' | 'bad'
  /** Where what it is about can be seen. */
  readonly to?: string
  readonly undo?: () => void
}

interface Toast extends ToastOptions {
  readonly id: number
  readonly text: string
}

const toasts = new SharedValue<readonly Toast[]>([])
let made = 0

export function showToast(text: string, options: ToastOptions = {}): void {
  const toast = { id: ++made, text: text.replace(/^[a-z]/, (one) => one.toUpperCase()), ...options }
  // What can be taken back stays until the next thing is done, or it is closed.
  const others = toasts.get().filter((one) => one.undo === undefined)
  toasts.set([...others.slice(-3), toast])
  if (options.undo === undefined) setTimeout(() => remove(toast.id), SHOWN_MS)
}

function remove(id: number): void {
  toasts.set(toasts.get().filter((one) => one.id !== id))
}

export function complain(error: unknown): void {
  const { message, help } = toApiError(error)
  showToast(help === '' ? message : `${message}: ${help}`, { kind: 'bad' })
}

export function Toasts(): JSX.Element {
  const shown = useShared(toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, kind = 'good', text, to, undo }) => (
        <Notice key={id} kind={kind}>
          <GateText text={text} /> {to !== undefined && <Link to={to}>Show</Link>}
          {undo !== undefined && (
            <Button
              onPress={() => {
                remove(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          {undo !== undefined && (
            <Button kind="quiet" icon aria-label="Close" onPress={() => remove(id)}>
              <Icon name="close" size={12} />
            </Button>
          )}
        </Notice>
      ))}
    </div>
  )
}
