// One tool: its server's description (as untrusted text), the catalogue's assessment and its
// evidence, its arguments, and a suggested rule.

import { type JSX, lazy, Suspense, useState } from 'react'
import type { ToolPage } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Category, Risk } from '../../ui/marks.tsx'
import { Notice } from '../../ui/page.tsx'
import { Loaded } from '../../ui/panel.tsx'
import { LongText, ToolName, UntrustedText } from '../../ui/text.tsx'

/** JSON Pointers of a definition, in words. */
const PLACES: Readonly<Record<string, string>> = {
  '/name': 'its name',
  '/title': 'its title',
  '/description': 'its description',
}

export function ToolDrawer({ name, onClose }: { name: string; onClose: () => void }): JSX.Element {
  const of = splitTool(name)
  const tool = useResource<ToolPage>(`/tool${formatQuery(of)}`)
  return (
    <Dialog title={<ToolName {...of} />} onClose={onClose} side>
      <Loaded of={tool}>{(page) => <WholeTool tool={page} />}</Loaded>
    </Dialog>
  )
}

const TryCall = lazy(async () => ({ default: (await import('./try-call.tsx')).TryCall }))

function WholeTool({ tool }: { tool: ToolPage }): JSX.Element {
  const me = useMe()
  const [isTrying, setTrying] = useState(false)
  const sure = tool.unknown ? 'a guess' : `${Math.round(tool.confidence * 100)} % sure`
  return (
    <div className="stack">
      <div className="row">
        <Category name={tool.category} unknown={tool.unknown} />
        <Risk level={tool.risk} unknown={tool.unknown} />
        <span className="muted small">
          {tool.inCatalogue === null ? sure : 'set by `classify` in the policy'}
        </span>
      </div>
      {tool.inCatalogue !== null && tool.inCatalogue !== tool.category && (
        <p className="muted">
          The catalogue classifies it as {tool.inCatalogue} ({sure}).
        </p>
      )}
      <p>
        <UntrustedText text={tool.riskBecause} />
      </p>
      {tool.disagreements.length > 0 && (
        <Notice kind="warn">
          {tool.disagreements.map((text) => (
            <UntrustedText key={text} text={text} />
          ))}
        </Notice>
      )}
      <h3>What its server says</h3>
      <LongText text={tool.description === '' ? 'nothing' : tool.description} code />
      {tool.evidence.length > 0 && (
        <>
          <h3>Why the catalogue classifies it as {tool.inCatalogue ?? tool.category}</h3>
          <ul className="stack small">
            {tool.evidence.slice(0, 8).map(({ text, at, says }) => (
              <li key={`${at}${text}${says}`}>
                {text !== '' && <UntrustedText text={`“${text}” `} className="mono" />}
                in {PLACES[at] ?? at}: <UntrustedText text={says} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Arguments</h3>
      <LongText text={tool.inputSchema === '' ? 'none declared' : tool.inputSchema} code />
      {tool.annotations !== '' && (
        <>
          <h3>The server’s own hints</h3>
          <LongText text={tool.annotations} code />
        </>
      )}
      <details>
        <summary>The catalogue’s page, as Markdown</summary>
        <LongText text={tool.page} code />
      </details>
      <div className="row">
        <Link to={`/policy${formatQuery({ tool: `${tool.server}/${tool.name}` })}`}>
          Change its rule
        </Link>
        <Link to={`/ledger${formatQuery({ server: tool.server, name: tool.name })}`}>
          See its calls
        </Link>
        {mayAct(me, 'admin') && <Button onPress={() => setTrying(true)}>Try a call…</Button>}
      </div>
      {isTrying && (
        <Suspense>
          <TryCall tool={tool} onClose={() => setTrying(false)} />
        </Suspense>
      )}
    </div>
  )
}
