// What following links to the gate's own files may cost, by name and unit. A call that needs more
// counts as leading to them.

/** Links to links that are followed; as on Linux. */
export const LINK_DEPTH_MAX = 40
/** Lookups on the disk of one call to follow links; past that a path counts as leading to the gate. */
export const LINK_LOOKUPS_MAX = 4_000
/** Characters of a name on the disk; as on Linux. A longer one is not looked up. */
export const FILE_NAME_LENGTH_MAX = 255
/** Files of the gate that are looked at for hard links; past that a hard link counts as leading to one. */
export const OWN_FILES_WALKED_MAX = 20_000
/** How long what was found counts. */
export const OWN_LINKS_FRESH_MS = 1_000
