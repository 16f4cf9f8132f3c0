// A text that cannot be shown again, such as a token: neither Escape nor a click beside it closes it.

import type { JSX, ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icons.tsx'
import { complain, showToast } from './toasts.tsx'

interface ShownOnceProps {
  readonly title: string
  readonly text: string
  readonly onClose: () => void
  /** Where to put it. */
  readonly children: ReactNode
}

export function ShownOnce({ title, text, onClose, children }: ShownOnceProps): JSX.Element {
  const copy = () => navigator.clipboard.writeText(text).then(() => showToast('copied'), complain)
  return (
    <Dialog title={title} onClose={onClose} isKept>
      <p>{children}</p>
      <pre className="code">{text}</pre>
      <div className="row">
        <Button kind="primary" onPress={copy}>
          <Icon name="copy" /> Copy
        </Button>
        <Button onPress={onClose}>I have stored it</Button>
      </div>
    </Dialog>
  )
}
