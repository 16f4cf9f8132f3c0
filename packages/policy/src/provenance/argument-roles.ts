// What `destinations` of a document says of arguments, over what their names say. A document loosens only
// its own `protect`: beside a base policy, each is tightened by what the other says and not loosened.

import { ARGUMENT_ROLES, type ArgumentRole, type ArgumentRoles } from '../calls/provenance.ts'
import { getRole } from './names.ts'

/** Places by their strictness; the last is the strictest. */
function rank(role: ArgumentRole): number {
  return ARGUMENT_ROLES.length - ARGUMENT_ROLES.indexOf(role)
}

/** Joins the roles of lists. If several lists name an argument, the strictest role counts. */
export function joinRoles(
  lists: readonly (readonly (readonly [path: string, role: ArgumentRole])[])[],
): ArgumentRoles | undefined {
  const joined = new Map<string, ArgumentRole>()
  for (const [path, role] of lists.flat()) {
    const other = joined.get(path)
    if (other === undefined || rank(role) > rank(other)) joined.set(path, role)
  }
  return joined.size === 0 ? undefined : joined
}

/** `roles`, and what `other` says where that is stricter. */
export function tightenRoles(
  roles: ArgumentRoles | undefined,
  other: ArgumentRoles | undefined,
): ArgumentRoles | undefined {
  if (other === undefined) return roles
  const tightened = new Map(roles)
  for (const [path, role] of other)
    if (rank(role) > rankWithout(path, roles)) tightened.set(path, role)
  return tightened.size === 0 ? undefined : tightened
}

/** What is checked of the argument by `roles`, or by its name if they say nothing. */
function rankWithout(path: string, roles: ArgumentRoles | undefined): number {
  const policyRole = findRole(path, roles)
  if (policyRole !== undefined) return rank(policyRole)
  switch (getRole(path.slice(path.lastIndexOf('.') + 1))) {
    case 'recipient':
    case 'address':
    case 'credential':
      return rank('recipient')
    case 'id':
    case 'name':
      return rank('id')
    default:
      return rank('text')
  }
}

/** The role of the argument, or of the innermost object around it that has one. */
function findRole(path: string, roles: ArgumentRoles | undefined): ArgumentRole | undefined {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('.'))) {
    const found = roles?.get(at)
    if (found !== undefined || !at.includes('.')) return found
  }
}

/** Something goes there, also if the tool only reads. */
export function isSentTo(role: ArgumentRole | undefined): boolean {
  return role === 'address' || role === 'recipient'
}

/** Checked as a whole, whatever it looks like. */
export function isDestination(role: ArgumentRole | undefined): boolean {
  return isSentTo(role) || role === 'id'
}
