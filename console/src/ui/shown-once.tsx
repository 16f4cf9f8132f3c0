// A text that cannot be shown again, such as a token: neither Escape nor a click beside it closes it.

import type { JSX, ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icons.tsx'
import { complain, showToast } from './toasts.tsx'

export function ShownOnce({
  title,
  text,
  onClose,
  children,
}: {
  title: string
  text: string
  onClose: () => void
  /** Where to put it. */
  children: ReactNode
}): JSX.Element {
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
