// The states of a session's link to a server and what leads from one to the next. Every change of state goes through
// the table, so an event that comes late or twice (a second restart, an answer after the close) is ignored in one
// place. A link without a place of its own (HTTP, in process, a shared process) begins awake and never sleeps.

export type LinkState =
  /** There is no process. The next message starts one; the session goes on in it. */
  | 'asleep'
  /** A place for a process is awaited, or the session is begun again. Messages wait in the queue. */
  | 'waking'
  /** Like `waking`, but the configuration has changed since: another process is started as soon as this one is up. */
  | 'stale'
  /** Messages are sent as soon as the protocol generation of the server is known. */
  | 'awake'
  /** Another process takes the place of this one, which still answers open requests. New requests wait. */
  | 'draining'
  /** The session with the server is over. */
  | 'closed'

export type LinkEvent =
  /** A message is to be sent, and there is no process. */
  | 'wake'
  /** The quota of processes stayed used up for too long. */
  | 'noPlace'
  /** The session could not be begun in the new process. The next message tries it with another. */
  | 'notBegun'
  /** The server is there and has the session. */
  | 'begun'
  /** The process is idle or another session needs its place. */
  | 'rest'
  /** The configuration of the server has changed. */
  | 'restart'
  /** The old process has answered all that it was sent. */
  | 'drained'
  /** A server over HTTP no longer knows the session. */
  | 'forgotten'
  /** The server was busy when the session was to begin again. The next refusal tries once more. */
  | 'postponed'
  /** The client or the server has ended the session. */
  | 'close'

/** The state that follows. An event that has no entry means nothing in that state. */
export const LINK_TRANSITIONS: Readonly<
  Record<LinkState, Readonly<Partial<Record<LinkEvent, LinkState>>>>
> = {
  asleep: { wake: 'waking', close: 'closed' },
  waking: {
    begun: 'awake',
    noPlace: 'asleep',
    notBegun: 'asleep',
    postponed: 'awake',
    restart: 'stale',
    close: 'closed',
  },
  stale: { begun: 'draining', noPlace: 'asleep', notBegun: 'asleep', close: 'closed' },
  awake: { rest: 'asleep', restart: 'draining', forgotten: 'waking', close: 'closed' },
  draining: { drained: 'asleep', close: 'closed' },
  closed: {},
}
