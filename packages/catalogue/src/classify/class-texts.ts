// What each class of tools means, in the words of pages: of a tool, of its use, and of what an attacker gets from it.

import type { Category } from '@sluice/policy/calls/tools'

/** The texts of a class. */
export interface ClassTexts {
  /** Follows "it": `creates or changes data`. */
  readonly is: string
  /** What such a tool does, as sentences. */
  readonly means: string
  /** How agents come to call it, as sentences. */
  readonly used: string
  /** What an attacker gets from it, if no argument can be named; without a full stop. */
  readonly lets: string
  /** What an attacker gets from it; `…` stands for the arguments that are chosen. */
  readonly letsChoose: string
}

export const CLASS_TEXTS: Readonly<Record<Category, ClassTexts>> = {
  Read: {
    is: 'only returns information',
    means: 'It returns data and changes nothing.',
    used: 'An agent calls it to find something out before it acts, often many times in a task and without being asked to.',
    lets: 'an attacker who steers the agent reads what it returns and passes it on through another tool',
    letsChoose:
      'an attacker who steers the agent chooses …, and passes what it returns on through another tool',
  },
  Write: {
    is: 'creates or changes data',
    means: 'It creates or changes data.',
    used: 'An agent calls it to record its work where others see it: usually once or twice at the end of a task, many times if it gets stuck in a loop.',
    lets: 'an attacker who steers the agent changes what others rely on, as often as they like',
    letsChoose: 'an attacker who steers the agent chooses …, and others rely on what is written',
  },
  Execute: {
    is: 'runs code or controls something',
    means: 'It runs code or operates a live system; the effect depends on what is run.',
    used: 'An agent calls it to make something happen, looks at the result, and decides by that what to run next.',
    lets: 'an attacker who steers the agent starts it at will, with the rights of its server',
    letsChoose:
      'an attacker who steers the agent chooses …, and it runs with the rights of its server',
  },
  Destructive: {
    is: 'deletes or revokes something for good',
    means: 'It deletes or revokes something, and offers no way to undo it.',
    used: 'An agent calls it to clean up or to start over, often as a step that nobody asked for by name.',
    lets: 'an attacker who steers the agent deletes or revokes what it acts on, for good',
    letsChoose:
      'an attacker who steers the agent chooses …, and what that selects is gone for good',
  },
  Financial: {
    is: 'moves, commits or prices money',
    means: 'It moves, commits or prices money.',
    used: 'An agent calls it to carry out a purchase, a payment or a trade as the last step of a task.',
    lets: 'an attacker who steers the agent commits money with it',
    letsChoose:
      'an attacker who steers the agent chooses …, and money is moved or committed accordingly',
  },
}
