// A dialog over the page, or a drawer at its side: closes on Escape and on a click outside, unless what
// it shows would be lost. On a wide page a drawer leaves the list beside it usable.

import { type JSX, type ReactNode, useEffect, useId, useRef } from 'react'
import { Heading } from 'react-aria-components/Heading'
import { Dialog as AriaDialog, Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'
import { useMedia } from './media.ts'

interface DialogProps {
  readonly title: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
  readonly side?: boolean
  readonly wide?: boolean
  /** Closed only by a button in it. */
  readonly isKept?: boolean
}

export function Dialog(props: DialogProps): JSX.Element {
  const { title, onClose, children, side = false, wide = false, isKept = false } = props
  const content = useRef<HTMLDivElement>(null)
  const isBeside = useMedia('wide') && side
  // A button that is disabled or gone takes the focus with it, and then no key reaches the dialog.
  useEscape(isKept ? undefined : onClose, (target) => {
    const top = [...document.querySelectorAll('[role="dialog"]')].at(-1)
    const isTop = top?.contains(content.current) === true
    return isTop && (isBeside || target === document.body)
  })
  if (isBeside) return <Drawer {...props} content={content} />
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isKept}
      isKeyboardDismissDisabled={isKept}
      onOpenChange={(open) => !open && onClose()}
      className={side ? 'scrim side' : 'scrim'}
    >
      <Modal className={wide ? 'dialog wide' : 'dialog'}>
        <AriaDialog>
          <div className="stack" ref={content}>
            <div className="row spread">
              <Heading slot="title" level={2}>
                {title}
              </Heading>
              {!isKept && <CloseButton onClose={onClose} />}
            </div>
            {children}
          </div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

function Drawer({
  title,
  onClose,
  children,
  content,
}: DialogProps & { content: React.RefObject<HTMLDivElement | null> }): JSX.Element {
  const id = useId()
  return (
    <div className="dialog drawer" role="dialog" aria-labelledby={id} tabIndex={-1}>
      <div className="stack" ref={content}>
        <div className="row spread">
          <h2 id={id}>{title}</h2>
          <CloseButton onClose={onClose} />
        </div>
        {children}
      </div>
    </div>
  )
}

function CloseButton({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Button kind="quiet" icon aria-label="Close" onPress={onClose}>
      <Icon name="close" />
    </Button>
  )
}

/** Nothing is done while `close` is undefined. */
function useEscape(close: (() => void) | undefined, isMeant: (focus: Element | null) => boolean) {
  const latest = useRef({ close, isMeant })
  latest.current = { close, isMeant }
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      if (latest.current.isMeant(document.activeElement)) latest.current.close?.()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
