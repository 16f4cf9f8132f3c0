// Before a policy is saved: which decisions loosen and which tighten, over the known tools and the
// last day's calls; the diff of the text; why. Then the passkey. A file under version control
// produces a patch instead.

import { type JSX, useEffect, useState } from 'react'
import type {
  PolicyDocumentView,
  PolicyDraft,
  PolicyTestsDraft,
  SavedPolicy,
} from '../../../../src/contract/contract.ts'
import { formatQuery, post, save, toApiError } from '../../api.ts'
import { sendWithProof } from '../../session.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button, Link } from '../../ui/button.tsx'
import { splitTool } from '../../ui/call-counts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Notice } from '../../ui/page.tsx'
import { DataTable } from '../../ui/panel.tsx'
import { GateText, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { count, formatPointer, plural } from '../../ui/words.ts'
import { Prove } from './prove.tsx'
import { ShadowFirst } from './shadow.tsx'

interface SaveDialogProps {
  readonly document: PolicyDocumentView
  readonly text: string
  /** Added to the document's cases with it. */
  readonly test?: PolicyTest | undefined
  /** It is tried on the calls of a week at once. */
  readonly isFromCall?: boolean
  readonly onClose: () => void
  readonly onSaved: () => void
  /** The file was changed by another person: load it again and keep the text. */
  readonly onReload?: () => void
}

export function SaveDialog(props: SaveDialogProps): JSX.Element {
  const { document, test, isFromCall = false, onClose, onSaved, onReload } = props
  const [shadowed, setShadowed] = useState<string>()
  const text = shadowed ?? props.text
  const [meaning, setMeaning] = useState<PolicyDraft>()
  const [isStale, setStale] = useState(false)
  const [patch, setPatch] = useState<string>()
  const { name, digest } = document
  const [days, setDays] = useState(isFromCall ? '7' : '1')
  useEffect(() => {
    setMeaning(undefined)
    const draft = { name, text, replay: true, days: Number(days), test }
    post<PolicyDraft>('/policy/draft', draft).then(setMeaning, complain)
  }, [name, text, test, days])
  const tests = meaning?.tests
  const added = tests !== undefined && tests.refused === '' && tests.differences.length === 0
  const without = test === undefined ? meaning?.cases?.without : undefined
  // The file was changed elsewhere and waits: nothing is edited here.
  const isApply = !document.inForce && text === document.text
  const put = async ({ why, failing }: FormValues) => {
    const cases = added
      ? { tests: { base: tests.base, text: tests.after } }
      : failing === 'remove' && without !== undefined && { tests: without }
    const body = { name, text, base: digest, why, ...cases }
    const saved = await sendWithProof<SavedPolicy>('PUT', '/policy', body).catch((error) => {
      setStale(toApiError(error).message.includes('changed in the meantime'))
      throw error
    })
    if (saved.patch !== undefined) return setPatch(saved.patch)
    const before = added ? tests.before : undefined
    const done = shadowed === undefined ? 'saved, and in force' : 'saved; what it adds is in shadow'
    showToast(done, { undo: () => takeBack(document, saved, before, onSaved) })
    onSaved()
  }
  if (patch !== undefined)
    return <PatchDialog file={document.file} patch={patch} onClose={onClose} />
  return (
    <Dialog title={nameDialog(document, isApply)} onClose={onClose} wide>
      <Form
        fields={without === undefined ? [WHY] : [WHY, FAILING]}
        confirm={
          shadowed === undefined
            ? nameConfirm({ document, meaning, isApply })
            : 'Save, with the additions in shadow'
        }
        kind={without === undefined ? 'primary' : 'refuse'}
        icon="key"
        onSubmit={put}
        onCancel={onClose}
      >
        {meaning === undefined ? (
          <p className="muted" role="status">
            Trying it on known tools and the calls of{' '}
            {days === '1' ? 'the last day' : `${days} days`}…
          </p>
        ) : (
          <Meaning meaning={meaning} />
        )}
        <SelectField label="Try it on" value={days} onChange={setDays} choices={DAYS} />
        <Diff before={isApply ? document.textInForce : document.text} after={text} />
        <div className="row">
          <Prove name={name} text={text} />
          <ShadowFirst document={document} text={props.text} onText={setShadowed} />
        </div>
        {tests !== undefined && <Tests tests={tests} />}
        {isStale && onReload !== undefined && (
          <div className="row">
            <Button onPress={onReload}>
              <Icon name="refresh" /> Load the file again and keep my text
            </Button>
          </div>
        )}
      </Form>
    </Dialog>
  )
}

const WHY: FormField = {
  name: 'why',
  label: 'Why (kept with the version)',
  placeholder: 'for example: the nightly job needs it',
}
const FAILING: FormField = {
  name: 'failing',
  label: 'Test cases that would fail',
  type: 'chips',
  choices: [
    { value: 'keep', says: 'Keep them, failing' },
    { value: 'remove', says: 'Remove them, too' },
  ],
  value: 'keep',
}

function nameDialog({ versioned }: PolicyDocumentView, isApply: boolean): string {
  if (versioned) return 'Make a patch'
  return isApply ? 'Apply the policy that waits' : 'Save the policy'
}

function nameConfirm({
  document: { versioned },
  meaning,
  isApply,
}: {
  readonly document: PolicyDocumentView
  readonly meaning: PolicyDraft | undefined
  readonly isApply: boolean
}): string {
  if (versioned) return 'Make the patch'
  if (isApply) return 'Put in force'
  if (meaning === undefined) return 'Save without knowing the effect'
  const failed = meaning.cases?.failed.length ?? 0
  return failed === 0 ? 'Save and put in force' : `Save and put in force, ${failed} failing`
}

const DAYS = [
  { value: '1', says: 'Calls of the last day' },
  { value: '7', says: 'Calls of 7 days' },
  { value: '30', says: 'Calls of 30 days' },
]

/** The text as it was before a save, and the cases, if one was added. */
function takeBack(
  { name, text, file }: PolicyDocumentView,
  { digest, tests }: SavedPolicy,
  cases: string | undefined,
  onDone: () => void,
): void {
  const body = {
    name,
    text,
    base: digest,
    why: 'taken back',
    ...(cases !== undefined && tests !== undefined && { tests: { base: tests, text: cases } }),
  }
  sendWithProof('PUT', '/policy', body).then(() => {
    showToast(`Taken back: ${file.split('/').at(-1)} is as it was`)
    onDone()
  }, complain)
}

interface PatchDialogProps {
  readonly file: string
  readonly patch: string
  readonly onClose: () => void
}

function PatchDialog({ file, patch, onClose }: PatchDialogProps): JSX.Element {
  return (
    <Dialog title="A patch to take along" onClose={onClose} wide>
      <p>
        {file} is under version control, so nothing was written. Apply this where the file is kept;
        the gate sees the change by itself.
      </p>
      <pre className="code">
        <UntrustedText text={patch} />
      </pre>
      <div className="row">
        <Button kind="primary" onPress={() => save(new Blob([patch]), 'policy.patch')}>
          <Icon name="download" /> Download
        </Button>
      </div>
    </Dialog>
  )
}

/** A call, and what must happen to it under the text. */
export interface PolicyTest {
  readonly name: string
  readonly call: string
  /** Each as the text of its JSON value. */
  readonly args: Readonly<Record<string, string>>
  readonly expect: string
}

/** A case that does not pass is not added: it says what else decides. */
function Tests({ tests }: { tests: PolicyTestsDraft }): JSX.Element {
  const file = tests.file.split('/').at(-1)
  if (tests.refused !== '')
    return (
      <Notice>
        No case is added to {file}: <UntrustedText text={tests.refused} />.
      </Notice>
    )
  if (tests.differences.length > 0)
    return (
      <Notice kind="warn">
        With this text the call would not get what you asked for, so no case is added:{' '}
        <UntrustedText text={tests.differences.join('; ')} />. A guardrail or the base policy
        decides first.
      </Notice>
    )
  return (
    <section aria-label="Test case" className="stack">
      <p className="strong">A test case is added to {file}:</p>
      <Diff before={tests.before} after={tests.after} />
    </section>
  )
}

const MARKS = { loosens: 'ask', tightens: 'allow', depends: 'limited' } as const

function Meaning({ meaning }: { meaning: PolicyDraft }): JSX.Element {
  const { changes, loosens, replay, cases, voids = 0 } = meaning
  return (
    <div className="stack">
      {loosens.length > 0 && (
        <Notice kind="warn">
          It may loosen {plural(loosens.length, 'rule')}:{' '}
          <ul>
            {loosens.map(({ where, what }) => (
              <li key={`${where} ${what}`}>
                <UntrustedText text={formatPointer(where)} className="strong" />:{' '}
                <GateText text={what} />
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <div className="row">
        {(['loosens', 'tightens', 'depends'] as const).map((kind) => {
          const tools = changes.filter(({ change }) => change === kind).length
          if (tools === 0) return null
          return (
            <span key={kind} className={`mark ${MARKS[kind]}`}>
              {plural(tools, `tool ${kind}`, `tools ${kind.slice(0, -1)}`)}
            </span>
          )
        })}
      </div>
      {changes.length > 0 && (
        <ul className="scroll low small">
          {changes.slice(0, 200).map(({ tool, from, to, change }) => (
            <li key={tool}>
              <UntrustedText text={tool} className="mono" />: {from} → <b>{to}</b>{' '}
              <span className="muted">({change})</span>
            </li>
          ))}
        </ul>
      )}
      {voids > 0 && (
        <Notice kind="warn">
          {plural(voids, 'request')} for approval would be void. A call that still waits gets a new
          one; otherwise its agent has to make it again.
        </Notice>
      )}
      {replay !== undefined && <Effect replay={replay} />}
      {cases !== undefined && cases.passed + cases.failed.length > 0 && (
        <Notice kind={cases.failed.length === 0 ? 'good' : 'bad'}>
          {plural(cases.passed, 'test case')} {cases.passed === 1 ? 'passes' : 'pass'}
          {cases.failed.length > 0 && `, ${cases.failed.length} would fail:`}
          {cases.failed.slice(0, 5).map(({ name, differences }) => (
            <div key={name}>
              <UntrustedText text={name} className="strong" />:{' '}
              <GateText text={differences.join('; ')} />
            </div>
          ))}
        </Notice>
      )}
    </div>
  )
}

/** What becomes of recorded calls, compared with the policy in force; a row for each tool whose decision changes. */
function Effect({ replay }: { replay: NonNullable<PolicyDraft['replay']> }): JSX.Element {
  const { calls, same, unknown, untouched, earlier, flips } = replay
  const changed = calls - same - unknown
  const tools = new Set(flips.map(({ tool }) => tool)).size
  return (
    <section className="stack" aria-label="Effect on recorded calls">
      <p className="muted">
        Compared with the policy in force: of {plural(calls, 'recorded call')},{' '}
        {changed === 0
          ? `none ${unknown > 0 ? 'is known to change' : 'changes'}`
          : `${count(changed)} of ${plural(tools, 'tool')} ${changed === 1 ? 'changes' : 'change'}`}
        , {count(same)} would be decided the same way
        {untouched > 0 && ` (${count(untouched)} are not touched by the edit)`}
        {unknown > 0 && `, and of ${count(unknown)} the ledger has not all values that rules read`}.
        {earlier > 0 &&
          ` An earlier version decided ${count(earlier)} of them: these are compared with what the one in force says today, where the ledger tells it.`}
      </p>
      {flips.length > 0 && (
        <DataTable
          label="Changed decisions"
          rows={flips.slice(0, 20)}
          keyOf={({ tool, from, to }) => `${tool} ${from} ${to}`}
          columns={[
            {
              head: 'Tool',
              cell: ({ tool }) => (
                <Link to={`/ledger${formatQuery(splitTool(tool))}`}>
                  <UntrustedText text={tool} />
                </Link>
              ),
            },
            { head: 'In force', cell: ({ from }) => from },
            { head: 'With this text', className: 'strong', cell: ({ to }) => to },
            { head: 'Calls', className: 'right num', cell: ({ count: n }) => count(n) },
          ]}
        />
      )}
    </section>
  )
}
