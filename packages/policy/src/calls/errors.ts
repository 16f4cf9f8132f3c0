// Decision codes other than `ALLOWED`: returned to the agent and stored in the ledger. Faults of
// the engine itself have policy's `POLICY_FAULT`.

export const ERRORS = {
  DENIED: 'a rule, a guardrail or the default denies the call',
  RATE_LIMITED: 'too many calls in the window of a limit',
  SPEND_LIMITED: 'the amount does not fit what a limit has left',
  APPROVAL_REQUIRED: 'an approver has to approve it first',
  APPROVAL_PENDING: 'approvers were notified, and have not decided yet',
  APPROVAL_DENIED: 'an approver denied it',
  APPROVAL_EXPIRED: 'no approver decided in time, which is a denial',
  APPROVAL_USED: 'an identical call has used the approval',
  APPROVAL_LIMITED: 'too many calls are pending approval already',
  DEFINITION_CHANGED: 'the definition of the tool is not the one that was accepted',
  GATE_UNAVAILABLE: 'the gate cannot record calls at the moment, so it makes none',
  FROZEN: 'a person has frozen the gate, the server, the principal or the agent',
} as const
