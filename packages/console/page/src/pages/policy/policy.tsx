// Policy: the table of what happens to each tool, and next to it the corresponding text. A decision that is
// chosen edits the text, typing changes the table; nothing takes effect until it is saved with a passkey.

import {
  type ComponentProps,
  type JSX,
  lazy,
  Suspense,
  useCallback,
  useMemo,
  useState,
} from 'react'
import type {
  PolicyDocumentView,
  PolicyDraft,
  PolicyVersion,
  PolicyView,
  ToolPage,
} from '../../../../src/contract/contract.ts'
import { formatQuery, get } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { Empty, ErrorNotice, Loading, Notice, Page, PageHead } from '../../ui/page.tsx'
import { Loaded } from '../../ui/panel.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { date } from '../../ui/words.ts'
import type { Schema } from './complete.ts'
import { keepDraft, type RuleMove, useDraft } from './draft.ts'
import { PolicyActions } from './policy-actions.tsx'
import { SaveDialog } from './save.tsx'
import { InShadow } from './shadow.tsx'
import { ToolTable } from './tool-table.tsx'
import './policy.css'

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }))
const TryCall = lazy(async () => ({
  default: (await import('../servers/try-call.tsx')).TryCall,
}))

export function Policy(): JSX.Element {
  const policy = useResource<PolicyView>('/policy', undefined, true)
  const { value, reload } = policy
  const { query } = useRoute()
  const documents = value?.documents ?? []
  const document =
    pick(documents, query.get('document')) ?? pick(documents, 'policy') ?? documents[0]
  if (document === undefined)
    return (
      <Page title="Policy">
        <Loaded of={policy}>
          {() => (
            <Empty icon="policy" title="There is no policy">
              Without one everything is denied. Name a file under <code>policy:</code> in
              sluice.yaml.
            </Empty>
          )}
        </Loaded>
      </Page>
    )
  return (
    <Working
      key={document.name}
      document={document}
      why={value?.why ?? ''}
      names={documents.map(({ name }) => name)}
      reload={reload}
    />
  )
}

function pick(documents: readonly PolicyDocumentView[], name: string | null) {
  return documents.find((document) => document.name === name)
}

interface WorkingProps {
  readonly document: PolicyDocumentView
  readonly why: string
  readonly names: readonly string[]
  readonly reload: () => void
}

function Working({ document, why, names, reload }: WorkingProps): JSX.Element {
  const me = useMe()
  const draft = useDraft(document)
  const schema = useResource<Schema>('/policy/schema')
  const { query } = useRoute()
  const filter = query.get('tool') ?? ''
  const [saving, setSaving] = useState(false)
  const [past, setPast] = useState(false)
  const [line, setLine] = useState<number>()
  const [tried, setTried] = useState<string>()
  const may = mayAct(me, 'policy-manager')
  const board = draft.meaning?.board
  const problems = useMemo(() => draft.meaning?.problems ?? [], [draft.meaning])
  const hasErrors = problems.some(({ severity }) => severity === 'error')
  const isFixed = !may || hasErrors || document.fixed !== ''
  const tools = useMemo(() => listToolIds(board?.tools), [board])
  // The text stays: the difference then shows what another person changed, too.
  const loadAgain = async () => {
    await keepOverNewest(document.name, draft.text)
    setSaving(false)
    reload()
    showToast('loaded the file again; look at the difference before you save')
  }
  const move = useCallback((one: RuleMove) => void draft.move(one), [draft.move])
  return (
    <div className="page">
      <PageHead
        title="Policy"
        lead={`What ${document.file.split('/').at(-1)}${document.versioned ? ', which is under version control,' : ''} decides for each tool.`}
      >
        <DocumentAndTool document={document} names={names} filter={filter} />
        <PolicyActions
          document={document}
          may={may}
          changed={draft.changed}
          isFixed={isFixed}
          onHistory={() => setPast(true)}
          onUndo={() => draft.edit(document.text)}
          onSave={() => setSaving(true)}
        />
      </PageHead>
      <Banners fixed={document.fixed} why={why} />
      <InShadow rules={draft.meaning?.shadow ?? NONE} text={draft.text} />
      <div className="split policy-body">
        {board === undefined ? (
          <Loading />
        ) : (
          <ToolTable
            board={board}
            filter={filter}
            mayMove={may}
            onMove={move}
            onTry={setTried}
            onShow={(name) => setLine(findLine(draft.text, name))}
          />
        )}
        <EditorSide
          text={draft.text}
          problems={problems}
          schema={schema.value}
          names={tools}
          readOnly={!may}
          line={line}
          onChange={draft.edit}
          onShow={setLine}
        />
      </div>
      {tried !== undefined && (
        <DraftTrial
          tool={tried}
          draft={{ name: document.name, text: draft.text }}
          onClose={() => setTried(undefined)}
        />
      )}
      {saving && (
        <SaveDialog
          document={document}
          text={draft.text}
          onClose={() => setSaving(false)}
          onReload={() => void loadAgain().catch(complain)}
          onSaved={() => {
            setSaving(false)
            reload()
          }}
        />
      )}
      {past && (
        <History
          name={document.name}
          current={document.text}
          onClose={() => setPast(false)}
          digest={document.digestInForce}
          onTake={(text) => {
            draft.edit(text)
            setSaving(true)
          }}
        />
      )}
    </div>
  )
}

const NONE: PolicyDraft['shadow'] = []

interface EditorSideProps extends ComponentProps<typeof Editor> {
  readonly onShow: (line: number) => void
}

function EditorSide({ onShow, ...editor }: EditorSideProps): JSX.Element {
  return (
    <div className="stack editor-side">
      <Suspense fallback={<div className="card editor" />}>
        <Editor {...editor} />
      </Suspense>
      <Problems problems={editor.problems} onShow={onShow} />
    </div>
  )
}

function listToolIds(
  tools: readonly { readonly server: string; readonly name: string }[] = [],
): readonly string[] {
  return tools.map(({ server, name }) => `${server}/${name}`)
}

interface DraftTrialProps {
  /** `<server>/<tool>`. */
  readonly tool: string
  readonly draft: { readonly name: string; readonly text: string }
  readonly onClose: () => void
}

function DraftTrial({ tool, draft, onClose }: DraftTrialProps): JSX.Element | null {
  const { value } = useResource<ToolPage>(`/tool${formatQuery(splitTool(tool))}`)
  if (value === undefined) return null
  return (
    <Suspense fallback={null}>
      <TryCall tool={value} draft={draft} onClose={onClose} />
    </Suspense>
  )
}

async function keepOverNewest(name: string, text: string): Promise<void> {
  const { documents } = await get<PolicyView>('/policy')
  const now = pick(documents, name)
  if (now !== undefined) keepDraft(now, text)
}

function findLine(text: string, name: string): number | undefined {
  const at = text.split('\n').findIndex((line) => line.includes(name))
  return at < 0 ? undefined : at + 1
}

interface DocumentAndToolProps extends Pick<WorkingProps, 'document' | 'names'> {
  readonly filter: string
}

function DocumentAndTool({ document, names, filter }: DocumentAndToolProps): JSX.Element {
  return (
    <>
      {names.length > 1 && (
        <SelectField
          label="Document"
          value={document.name}
          onChange={(name) => setQuery({ document: name })}
          choices={names.map((name) => ({ value: name, says: name }))}
        />
      )}
      <TextField
        label="Find a tool"
        quiet
        className="search"
        placeholder="Find a tool"
        value={filter}
        onChange={(tool) => setQuery({ tool })}
      />
    </>
  )
}

/** Why it cannot be saved here, or is not in force. */
function Banners({ fixed, why }: { fixed: string; why: string }): JSX.Element {
  return (
    <>
      {fixed !== '' && (
        <div className="banner warn">
          <Icon name="lock" /> {fixed}: try things here, and change it there.
        </div>
      )}
      {why !== '' && (
        <div className="banner warn">
          <Icon name="warn" /> <UntrustedText text={why} />
        </div>
      )}
    </>
  )
}

interface ProblemsProps {
  readonly problems: readonly { line: number; severity: string; message: string; help: string }[]
  readonly onShow: (line: number) => void
}

function Problems({ problems, onShow }: ProblemsProps): JSX.Element | null {
  if (problems.length === 0) return null
  return (
    <ul className="card scroll problem-list" aria-label="Problems">
      {problems.map((problem) => (
        <li key={`${problem.line}${problem.message}`}>
          <button
            type="button"
            className={`line-button ${problem.severity === 'error' ? 'bad' : 'warn'}`}
            onClick={() => onShow(problem.line)}
          >
            <Icon name={problem.severity === 'error' ? 'deny' : 'warn'} />
            <span>
              line {problem.line}: <UntrustedText text={problem.message} />
              <br />
              <span className="muted">
                <UntrustedText text={problem.help} />
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** What changed between a saved version and the file as it is now. */
function VersionDiff({ id, current }: { id: number; current: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const { value } = useResource<{ text: string }>(isOpen ? `/policy/versions/${id}` : undefined)
  return (
    <details className="full" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Compare with the file now</summary>
      {value !== undefined &&
        (value.text === current ? (
          <p className="muted">The same text.</p>
        ) : (
          <Diff before={value.text} after={current} />
        ))}
    </details>
  )
}

interface HistoryProps {
  readonly name: string
  /** Of what is in force. */
  readonly digest: string
  /** The text of the file. */
  readonly current: string
  readonly onClose: () => void
  readonly onTake: (text: string) => void
}

function History({ name, current, digest, onClose, onTake }: HistoryProps): JSX.Element {
  const { value, error } = useResource<{ versions: PolicyVersion[] }>('/policy/versions')
  const versions = (value?.versions ?? []).filter((one) => one.name === name)
  const take = (id: number) =>
    get<{ text: string }>(`/policy/versions/${id}`).then(({ text }) => {
      onTake(text)
      onClose()
    }, complain)
  return (
    <Dialog title="Saved versions" onClose={onClose} side>
      {error !== undefined && <ErrorNotice error={error} />}
      {value !== undefined && versions.length === 0 && (
        <Notice>None yet. Each save keeps the text, who saved it and why.</Notice>
      )}
      <ol className="stack">
        {versions.map((version) => (
          <li key={version.id} className="card card-body row spread">
            <div>
              <div className="strong">
                <UntrustedText text={version.why === '' ? 'no reason given' : version.why} />
              </div>
              <div className="muted small">
                {date(version.atMs)}
                {version.by !== '' && ` by ${version.by}`} ·{' '}
                <span className="mono">{version.digest.slice(0, 10)}</span>
              </div>
            </div>
            {version.digest === digest ? (
              <OutcomeBadge word="allow" says="In force" />
            ) : (
              <Button onPress={() => take(version.id)}>Roll back…</Button>
            )}
            <VersionDiff id={version.id} current={current} />
          </li>
        ))}
      </ol>
    </Dialog>
  )
}
