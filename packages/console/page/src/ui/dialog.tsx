// A dialog over the page, or a drawer at its side: closes on Escape and on a click outside, unless what
// it shows would be lost. On a wide page a drawer leaves the list beside it usable.

import { type JSX, type ReactNode, useId, useRef, useState } from 'react'
import { Heading } from 'react-aria-components/Heading'
import { Dialog as AriaDialog, Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'
import { useKeys } from './keys.ts'
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
  useKeys(({ key }) => {
    if (key !== 'Escape' || isKept) return false
    const top = [...document.querySelectorAll('[role="dialog"]')].at(-1)
    const isMeant = isBeside || document.activeElement === document.body
    if (isMeant && top?.contains(content.current) === true) onClose()
    return false
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
            <div className="row line spread">
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

interface DialogButtonProps {
  readonly says: string
  readonly icon: IconName
  readonly children: ReactNode
}

/** A button that opens what there is no room for. */
export function DialogButton({ says, icon, children }: DialogButtonProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <div>
      <Button onPress={() => setOpen(true)}>
        <Icon name={icon} /> {says}
      </Button>
      {isOpen && (
        <Dialog title={says} onClose={() => setOpen(false)}>
          {children}
        </Dialog>
      )}
    </div>
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
        <div className="row line spread">
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
