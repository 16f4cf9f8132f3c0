// The local socket of a gate: pipes of clients, and commands. A pipe is identified like a client over HTTP,
// with the audiences of its server.

import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { GateConfig } from '../config/config.ts'
import { SocketFront, type SocketFrontOptions } from '../front/socket/socket.ts'
import type { Gate } from '../gate.ts'
import type { Policies } from '../state/policies.ts'
import type { Servers } from '../state/servers.ts'
import type { Views } from '../state/views.ts'
import { pipeAudiences } from './open-authenticator.ts'
import { listVariables } from './open-servers.ts'
import { describeObserved } from './readiness.ts'

export interface GateSocketOptions
  extends Pick<SocketFrontOptions, 'path' | 'peers' | 'command' | 'onClients'> {
  readonly config: GateConfig
  readonly gate: Gate
  readonly servers: Servers
  readonly views: Views
  readonly policies: Policies
  readonly authenticator: Authenticator
}

export function openSocket(options: GateSocketOptions): SocketFront {
  const { config, gate, servers, views, policies, authenticator, path, peers } = options
  return new SocketFront({
    peers,
    path,
    hasServer: (name) => gate.kindOf(name) !== undefined,
    views: () => gate.viewNames,
    readMode: (server, text) => gate.readMode(server, text),
    listedVariables: (name) => listVariables(servers, views, name),
    open: (name, link, who, origin) => gate.open(name, link, who, origin),
    identify: (token, server) =>
      authenticator.admit({
        token,
        isLocal: true,
        audiences: () => pipeAudiences(config, server),
      }),
    command: options.command,
    notice: () =>
      [describeObserved(policies.now), policies.why, servers.why].filter(Boolean).join('; '),
    onClients: options.onClients,
  })
}
