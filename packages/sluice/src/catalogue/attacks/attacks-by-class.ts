// The library of attacks, last part: what the class of a tool alone lets an attacker do. One entry a class,
// so that no tool is without one; in terms of a tool's own arguments in link-attacks.ts.

import type { Attack } from './attack.ts'

export const ATTACKS_BY_CLASS: readonly Attack[] = [
  {
    id: 'A33',
    name: 'over-reading',
    what: 'an agent that follows somebody else’s words asks for more than its task needs, and what it has read leaves by another tool',
    access: ['Read'],
    signal: 'its class',
    shows: 'many reads in a row, or reads of what the task never spoke of',
    rule: 'version: 1\ndefault: deny\ntools:\n  "{tool}":\n    action: allow\n    rate_limit: { max: 60, window: 60 }\nlabels: { "{tool}": [private] }\n',
    gate: 'partly',
    bounds:
      'limits and labels bound how much is read and what may follow; one answer may be enough',
    incident: 'agents led by text in issues and mails, from 2025 on',
  },
  {
    id: 'A34',
    name: 'planted data',
    what: 'an agent that follows somebody else’s words writes or sends what they chose, and people and programs rely on it',
    access: ['Write'],
    signal: 'its class',
    shows: 'writes after untrusted text was read in the same session',
    rule: 'version: 1\ndefault: deny\ntools:\n  "{tool}":\n    action: require_approval\n    when: session.saw.untrusted\n    otherwise: allow\n',
    gate: 'partly',
    bounds: 'a person sees what is written before it is; whether it is true, the gate cannot tell',
    incident: 'MITRE ATLAS AML.T0080',
  },
  {
    id: 'A35',
    name: 'borrowed hands',
    what: 'an agent that follows somebody else’s words runs or drives what they chose, with the rights of the server',
    access: ['Execute'],
    signal: 'its class',
    shows: 'runs after untrusted text was read, or that the task never spoke of',
    rule: 'version: 1\ndefault: deny\ntools:\n  "{tool}": { action: require_approval, reason: it runs or drives something }\n',
    gate: 'partly',
    bounds: 'a person sees the call; what the thing that runs does then, the gate does not see',
    incident: 'coding agents that ran commands from a web page, 2025',
  },
  {
    id: 'A36',
    name: 'ordered destruction',
    what: 'an agent that errs, or follows somebody else’s words, takes away what cannot be brought back',
    access: ['Destructive'],
    signal: 'its class',
    shows: 'the call itself: there is no second one',
    rule: 'version: 1\ndefault: deny\ntools:\n  "{tool}":\n    action: require_approval\n    rate_limit: { max: 5, window: 60 }\n',
    gate: 'yes',
    bounds: 'a person decides on each call; a person may err too, so few at a time',
    incident: 'an agent that deleted a production database, 2025',
  },
  {
    id: 'A37',
    name: 'ordered payment',
    what: 'an agent that errs, or follows somebody else’s words, pays, orders or trades',
    access: ['Financial'],
    signal: 'its class',
    shows: 'a payee, an amount or an order that the task never spoke of',
    rule: 'version: 1\ndefault: deny\ntools:\n  "{tool}":\n    action: require_approval\n    rate_limit: { max: 5, window: 60 }\n',
    gate: 'yes',
    bounds:
      'a person decides on each call, and limits bound the rest; the receiver is not known to the gate',
    incident: 'memory planted in trading agents, shown in 2025',
  },
]
