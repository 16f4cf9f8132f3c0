// A file of an agent as it was at the turn that is shown, and what changed in it since an earlier turn.

import { type JSX, useState } from 'react'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { ErrorNotice, Notice } from '../../ui/page.tsx'
import { LongText, TextLine } from '../../ui/text.tsx'

interface FileView {
  readonly isText: boolean
  readonly text: string
}

/** Turns that can be compared with; older ones are reached with the slider. */
const TURNS_OFFERED = 100

interface FileDialogProps {
  readonly agent: string
  readonly path: string
  readonly turn: number | undefined
  readonly turns: number
  readonly onClose: () => void
}

export function FileDialog({ agent, path, turn, turns, onClose }: FileDialogProps): JSX.Element {
  const [since, setSince] = useState('')
  const shown = turn ?? turns
  const now = useResource<FileView>(`${agent}/file${formatQuery({ path, turn })}`)
  const before = useResource<FileView>(
    since === '' ? undefined : `${agent}/file${formatQuery({ path, turn: since })}`,
  )
  // A file that was not there yet: all of it came since.
  const old = before.error?.status === 409 ? '' : before.value?.text
  const earlier = Array.from({ length: Math.min(shown, TURNS_OFFERED) }, (_, at) => shown - 1 - at)
  return (
    <Dialog
      title={
        <>
          <TextLine text={path} className="mono" />
          {turn !== undefined && <span className="muted small"> after turn {turn}</span>}
        </>
      }
      onClose={onClose}
      side
    >
      <SelectField
        label="Changes since"
        value={since}
        onChange={setSince}
        choices={[
          { value: '', says: 'Show the file' },
          ...earlier.map((one) => ({ value: String(one), says: `Changes since turn ${one}` })),
        ]}
      />
      {now.error !== undefined && <ErrorNotice error={now.error} />}
      {now.value?.isText === false && <Notice>It is not text; this is base64.</Notice>}
      {now.value !== undefined && since === '' && <LongText text={now.value.text} code />}
      {now.value !== undefined && since !== '' && old !== undefined && (
        <>
          {old === now.value.text && <Notice>Nothing has changed since turn {since}.</Notice>}
          <Diff before={old} after={now.value.text} />
        </>
      )}
    </Dialog>
  )
}
