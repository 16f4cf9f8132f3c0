// A dialog over the page, or a drawer at its side: closes on Escape and on a click outside, unless what
// it shows would be lost.

import { type JSX, type ReactNode, useEffect, useRef } from 'react'
import { Heading } from 'react-aria-components/Heading'
import { Dialog as AriaDialog, Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

export function Dialog({
  title,
  onClose,
  children,
  side = false,
  wide = false,
  isKept = false,
}: {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  side?: boolean
  wide?: boolean
  /** Closed only by a button in it. */
  isKept?: boolean
}): JSX.Element {
  const content = useRef<HTMLDivElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    if (isKept) return
    // A button that is disabled or gone takes the focus with it, and then no key reaches the dialog.
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.activeElement !== document.body) return
      const top = [...document.querySelectorAll('[role="dialog"]')].at(-1)
      if (top?.contains(content.current) === true) close.current()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [isKept])
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
              {!isKept && (
                <Button kind="quiet" icon aria-label="Close" onPress={onClose}>
                  <Icon name="close" />
                </Button>
              )}
            </div>
            {children}
          </div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
