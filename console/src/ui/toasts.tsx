// Short messages at the page's edge, announced by screen readers, removed after a timeout.

import { type JSX, useSyncExternalStore } from 'react'
import { toApiError } from '../api.ts'
import { Notice } from './page.tsx'
import { GateText } from './text.tsx'

const SHOWN_MS = 8_000

interface Toast {
  readonly id: number
  readonly kind: 'good' | 'bad'
  readonly text: string
}

let toasts: readonly Toast[] = []
let made = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

export function showToast(text: string, kind: Toast['kind'] = 'good'): void {
  const toast = { id: ++made, kind, text }
  change([...toasts.slice(-3), toast])
  setTimeout(() => change(toasts.filter(({ id }) => id !== toast.id)), SHOWN_MS)
}

export function complain(error: unknown): void {
  const { message, help } = toApiError(error)
  showToast(help === '' ? message : `${message}: ${help}`, 'bad')
}

export function Toasts(): JSX.Element {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <Notice key={id} kind={kind}>
          <GateText text={text} />
        </Notice>
      ))}
    </div>
  )
}
