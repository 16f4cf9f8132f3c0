// Short messages at the page's edge, announced by screen readers, removed after a timeout.

import type { JSX } from 'react'
import { toApiError } from '../api.ts'
import { SharedValue, useShared } from '../shared-value.ts'
import { Notice } from './page.tsx'
import { GateText } from './text.tsx'

const SHOWN_MS = 8_000

interface Toast {
  readonly id: number
  readonly kind: 'good' | 'bad'
  readonly text: string
}

const toasts = new SharedValue<readonly Toast[]>([])
let made = 0

export function showToast(text: string, kind: Toast['kind'] = 'good'): void {
  const toast = { id: ++made, kind, text }
  toasts.set([...toasts.get().slice(-3), toast])
  setTimeout(() => toasts.set(toasts.get().filter(({ id }) => id !== toast.id)), SHOWN_MS)
}

export function complain(error: unknown): void {
  const { message, help } = toApiError(error)
  showToast(help === '' ? message : `${message}: ${help}`, 'bad')
}

export function Toasts(): JSX.Element {
  const shown = useShared(toasts)
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
