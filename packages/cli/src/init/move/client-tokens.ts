// Session tokens for the entries of clients that become addresses: one for each file of the user's, so that
// all entries of a client are one session. A project's file has none: it is shared by different clients.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { SessionTokens } from '@sluice/access/identity/sessions/session-tokens'
import type { DiscoveredServer } from './find-servers.ts'

export class ClientTokens {
  readonly #byFile = new Map<string, string>()
  readonly #make: () => string

  /** A dry run shows where a token would be, and makes no key. */
  constructor(data: string, isDry: boolean) {
    this.#make = isDry
      ? () => 'sluice_session_TOKEN'
      : () => new SessionTokens(InstallationKey.at(data)).make()
  }

  tokenFor({ file, scope }: DiscoveredServer['from']): string | undefined {
    if (scope !== 'user') return undefined
    const token = this.#byFile.get(file) ?? this.#make()
    this.#byFile.set(file, token)
    return token
  }
}
