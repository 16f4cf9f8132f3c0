// Limits of hooks, by name and unit.

/** Size of the payload of a hook. A larger one is refused with HTTP status 413. */
export const HOOK_BODY_BYTES_MAX = 4 * 1_048_576
/** Calls of one session of a client that wait for their end. Beyond it the oldest that was admitted is given up. */
export const HOOK_CALLS_MAX = 64
/** Sessions of clients with hooks. Beyond it the oldest is closed, and its open calls have no known outcome. */
export const HOOK_LINKS_MAX = 256
/** How long a session of a client is kept without a hook. */
export const HOOK_LINK_IDLE_MS = 3_600_000
/** Names of tools beside the catalogue that are listed for a client; the oldest is dropped. */
export const HOOK_OTHER_TOOLS_MAX = 256
/** Calls to MCP servers behind the gate that hooks have announced and that are remembered. */
export const HOOK_ANNOUNCED_MAX = 1_024
/** Client processes and incidents that are remembered. */
export const HOOK_NOTED_MAX = 1_024
/** Folders and links that a path in a hook may have until where it leads is known. A deeper one is refused. */
export const HOOK_LINKS_FOLLOWED_MAX = 1_024
/** Entries of folders that are read to find what the patterns of a line match. With more the user is asked. */
export const HOOK_ENTRIES_READ_MAX = 4_096
