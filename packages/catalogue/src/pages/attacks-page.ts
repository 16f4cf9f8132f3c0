// The page of the library of attacks: every entry with what it is, how it shows, the rule that stops
// it, and how far a gate can stop it at all. Pure.

import type { Page, PageBlock } from '@sluice/guard/show/page'
import { createTextBlock, yaml } from '@sluice/guard/show/page'
import { ATTACKS, ruleAgainst } from '../attacks/link-attacks.ts'

/** How the rule of each attack begins: the page says it once. */
const RULE_HEAD = 'version: 1\ndefault: deny\n'

export function attacksPage(): Page {
  const rules = ATTACKS.map((attack) => ruleAgainst(attack, 'server/tool'))
  return {
    title: 'Attacks',
    lead: `${ATTACKS.length} ways in which tools are turned against their users, and what a gate can do about each. A rule stands below \`version: 1\` and \`default: deny\`, with \`server/tool\` for the tool. An attack without *Seen in* has no public report: it follows from what such a tool returns or changes.`,
    sections: ATTACKS.map((attack, index) => ({
      heading: `${attack.id} ${attack.name}`,
      blocks: [
        createTextBlock(`${capital(attack.what)}.`),
        {
          kind: 'list',
          items: [
            ...(attack.access.length === 5 ? [] : [`Exploits: ${attack.access.join(', ')}`]),
            `Shows: ${attack.shows}`,
            `Stopped **${attack.gate}**: ${attack.bounds}`,
            ...(attack.incident === undefined ? [] : [`Seen in: ${attack.incident}`]),
          ],
        },
        ...ruleBlocks(
          rules[index] ?? '',
          ATTACKS[rules.indexOf(rules[index] ?? '')]?.id,
          attack.id,
        ),
      ],
    })),
  }
}

/** A rule that several attacks have is shown at the first of them. */
function ruleBlocks(rule: string, first: string | undefined, id: string): PageBlock[] {
  const body = rule.replace(RULE_HEAD, '')
  if (body === '') return [createTextBlock('No rule is needed.')]
  return [first === id ? yaml(body) : createTextBlock(`The rule is that of ${first}.`)]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
