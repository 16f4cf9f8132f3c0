// A page that fails leaves the navigation, the banners and the freeze as they are, and says what happened. It is tried
// again by a button, at the next visit, and when the gate answers again.

import { Component, type JSX, type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { Notice } from './page.tsx'
import { UntrustedText } from './text.tsx'

interface Props {
  readonly children: ReactNode
  /** The gate does not answer. */
  readonly isGateAway: boolean
}

/** React has no hook for it. Another `key` begins again. */
export class PageBoundary extends Component<Props, { readonly fault?: Error | undefined }> {
  override state: { readonly fault?: Error | undefined } = {}

  static getDerivedStateFromError(fault: Error): { readonly fault: Error } {
    return { fault }
  }

  override render(): ReactNode {
    const { fault } = this.state
    if (fault === undefined) return this.props.children
    const again = () => this.setState({ fault: undefined })
    return <Failed fault={fault} isGateAway={this.props.isGateAway} onAgain={again} />
  }
}

interface FailedProps {
  readonly fault: Error
  readonly isGateAway: boolean
  readonly onAgain: () => void
}

function Failed({ fault, isGateAway, onAgain }: FailedProps): JSX.Element {
  const wasAway = useRef(isGateAway)
  useEffect(() => {
    if (wasAway.current && !isGateAway) onAgain()
    wasAway.current = isGateAway
  }, [isGateAway, onAgain])
  return (
    <div className="scroll page-body stack">
      <Notice kind="bad">
        {isGateAway ? (
          <span className="strong">This page needs the gate, which does not answer.</span>
        ) : (
          <>
            <span className="strong">This page has failed.</span> The others work, and so does the
            gate.
          </>
        )}
        <div>
          <UntrustedText text={fault.message} className="mono small" />
        </div>
        <div>
          <Button onPress={onAgain}>Try again</Button>
        </div>
      </Notice>
    </div>
  )
}
