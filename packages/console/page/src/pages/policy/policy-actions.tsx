// The buttons of the policy page: its history, the way back to the saved text, and saving.

import type { JSX } from 'react'
import type { PolicyDocumentView } from '../../../../src/contract/contract.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'

interface PolicyActionsProps {
  readonly document: PolicyDocumentView
  /** This person may change the policy. */
  readonly may: boolean
  readonly changed: boolean
  /** It cannot be saved now. */
  readonly isFixed: boolean
  readonly onHistory: () => void
  readonly onUndo: () => void
  readonly onSave: () => void
}

export function PolicyActions({
  document,
  may,
  changed,
  isFixed,
  onHistory,
  onUndo,
  onSave,
}: PolicyActionsProps): JSX.Element {
  return (
    <>
      <Button kind="quiet" onPress={onHistory}>
        <Icon name="history" /> History
      </Button>
      {may && (
        <Button kind="quiet" isDisabled={!changed} onPress={onUndo}>
          Undo all
        </Button>
      )}
      {may && (
        <Button
          kind="primary"
          isDisabled={isFixed || (!changed && document.inForce)}
          onPress={onSave}
        >
          {document.versioned ? 'Make a patch…' : changed || document.inForce ? 'Save…' : 'Apply…'}
        </Button>
      )}
    </>
  )
}
