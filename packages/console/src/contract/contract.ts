// Types of the admin API for its clients: the console imports its types from here and from nowhere else. Each is
// the type of what builds the answer, so an answer is described once. Texts of servers, tools, agents and models
// in answers are untrusted; the console shows them as text. What each path takes and needs is in the tables
// `*-endpoints.ts`; `/api/openapi.json` is written from the same tables. Every request but those of sign-in
// carries `Authorization: Bearer TOKEN`, with the token of `POST /api/sign-in` that stays in the tab's memory, or
// a system's credential. What is marked "proof" also needs a passkey assertion for just that request.

export type {
  ApprovalBlock,
  ApprovalRequest,
  ApprovalVerdict,
  ArgumentBound,
  RevealedArguments,
  StandingApproval,
  StandingTerms,
  Vote,
} from '@sluice/access/approvals/approval'
export type { PersonView, Role } from '@sluice/access/identity/person'
export type { ComparedSide, TurnComparison } from '@sluice/agents/tools/compare-turns'
export type { ScheduleView } from '@sluice/agents/tools/schedule-tools'
export type { OutcomeLabel } from '@sluice/ledger/records/outcome-label'
export type {
  AgentEvent,
  AgentMessage,
  AgentPage,
  ListedAgentView,
} from '../endpoints/agent-views.ts'
export type {
  AlertsView,
  AlertTest,
  LimitsView,
  SentAlertView,
} from '../endpoints/alerts-endpoints.ts'
export type { LinesView } from '../endpoints/approval-lines.ts'
export type { ConnectionView, ConnectStart } from '../endpoints/connect-endpoints.ts'
export type { PolicyVersion } from '../endpoints/console-store.ts'
export type {
  PendingDefinitionsView,
  PendingDefinitionView,
} from '../endpoints/pending-definitions.ts'
export type { PolicyDocumentView, PolicyView } from '../endpoints/policy-endpoints.ts'
export type { SavedPolicy } from '../endpoints/save-policy.ts'
export type {
  ServersView,
  ServerView,
  ToolPage,
  ToolView,
} from '../endpoints/servers-endpoints.ts'
export type { OpenSessionView } from '../endpoints/sessions-endpoints.ts'
export type { SettingsView } from '../endpoints/settings-endpoints.ts'
export type { VerificationView } from '../endpoints/verify-endpoint.ts'
export type { AgentTurn, AgentTurns } from '../queries/agent-turns.ts'
export type { BoardTool } from '../queries/board.ts'
export type { CallExplanation, CallRecord } from '../queries/call-views.ts'
export type { PolicyTestsDraft } from '../queries/draft-tests.ts'
export type { PolicyProofs, TriedDecision } from '../queries/draft-trials.ts'
export type { OutcomeCounts } from '../queries/histogram.ts'
export type {
  CallHistogram,
  LedgerEvents,
  LedgerNames,
  LedgerPage,
  Overview,
} from '../queries/ledger-queries.ts'
export type { CountedName } from '../queries/overview.ts'
export type { PolicyDraft } from '../queries/policy-drafts.ts'
export type { CallAddress } from '../queries/read-requests.ts'
export type { RuleText } from '../queries/rule-text.ts'
export type { AgentUsage, UsageFigures } from '../queries/usage-view.ts'
export type { RecordedSum } from '../queries/value-queries.ts'
export type { ExternalSignInStart, IssuerAnswer } from '../sign-in/external-sign-in.ts'
export type {
  CurrentPerson,
  SignedIn,
  SignIn,
  SignInMethods,
} from '../sign-in/sign-in-endpoints.ts'

import type { ApprovalBlock, StandingApproval } from '@sluice/access/approvals/approval'

/** `GET /api/standing`. */
export interface StandingResponse {
  readonly standing: readonly StandingApproval[]
  readonly barred: readonly ApprovalBlock[]
}
