// Where the settings of coding clients are in a project, for tests of what protects them there.

import { basename, join } from 'node:path'
import { CODING_CLIENTS } from '@sluice/gateway/hooks/clients/table'

/** A file by its path from the home directory and from the top of a project. */
export interface SettingsFile {
  readonly inHome: string
  readonly inProject: string
}

/** What runs outside of a box when a client reads it: `.config/opencode` is `.opencode` in a project. */
export const SETTINGS_FILES: readonly SettingsFile[] = Object.values(CODING_CLIENTS).map(
  ({ settings: { file, folder } }) => ({
    inHome: join(folder, file),
    inProject: join(`.${basename(folder).replace(/^\./, '')}`, file),
  }),
)
