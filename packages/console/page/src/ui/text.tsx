// Text from a tool, a server, an agent or a client: never more than text. Hidden characters are
// visible marks, text direction is isolated, and long text is folded.

import { type JSX, useState } from 'react'
import { Button } from './button.tsx'
import { hasHidden, splitHiddenText } from './hidden-text.ts'

export const FOLD_LENGTH = 1_200

interface TextProps {
  readonly text: string
  readonly className?: string
}

export function UntrustedText({ text, className = '' }: TextProps): JSX.Element {
  return <bdi className={`gate-text ${className}`}>{marked(text)}</bdi>
}

/** A tool's name in the head of its card. */
export function ToolName({ server, name }: { server: string; name: string }): JSX.Element {
  return (
    <span className="strong">
      <span className="muted">{server}/</span>
      <UntrustedText text={name} />
    </span>
  )
}

/** A message of the gate: text in backticks is shown as code. */
export function GateText({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split('`').map((part, at, parts) => {
        const isQuoted = at % 2 === 1 && at < parts.length - 1
        const key = `${at} ${part}`
        if (isQuoted)
          return (
            <code key={key}>
              <UntrustedText text={part} />
            </code>
          )
        return <UntrustedText key={key} text={at % 2 === 1 ? `\`${part}` : part} />
      })}
    </>
  )
}

/** On one line, truncated if it does not fit, and whole under the pointer. */
export function TextLine({ text, className = '' }: TextProps): JSX.Element {
  return (
    <bdi className={`cut ${className}`} title={toTitle(text)}>
      {marked(text.slice(0, LINE_LENGTH))}
    </bdi>
  )
}

const LINE_LENGTH = 300

/** A title cannot mark hidden characters: such a text has none. */
function toTitle(text: string): string | undefined {
  return hasHidden(text) ? undefined : text.slice(0, LINE_LENGTH)
}

/** A name on one line: if it does not fit, its middle is left out. */
export function NameLine({ text, className = '' }: TextProps): JSX.Element {
  const letters = [...text.slice(0, LINE_LENGTH)]
  if (letters.length <= 2 * NAME_END) return <TextLine text={text} className={className} />
  return (
    <bdi className={`name-line ${className}`} title={toTitle(text)}>
      <span className="cut">{marked(letters.slice(0, -NAME_END).join(''))}</span>
      <span>{marked(letters.slice(-NAME_END).join(''))}</span>
    </bdi>
  )
}

const NAME_END = 10

export function LongText({ text, code = false }: { text: string; code?: boolean }): JSX.Element {
  const [whole, setWhole] = useState(false)
  const isLong = text.length > FOLD_LENGTH
  const shown = whole || !isLong ? text : text.slice(0, FOLD_LENGTH)
  return (
    <div className="stack">
      <div className={code ? 'code' : undefined}>
        <UntrustedText text={shown} />
        {isLong && !whole && '…'}
      </div>
      {isLong && (
        <div>
          <Button kind="quiet" onPress={() => setWhole(!whole)}>
            {whole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
          </Button>
        </div>
      )}
    </div>
  )
}

function marked(text: string): JSX.Element[] | string {
  if (!hasHidden(text)) return text
  return splitHiddenText(text).map((stretch, at) =>
    'text' in stretch ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the stretches of one text never move
      <span key={at}>{stretch.text}</span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the stretches of one text never move
      <span key={at} className="hidden-char" title={`hidden character ${stretch.code}`}>
        {stretch.hidden}
      </span>
    ),
  )
}
