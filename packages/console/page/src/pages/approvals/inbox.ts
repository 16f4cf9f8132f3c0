// Approval requests in the query cache: every pending one, kept up to date by the gate's events, and those that are
// decided, a page at a time. Notifies a user who looks away.

import { titleOfCall } from '@sluice/ledger/records/call-title'
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { ApprovalRequest, ApprovalVerdict } from '../../../../src/contract/contract.ts'
import { type ApiError, formatQuery, get } from '../../api.ts'
import { queries } from '../../resource.ts'
import { SharedValue, useShared } from '../../shared-value.ts'
import { listen } from '../../stream.ts'
import { showToast } from '../../ui/toasts.tsx'

type Requests = readonly ApprovalRequest[]
interface RequestPage {
  readonly requests: Requests
  /** On all pages; with the first one. */
  readonly total?: number
}
type Decided = InfiniteData<RequestPage, string | undefined>

/** The stream of events; while it is lost, what is shown may be out of date. */
interface Connection {
  readonly state: 'loading' | 'open' | 'lost'
  /** Why it is lost, if the gate reported a reason. */
  readonly why?: string | undefined
}

export interface Inbox extends Connection {
  /** All of them, the one with the least time left first. */
  readonly pending: Requests
}

const PENDING = ['/approvals', 'pending']
const DECIDED = ['/approvals', 'decided']
const DECIDED_STATES = 'approved,denied,expired,void,executed,unknown'
/** The largest page of the gate. */
const PENDING_PAGE = 1_000
const DECIDED_PAGE = 100
const NONE: Requests = []

const connection = new SharedValue<Connection>({ state: 'loading' })
let ending: (() => void) | undefined
/** What changes while the list is loading is newer than the list; undefined while none is loading. */
let changed: ApprovalRequest[] | undefined

export function useInbox(): Inbox {
  const { data = NONE } = useQuery<Requests>({
    queryKey: PENDING,
    queryFn: fetchPending,
    enabled: false,
  })
  return { ...useShared(connection), pending: data }
}

export interface DecidedRequests {
  /** Those that were decided last first; undefined until they are here. */
  readonly requests: Requests | undefined
  readonly error: ApiError | undefined
  /** How many there are, also older ones. */
  readonly total: number | undefined
  /** Undefined if there are no older ones. */
  readonly onOlder: (() => void) | undefined
}

/** The gate searches all of them, with what the ledger has of their arguments. */
export function useDecided(isNeeded: boolean, text: string): DecidedRequests {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery<
    RequestPage,
    ApiError,
    Decided,
    string[],
    string | undefined
  >({
    queryKey: [...DECIDED, text],
    queryFn: ({ pageParam: before, signal }) =>
      list({ states: DECIDED_STATES, limit: DECIDED_PAGE, text, before }, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ requests }) =>
      requests.length < DECIDED_PAGE ? undefined : requests.at(-1)?.id,
    enabled: isNeeded,
    placeholderData: keepPreviousData,
  })
  const requests = data?.pages
    .flatMap((page) => page.requests)
    .sort((one, other) => decidedAt(other) - decidedAt(one))
  const onOlder = hasNextPage ? () => void fetchNextPage() : undefined
  const total = data?.pages[0]?.total
  return { requests, total, error: error ?? undefined, onOlder }
}

/** Without a vote it ended by itself, or with what it was about. */
export function decidedAt({ votes, atMs, expiresAtMs, state }: ApprovalRequest): number {
  return votes.at(-1)?.atMs ?? (state === 'expired' ? expiresAtMs : atMs)
}

/** Started again with every sign-in. */
export function openInbox(): () => void {
  ending?.()
  queries.removeQueries({ queryKey: PENDING })
  connection.set({ state: 'loading' })
  const load = () =>
    queries.fetchQuery({ queryKey: PENDING, queryFn: fetchPending, staleTime: 0 }).then(
      () => {
        connection.set({ state: 'open' })
        // What failed while the gate was away is asked for at once, not at its next turn.
        void queries.refetchQueries({ predicate: ({ state }) => state.status === 'error' })
      },
      () => connection.set({ state: 'lost' }),
    )
  ending = listen('/approvals/watch', {
    keeps: 'while seen or first',
    // What was missed between two streams is in the list.
    onState: (state, why) => (state === 'open' ? void load() : connection.set({ state, why })),
    onEvent: ({ data }) => upsertRequest(JSON.parse(data) as ApprovalRequest),
  })
  return ending
}

async function fetchPending({ signal }: { signal: AbortSignal }): Promise<Requests> {
  const newer: ApprovalRequest[] = []
  changed = newer
  try {
    const found: ApprovalRequest[] = []
    for (;;) {
      const before = found.at(-1)?.id
      const query = { states: 'pending', limit: PENDING_PAGE, before }
      const { requests } = await list(query, signal)
      if (requests.length === 0) return newer.reduce(withRequest, found.sort(byTimeLeft))
      found.push(...requests)
    }
  } finally {
    // A load that a new sign-in has overtaken leaves the newer one alone.
    if (changed === newer) changed = undefined
  }
}

function list(query: Parameters<typeof formatQuery>[0], signal: AbortSignal): Promise<RequestPage> {
  return get<RequestPage>(`/approvals${formatQuery(query)}`, signal)
}

function withRequest(requests: Requests, request: ApprovalRequest): Requests {
  const others = requests.filter(({ id }) => id !== request.id)
  return request.state === 'pending' ? [...others, request].sort(byTimeLeft) : others
}

function byTimeLeft(one: ApprovalRequest, other: ApprovalRequest): number {
  return one.expiresAtMs - other.expiresAtMs
}

/** The key of one request, as `useResource` asks for it. */
export function pathOf(id: string): string {
  return `/approvals/${encodeURIComponent(id)}`
}

/** Requests that this page has approved, and by whom. */
const approvedHere = new Map<string, string>()

/** The answer to a verdict of this page, or what came of it since; a later denial by another person is announced. */
export function noteVerdict(
  answer: ApprovalRequest,
  verdict: ApprovalVerdict['verdict'],
): ApprovalRequest {
  const own = answer.votes.findLast((vote) => vote.verdict === verdict)
  if (verdict === 'approve' && own !== undefined) approvedHere.set(answer.id, own.by)
  // The event of the next vote may have been faster than the answer to this one.
  const known = queries.getQueryData<ApprovalRequest>([pathOf(answer.id)])
  const newest = known !== undefined && known.votes.length > answer.votes.length ? known : answer
  upsertRequest(newest)
  return newest
}

function announceOverruled({ id, state, votes, ...call }: ApprovalRequest): void {
  const by = votes.at(-1)?.by
  const mine = approvedHere.get(id)
  if (state !== 'denied' || mine === undefined || by === mine) return
  approvedHere.delete(id)
  showToast(`${by} has denied ${titleOfCall(call)}, which you had approved`, {
    kind: 'bad',
    to: `/approvals/${id}`,
  })
}

export function upsertRequest(request: ApprovalRequest): void {
  const { id, state } = request
  announceOverruled(request)
  changed?.push(request)
  const pending = queries.getQueryData<Requests>(PENDING)
  if (pending?.every((one) => one.id !== id) && state === 'pending') notifyBrowser(request)
  queries.setQueryData<Requests>(PENDING, (known) => known && withRequest(known, request))
  if (state === 'pending') return
  queries.setQueryData([pathOf(id)], request)
  // The gate adds what the ledger has of the arguments, which are deleted.
  void queries.invalidateQueries({ queryKey: [pathOf(id)] })
  void queries.invalidateQueries({ queryKey: DECIDED })
}

/** Only names that the gate checked: a notification must not contain what a caller wrote. */
function notifyBrowser({ server, name, principal }: ApprovalRequest): void {
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted')
    return
  const plain = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
  new Notification('A call waits for you', {
    body: `${plain(server)}/${plain(name)}, asked by ${plain(principal.id)}`,
    tag: 'sluice-approval',
  })
}
