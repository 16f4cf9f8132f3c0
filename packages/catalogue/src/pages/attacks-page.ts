// The page of the library of attacks: every entry with what it is, how it shows, the rule that stops
// it, and how far a gate can stop it at all. Pure.

import type { Page } from '@sluice/guard/show/page'
import { createTextBlock, yaml } from '@sluice/guard/show/page'
import { ATTACKS, ruleAgainst } from '../attacks/link-attacks.ts'

export function attacksPage(): Page {
  return {
    title: 'Attacks',
    lead: `${ATTACKS.length} ways in which tools are turned against their users, and what a gate can do about each.`,
    sections: ATTACKS.map((attack) => ({
      heading: `${attack.id} ${attack.name}`,
      blocks: [
        createTextBlock(`${capital(attack.what)}.`),
        {
          kind: 'list',
          items: [
            `Exploits: ${attack.access.length === 5 ? 'any access' : attack.access.join(', ')}`,
            `Shows: ${attack.shows}`,
            `A gate stops it: **${attack.gate}** — ${attack.bounds}`,
            `Seen in: ${attack.incident}`,
          ],
        },
        yaml(ruleAgainst(attack, 'server/tool')),
      ],
    })),
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
