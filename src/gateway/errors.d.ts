export declare const ERRORS: {
  readonly CONFIG_SERVER: 'a server of the configuration is not one the gate can reach'
  readonly CONFIG_LISTEN: 'an address the gate may not listen on'
  readonly CONFIG_VARIABLE: 'an environment variable that the configuration names is not set'
  readonly GATE_DATA: 'the data directory is in use or cannot be used'
  readonly UPSTREAM_NOT_STARTED: 'the command of a server could not be started'
  readonly UPSTREAM_EXITED: 'the process of a server ended, or closed its input or output'
  readonly UPSTREAM_STUCK: 'a server does not read what it is sent, and the bound of what may wait is met'
  readonly UPSTREAM_TOO_LARGE: 'a server said more in one message than the gate reads'
  readonly UPSTREAM_UNREACHABLE: 'no connection to a server: nothing was sent'
  readonly UPSTREAM_OUTCOME_UNKNOWN: 'the connection broke after the request was sent: it may have been done'
  readonly UPSTREAM_NEEDS_LOGIN: 'a server wants a login that the gate does not have'
  readonly UPSTREAM_SESSION_GONE: 'a server no longer knows the session'
  readonly UPSTREAM_REDIRECT: 'a server sent the gate elsewhere, which it never follows'
  readonly UPSTREAM_STATUS: 'a server refused a request with an HTTP status'
  readonly UPSTREAM_BAD_ANSWER: 'a server answered with something that is no answer'
  readonly UPSTREAM_BUSY: 'too many messages wait for one server already'
}
export type GatewayErrorCode = keyof typeof ERRORS
