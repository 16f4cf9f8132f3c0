// Limits of the isolation of servers, by name and unit.

/** How long the trial of bubblewrap at a start may take. Then it counts as failed. */
export const PROBE_MS_MAX = 10_000
/** Names that one process of a locked server may look up, of those that its profile allows. */
export const LOCKED_NAMES_MAX = 4_096
/** Connections of one process of a locked server at once. A further one is closed. */
export const LOCKED_CONNECTIONS_MAX = 256
/** Refused hosts of one server that are kept for people and recorded. Further ones are only refused. */
export const REFUSED_HOSTS_MAX = 64
/** How long a host that was refused is not recorded again for the same server. */
export const REFUSED_AGAIN_MS = 3_600_000
/** Folders below a project that are looked through for files with secrets before a box starts. */
export const SECRET_FOLDERS_DEEP = 5
/** Files and folders of a project that are looked at for it. With more there is no box. */
export const BOX_ENTRIES_MAX = 200_000
/** How long the start of a box may take. Then its line is refused. */
export const BOX_START_MS_MAX = 10_000
/** Boxes of one gate at once. */
export const BOXES_MAX = 64
/** Size of a rewritten line, below what Linux takes as one argument (128 KiB) with the words of the client around it. */
export const BOX_LINE_BYTES_MAX = 120 * 1_024
/** How often a box looks whether its client still runs. */
export const BOX_CLIENT_EVERY_MS = 5_000
/** Lines of one project that `sluice undo` can take back. */
export const SNAPSHOTS_MAX = 50
/** How long it can take a line back. */
export const SNAPSHOT_AGE_MS_MAX = 7 * 24 * 3_600_000
/** Files of a project that a snapshot can have. With more there is none. */
export const SNAPSHOT_FILES_MAX = 100_000
/** How long one command of git for a snapshot may take. */
export const GIT_MS_MAX = 60_000
/** What one such command may print, for example the list of the files. */
export const GIT_OUTPUT_BYTES_MAX = 64 * 1_048_576
