// The diff of two texts: removed and added lines, by sign as well as colour.

import type { JSX } from 'react'
import { lineDiff, listHunks } from './line-diff.ts'
import { UntrustedText } from './text.tsx'

const LINES_MAX = 2_000

export function Diff({ before, after }: { before: string; after: string }): JSX.Element {
  const lines = listHunks(lineDiff(before, after))
  const signs = { same: ' ', gone: '−', came: '+' } as const
  return (
    <div className="code diff">
      {lines.slice(0, LINES_MAX).map((line, at) =>
        line === null ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one difference never move
          <div key={at} className="muted">
            ⋯
          </div>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one difference never move
          <div key={at} className={`diff-line ${line.kind}`}>
            <span aria-hidden="true">{signs[line.kind]}</span>
            {line.kind !== 'same' && (
              <span className="visually-hidden">
                {line.kind === 'gone' ? 'removed: ' : 'added: '}
              </span>
            )}
            <UntrustedText text={line.text} />
          </div>
        ),
      )}
    </div>
  )
}
