// Events of the ledger in words, for the console and the command line. Pure.

const TITLES: Readonly<Record<string, string>> = {
  alert: 'Alert sent',
  start: 'Gate started',
  stop: 'Gate stopped',
  policy: 'Policy put in force',
  pin: 'Definition accepted',
  freeze: 'Frozen',
  thaw: 'Thawed',
  session: 'Session began',
  'session-end': 'Session ended by a person',
  server: 'Server changed',
  grant: 'Grant changed',
  grants: 'Grants changed',
  approver: 'Approver changed',
  'approval-requested': 'Approval requested',
  'approval-revealed': 'Masked arguments revealed',
  'approval-proposed': 'Arguments changed by an approver',
  labels: 'Labels seen',
  proof: 'Person proved who they are',
  'proof-refused': 'Proof of a person refused',
  restore: 'Backup restored',
  recovery: 'Ledger recovered',
  'ledger-recovery': 'Ledger recovered',
  failover: 'Records given back after a failover of the database',
  export: 'Ledger exported',
  'console-call': 'Call tried from the console',
  lock: 'Tools locked',
  'agents-trust': 'Installation trusted',
  'traces-start': 'Recording of sessions started',
  'traces-stop': 'Recording of sessions stopped',
  'traces-export': 'Recorded sessions exported',
}

/** Of events whose `how` says what it was. */
const TITLES_BY_HOW: Readonly<Record<string, string>> = {
  'pin new': 'New tools',
  'pin refused': 'Definition refused',
}

/** An event of another name is shown by that. */
export function titleOfEvent(name: string, detail: unknown): string {
  const how = typeof detail === 'object' && detail !== null && 'how' in detail ? detail.how : ''
  return TITLES_BY_HOW[`${name} ${how}`] ?? TITLES[name] ?? name
}

/** Long names for what a person knows by shorter ones. */
const OMITTED_KEYS: ReadonlySet<string> = new Set(['call', 'session', 'pin', 'asked', 'argsDigest'])
const DIGEST = /\b((?:sha256:)?[\w-]{8})[\w-]{32,}/g

/** The call, who did it, then its other plain values. */
export function describeEvent(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail))
    return detail === null ? '' : JSON.stringify(detail)
  const { server, name, by, principal, agent, ...rest } = detail as Record<string, unknown>
  const call = [server, name].filter((part) => typeof part === 'string').join('/')
  const who = [toName(by) ?? principal, agent]
    .filter((part) => typeof part === 'string')
    .join(' / ')
  const words = [call, who && `by ${who}`]
  for (const [key, value] of Object.entries(rest)) {
    if (OMITTED_KEYS.has(key) || value === '' || value === null) continue
    if (typeof value === 'object') words.push(`${key} …`)
    else words.push(`${key} ${String(value).replace(DIGEST, '$1…')}`)
  }
  return words.filter((word) => word !== '').join(', ')
}

/** A person is recorded by name, or with how they proved who they are. */
function toName(by: unknown): unknown {
  return typeof by === 'object' && by !== null && 'name' in by ? by.name : by
}
