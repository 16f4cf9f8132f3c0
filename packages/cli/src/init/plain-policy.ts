// The policy that `sluice init` writes before it knows any tools.

import { suggestPolicy } from '@sluice/catalogue/pages/suggest-policy'

/** Before the tools are known: by what a tool can do. */
export const PLAIN_POLICY = suggestPolicy([]).yaml.replace(
  'categories:\n',
  'categories:\n  Read: allow\n  Write: { action: allow, rate_limit: { max: 30, window: 60 } }\n  Execute: require_approval\n  Destructive: require_approval\n  Financial: require_approval\n',
)
