// A dialog over the page, or a drawer at its side: closes on Escape and on a click outside, unless what
// it shows would be lost.

import type { JSX, ReactNode } from 'react'
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
          <div className="stack">
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
