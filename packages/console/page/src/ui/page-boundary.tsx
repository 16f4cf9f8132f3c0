// A page that fails leaves the navigation, the banners and the freeze as they are, and says what happened.

import { Component, type JSX, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Notice } from './page.tsx'
import { UntrustedText } from './text.tsx'

interface Props {
  readonly children: ReactNode
}

/** React has no hook for it. Another `key` begins again. */
export class PageBoundary extends Component<Props, { readonly fault?: Error }> {
  override state: { readonly fault?: Error } = {}

  static getDerivedStateFromError(fault: Error): { readonly fault: Error } {
    return { fault }
  }

  override render(): ReactNode {
    const { fault } = this.state
    return fault === undefined ? this.props.children : <Failed fault={fault} />
  }
}

function Failed({ fault }: { fault: Error }): JSX.Element {
  return (
    <div className="scroll page-body stack">
      <Notice kind="bad">
        <span className="strong">This page has failed.</span> The others work, and so does the gate.
        <div>
          <UntrustedText text={fault.message} className="mono small" />
        </div>
        <div>
          <Button onPress={() => location.reload()}>Load it again</Button>
        </div>
      </Notice>
    </div>
  )
}
