// Standing approvals with their bounds, and tools that are blocked for a session. Ending a standing
// approval needs no passkey, because it tightens; unblocking does.

import { describeBound } from '@sluice/access/approvals/describe-bound'
import type { JSX } from 'react'
import type {
  ApprovalBlock,
  StandingApproval,
  StandingResponse,
} from '../../../../src/contract/contract.ts'
import { call } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { OutcomeBadge } from '../../ui/marks.tsx'
import { useNow } from '../../ui/now.ts'
import { Empty } from '../../ui/page.tsx'
import { Facts, Loaded } from '../../ui/panel.tsx'
import { ToolName, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { formatTimeLeft, plural } from '../../ui/words.ts'

const REFRESH_MS = 3_000

export function StandingApprovals(): JSX.Element {
  const answer = useResource<StandingResponse>('/standing', REFRESH_MS)
  const { reload } = answer
  return (
    <Loaded of={answer}>
      {({ standing, barred }) => (
        <div className="stack">
          {standing.length === 0 && barred.length === 0 && (
            <Empty icon="approvals" title="No standing approvals">
              An approval “for a while” stands here, with its bounds, until it ends.
            </Empty>
          )}
          {standing.map((one) => (
            <Stands key={one.id} standing={one} reload={reload} />
          ))}
          {barred.map((one) => (
            <Bars key={`${one.session} ${one.server} ${one.name}`} barred={one} reload={reload} />
          ))}
        </div>
      )}
    </Loaded>
  )
}

interface StandsProps {
  readonly standing: StandingApproval
  readonly reload: () => void
}

function Stands({ standing, reload }: StandsProps): JSX.Element {
  const me = useMe()
  const now = useNow(5_000)
  const { id, principal, server, name, bounds, by, untilMs, used, calls, session } = standing
  const end = () =>
    call('DELETE', `/standing/${encodeURIComponent(id)}`).then(() => {
      showToast(`ended: ${server}/${name} asks again`)
      reload()
    }, complain)
  return (
    <article className="card card-body stack" aria-label={`${server}/${name}, for a while`}>
      <div className="row spread">
        <div className="row">
          <OutcomeBadge word="allow" says="Standing approval" />
          <ToolName server={server} name={name} />
          <span className="muted small num">{formatTimeLeft(untilMs, now)}</span>
        </div>
        {mayAct(me, 'approver') && <Button onPress={end}>End it</Button>}
      </div>
      <p className="muted">
        for <UntrustedText text={principal} />, approved by <UntrustedText text={by.join(', ')} />
        {'; '}
        used {calls === null ? plural(used, 'time') : `${used} of ${calls} times`}
        {session !== null && '; in one session only'}
      </p>
      <Facts
        className="facts mono framed"
        of={Object.fromEntries(
          Object.entries(bounds).map(([argument, bound]) => [argument, describeBound(bound)]),
        )}
      />
    </article>
  )
}

function Bars({ barred, reload }: { barred: ApprovalBlock; reload: () => void }): JSX.Element {
  const me = useMe()
  const { session, server, name, denials } = barred
  const lift = () =>
    sendWithProof('POST', '/barred/lift', { session, server, name }).then(() => {
      showToast(`lifted: ${server}/${name} may be asked for again`)
      reload()
    }, complain)
  return (
    <article className="card card-body row spread" aria-label={`${server}/${name}, barred`}>
      <div className="row">
        <OutcomeBadge word="deny" says="Not asked any more" />
        <ToolName server={server} name={name} />
        <span className="muted small">
          denied {plural(denials, 'time')} in session{' '}
          <UntrustedText text={session} className="mono" />
        </span>
      </div>
      {mayAct(me, 'approver') && <Button onPress={lift}>Let it ask again</Button>}
    </article>
  )
}
