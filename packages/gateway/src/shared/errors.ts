// Every code the gate answers with where a server cannot be reached or does not behave, and what it
// means. docs/reference/errors.md lists the same codes; a test holds the two together.

export const ERRORS = {
  CONFIG_SERVER: 'a server of the configuration is not one the gate can reach',
  CONFIG_LISTEN: 'an address the gate may not listen on',
  CONFIG_PUBLIC_URL: 'the address at which clients reach the gate is not one',
  CONFIG_ISSUER: 'an authorisation server of the configuration cannot be one',
  CONFIG_POLICY: 'a policy of the configuration has a name it may not have',
  CONFIG_GRANT: 'a grant of the configuration cannot be one',
  CONFIG_METRICS: 'a token for metrics that is none',
  CONFIG_STORE: 'a shared store that cannot be used so',
  CONFIG_VIEW: 'a view gives tools names that they cannot have, or names what is not there',
  CONFIG_CHANNEL: 'a channel that tells people of held calls cannot be one',
  CONFIG_LEDGER: 'how the record is to be kept cannot be done so',
  CONFIG_VARIABLE: 'an environment variable that the configuration names is not set',
  CONFIG_SECRET: 'a reference to a secret stands where it cannot be used, or cannot be read',
  CONFIG_KEYS: 'a line of the file of keys is none',
  UPSTREAM_NOT_STARTED: 'the command of a server could not be started',
  UPSTREAM_EXITED: 'the process of a server ended, or closed its input or output',
  UPSTREAM_STUCK: 'a server has read nothing for a while, and the bound of what may wait is met',
  UPSTREAM_TOO_LARGE: 'a server said more in one message than the gate reads',
  UPSTREAM_UNREACHABLE: 'no connection to a server: nothing was sent',
  UPSTREAM_OUTCOME_UNKNOWN:
    'the connection broke after the request was sent: it may have been done',
  UPSTREAM_TIMEOUT: 'a server did not answer a call in time: it may have been done',
  UPSTREAM_NEEDS_LOGIN: 'a server wants a login that the gate does not have',
  UPSTREAM_NEEDS_SCOPE: 'a server wants a token with more scopes',
  UPSTREAM_TOKEN_REFUSED: 'an authorisation server gave no token for a server: nothing was sent',
  UPSTREAM_SECRET: 'a secret that a server is to be sent cannot be read: nothing was sent',
  UPSTREAM_SESSION_GONE: 'a server no longer knows the session',
  UPSTREAM_REDIRECT: 'a server sent the gate elsewhere, which it never follows',
  UPSTREAM_STATUS: 'a server refused a request with an HTTP status',
  UPSTREAM_BAD_ANSWER: 'a server answered with something that is not an answer',
  BOX_FAILED: 'a line of a coding agent cannot run in a box: nothing was run',
  GATE_RESTARTED: 'the gate stopped or was restarted before it answered a call',
  UPSTREAM_BUSY:
    'too much waits for one server already, or all processes are in use: nothing was sent',
} as const

export type GatewayErrorCode = keyof typeof ERRORS
