// Before a policy is saved: which decisions loosen and which tighten, over the known tools and the
// last day's calls; the diff of the text; why. Then the passkey. A file under version control
// produces a patch instead.

import { type JSX, useEffect, useState } from 'react'
import type {
  PolicyDocumentView,
  PolicyDraft,
  PolicyTestsDraft,
  SavedPolicy,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { type ApiError, post, save, toApiError } from '../../api.ts'
import { sendWithProof } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ErrorNotice, Notice } from '../../ui/page.tsx'
import { GateText, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { count, formatPointer, plural } from '../../ui/words.ts'

export function SaveDialog({
  document,
  text,
  test,
  onClose,
  onSaved,
  onReload,
}: {
  document: PolicyDocumentView
  text: string
  /** Added to the document's cases with it. */
  test?: PolicyTest | undefined
  onClose: () => void
  onSaved: () => void
  /** The file was changed by another person: load it again and keep the text. */
  onReload?: () => void
}): JSX.Element {
  const [meaning, setMeaning] = useState<PolicyDraft>()
  const [why, setWhy] = useState('')
  const [error, setError] = useState<ApiError>()
  const [patch, setPatch] = useState<string>()
  const [busy, setBusy] = useState(false)
  const { name, digest, versioned } = document
  useEffect(() => {
    post<PolicyDraft>('/policy/draft', { name, text, replay: true, test }).then(
      setMeaning,
      complain,
    )
  }, [name, text, test])
  const tests = meaning?.tests
  const added = tests !== undefined && tests.refused === '' && tests.differences.length === 0
  const put = async () => {
    // Not disabled meanwhile: a button that is would lose the focus, and Escape with it.
    if (busy) return
    setBusy(true)
    setError(undefined)
    try {
      const saved = await sendWithProof<SavedPolicy>('PUT', '/policy', {
        name,
        text,
        base: digest,
        why,
        ...(added && { tests: { base: tests.base, text: tests.after } }),
      })
      if (saved.patch !== undefined) return setPatch(saved.patch)
      showToast('saved, and in force')
      onSaved()
    } catch (fault) {
      setError(toApiError(fault))
    } finally {
      setBusy(false)
    }
  }
  if (patch !== undefined)
    return (
      <Dialog title="A patch to take along" onClose={onClose} wide>
        <p>
          {document.file} is under version control, so nothing was written. Apply this where the
          file is kept; the gate sees the change by itself.
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
  return (
    <Dialog title={versioned ? 'Make a patch' : 'Save the policy'} onClose={onClose} wide>
      {meaning === undefined ? (
        <p className="muted" role="status">
          Trying it on known tools and the last day…
        </p>
      ) : (
        <Meaning meaning={meaning} />
      )}
      <Diff before={document.text} after={text} />
      {tests !== undefined && <Tests tests={tests} />}
      {error !== undefined && <ErrorNotice error={error} />}
      {error?.message.includes('changed in the meantime') === true && onReload !== undefined && (
        <div className="row">
          <Button onPress={onReload}>
            <Icon name="refresh" /> Load the file again and keep my text
          </Button>
        </div>
      )}
      <TextField
        label="Why (kept with the version)"
        value={why}
        onChange={setWhy}
        placeholder="for example: the nightly job needs it"
      />
      <div className="row">
        <Button kind="primary" onPress={put}>
          <Icon name="key" /> {versioned ? 'Make the patch' : 'Save and put in force'}
        </Button>
        <Button kind="quiet" onPress={onClose}>
          Cancel
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

function Meaning({ meaning }: { meaning: PolicyDraft }): JSX.Element {
  const { changes, loosens, replay } = meaning
  const of = (kind: string) => changes.filter(({ change }) => change === kind)
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
        {of('loosens').length > 0 && (
          <span className="mark ask">
            {plural(of('loosens').length, 'tool loosens', 'tools loosen')}
          </span>
        )}
        {of('tightens').length > 0 && (
          <span className="mark allow">
            {plural(of('tightens').length, 'tool tightens', 'tools tighten')}
          </span>
        )}
        {of('depends').length > 0 && (
          <span className="mark limited">
            {plural(of('depends').length, 'tool depends', 'tools depend')}
          </span>
        )}
      </div>
      {changes.length > 0 && (
        <ul className="verdicts small">
          {changes.slice(0, 200).map(({ tool, from, to, change }) => (
            <li key={tool}>
              <UntrustedText text={tool} className="mono" />: {from} → <b>{to}</b>{' '}
              <span className="muted">({change})</span>
            </li>
          ))}
        </ul>
      )}
      {replay !== undefined && (
        <p className="muted">
          Of {plural(replay.calls, 'call')} that this policy decided in the last day,{' '}
          {count(replay.same)} would be decided the same way
          {replay.unknown > 0 &&
            `, and ${count(replay.unknown)} are unknown: the ledger does not keep what the rule reads`}
          .
          {replay.flips.slice(0, 5).map(({ tool, from, to, count: n }) => (
            <span key={`${tool}${from}${to}`}>
              {' '}
              <UntrustedText text={tool} className="mono" />: {n} × {from} → {to}.
            </span>
          ))}
        </p>
      )}
    </div>
  )
}
