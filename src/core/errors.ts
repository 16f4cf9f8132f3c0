// The codes a decision on a call carries beside `ALLOWED`: what an agent is told, and what the
// record keeps. Faults of the engine itself are policy's `POLICY_FAULT`.

export const ERRORS = {
  DENIED: 'a rule, a guardrail or the default says no',
  RATE_LIMITED: 'too many calls in the window of a limit',
  SPEND_LIMITED: 'the amount does not fit what a limit has left',
  APPROVAL_REQUIRED: 'a person has to say yes first',
  DEFINITION_CHANGED: 'the definition of the tool is not the one that was accepted',
  FROZEN: 'a person has frozen the gate, the server, the principal or the agent',
} as const
