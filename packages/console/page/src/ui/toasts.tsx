// Short messages at the page's edge: announced, removed after a time that stops under the pointer and the focus. One may
// lead somewhere, or offer to take back what was done.

import type { JSX } from 'react'
import {
  Button as AriaButton,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast'
import { toApiError } from '../api.ts'
import { Button, Link } from './button.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './page.tsx'
import { GateText } from './text.tsx'

const SHOWN_MS = 8_000
const SHOWN_MAX = 4

interface ToastOptions {
  readonly kind?: 'good' | 'plain' | 'bad'
  /** Where what it is about can be seen. */
  readonly to?: string
  readonly undo?: () => void
}

interface Message extends ToastOptions {
  readonly text: string
}

const queue = new ToastQueue<Message>({ maxVisibleToasts: SHOWN_MAX })
/** What can be taken back stays until the next thing is done, or it is closed. */
let undoable: string | undefined

export function showToast(text: string, options: ToastOptions = {}): void {
  const message = { text: text.replace(/^[a-z]/, (one) => one.toUpperCase()), ...options }
  if (undoable !== undefined) queue.close(undoable)
  const key = queue.add(message, options.undo === undefined ? { timeout: SHOWN_MS } : {})
  undoable = options.undo === undefined ? undefined : key
}

export function complain(error: unknown): void {
  const { message, help } = toApiError(error)
  showToast(help === '' ? message : `${message}: ${help}`, { kind: 'bad' })
}

export function Toasts(): JSX.Element {
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => {
        const { kind = 'good', text, to, undo } = toast.content
        return (
          <Toast toast={toast}>
            <Notice kind={kind}>
              <ToastContent>
                <Text slot="title">
                  <GateText text={text} />
                </Text>
              </ToastContent>
              {to !== undefined && <Link to={to}>Show</Link>}
              {undo !== undefined && (
                <Button
                  onPress={() => {
                    queue.close(toast.key)
                    undo()
                  }}
                >
                  Undo
                </Button>
              )}
              <AriaButton slot="close" className="btn quiet icon">
                <Icon name="close" size={12} />
              </AriaButton>
            </Notice>
          </Toast>
        )
      }}
    </ToastRegion>
  )
}
