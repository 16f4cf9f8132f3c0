// What a tool can do, from its definition. For now by the verb of its name alone, unknown as
// Execute; the catalogue's own classifier takes this place behind the same signature.
// Pure: no network, no model, the same answer every time.

import type { Category, Risk, ToolDefinition } from '../core/tools.ts'

export interface Classification {
  readonly category: Category
  readonly risk: Risk
}

export function classify(definition: ToolDefinition): Classification {
  const category = categoryOf(definition.name)
  return { category, risk: RISK[category] }
}

const RISK: Record<Category, Risk> = {
  Read: 'low',
  Write: 'medium',
  Execute: 'high',
  Destructive: 'critical',
  Financial: 'critical',
}

/** The worst word in the name decides; where two classes fit, the later line. */
const VERBS: readonly (readonly [Category, RegExp])[] = [
  [
    'Read',
    /^(get|list|read|search|find|fetch|query|show|describe|count|check|view|lookup|look|status|info|browse|inspect|validate|verify|compare|preview|summari[sz]e|analy[sz]e|explain|diff|log|history|todos|files|state|tools|stopped|turn|categories|active|config)$/,
  ],
  [
    'Write',
    /^(create|add|update|write|edit|set|put|post|send|upload|insert|append|move|rename|copy|comment|reply|assign|label|tag|save|import|export|publish|share|invite|star|pin|link|patch|modify|change|configure|enable|disable|archive|merge|fork|backup)$/,
  ],
  [
    'Execute',
    /^(run|exec|execute|eval|invoke|call|start|stop|restart|deploy|trigger|launch|click|type|navigate|press|prompt|resume|spawn|shell|command|script|build|install)$/,
  ],
  [
    'Destructive',
    /^(delete|remove|drop|destroy|purge|terminate|revoke|truncate|wipe|erase|reset|kill|clear|prune|uninstall|rotate)$/,
  ],
  [
    'Financial',
    /^(pay|charge|refund|transfer|withdraw|buy|sell|purchase|checkout|payout|invoice|trade|order|subscribe)$/,
  ],
]

function categoryOf(name: string): Category {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const found = VERBS.filter(([, verb]) => words.some((word) => verb.test(word)))
  const worst = found.at(-1)?.[0]
  // `get_order` reads: a leading verb of reading outweighs a noun that is also a verb.
  if (worst !== undefined && READS_FIRST.test(words[0] ?? '')) return 'Read'
  return worst ?? 'Execute'
}

const READS_FIRST = /^(get|list|read|search|find|fetch|show|describe|count|view|lookup)$/
