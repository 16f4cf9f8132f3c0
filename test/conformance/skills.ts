// The skills extension of the fixture (io.modelcontextprotocol/skills), by the SDK: three skills, the first of them with a
// directory, and pages of two entries, so that cursors are followed.

import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'

const skillText = (name: string) =>
  `---\nname: ${name}\ndescription: What to do about ${name}.\n---\n# ${name}\n\nAsk a person first.\n`

/** Attached to each server that is made. */
export const SKILLS = await SkillsExtension.load(
  memorySkillFiles({
    'credits/SKILL.md': skillText('credits'),
    'credits/forms/credit-note.md': 'A credit note.\n',
    'invoices/SKILL.md': skillText('invoices'),
    'refunds/SKILL.md': skillText('refunds'),
  }),
  { pageSize: 2 },
)
