// Decision codes other than `ALLOWED`: returned to the agent and stored in the ledger. Faults of
// the engine itself have policy's `POLICY_FAULT`.

export const ERRORS = {
  DENIED: 'a rule, a guardrail or the default says no',
  RATE_LIMITED: 'too many calls in the window of a limit',
  SPEND_LIMITED: 'the amount does not fit what a limit has left',
  APPROVAL_REQUIRED: 'a person has to say yes first',
  APPROVAL_PENDING: 'a person was asked, and has not decided yet',
  APPROVAL_DENIED: 'a person said no',
  APPROVAL_EXPIRED: 'nobody decided in time, which is a no',
  APPROVAL_USED: 'an identical call has used the approval',
  APPROVAL_LIMITED: 'too many calls wait for a person already',
  DEFINITION_CHANGED: 'the definition of the tool is not the one that was accepted',
  FROZEN: 'a person has frozen the gate, the server, the principal or the agent',
} as const
