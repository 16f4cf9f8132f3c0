// What the name of an argument or of a field says of its value, whatever the tool: free text, date,
// place, address, recipient, credential, id. Names are split into words, so `newStartTime`,
// `new_start_time` and `NEW-START-TIME` are one.

import { memoize } from '../structures/memoize.ts'
import { toWordSet } from '../structures/word-set.ts'

/** The words of each role, in the order in which they are looked for. */
const ROLES = {
  'free text':
    toWordSet(`body content contents subject title headline description message messages query
  text comment comments note notes summary caption snippet excerpt abstract bio about review reviews
  feedback html markdown transcript prompt question answer reply remark remarks memo reason details
  instructions explanation paragraph quote lyrics story prose`),
  credential:
    toWordSet(`password passwd passphrase secret token apikey key pin credential credentials
  passcode privatekey`),
  address: toWordSet(`url urls uri uris link links href website websites site sites webpage endpoint
  endpoints webhook webhooks host hosts hostname hostnames domain domains fqdn origin origins server servers callback`),
  recipient:
    toWordSet(`recipient recipients to cc bcc email emails mail mails participant participants
  attendee attendees invitee invitees user users username member members receiver payee beneficiary
  account accounts iban bic wallet card phone telephone mobile number contact contacts person people
  chat chats conversation collaborator collaborators assignee assignees reviewer reviewers owner owners channel channels group
  groups team teams`),
  date: toWordSet(`date dates time times day days datetime timestamp start end begin until since from_date
  deadline due duration month year week hour hours minute minutes timezone tz created updated modified
  scheduled at on when expires`),
  place:
    toWordSet(`location locations place places venue city street country region state zip zipcode
  postcode postal town address addr room district`),
}
const ID = toWordSet('id ids identifier uuid guid sha hash ref number no nr')

export type ValueRole = keyof typeof ROLES | 'id' | 'name'
const ROLE_NAMES = Object.keys(ROLES) as (keyof typeof ROLES)[]

/** Names that are remembered. */
export const NAMES_MAX = 4_096

/** The role that a name suggests by its last word that says anything, whatever its number: `email_body2` is a body,
 * `body_email` an e-mail. */
export const getRole = memoize(
  (name): ValueRole => findRole(splitName(name.replace(/\d{1,4}$/, ''))),
  NAMES_MAX,
)

function findRole(words: readonly string[]): ValueRole {
  const last = words.at(-1) ?? ''
  // The id of a person or a group, and the number of an account, say who gets something.
  if (ID.has(last))
    return words.length > 1 && ROLES.recipient.has(words.at(-2) as string) ? 'recipient' : 'id'
  for (const word of [...words].reverse()) {
    const role = ROLE_NAMES.find((each) => ROLES[each].has(word))
    if (role !== undefined) return role
  }
  return 'name'
}

const PATH = toWordSet('path paths file files filename filenames dir directory folder folders cwd')

/** What is named so has a dot for another reason than a host. */
export const isPathName = memoize(
  (name): boolean => splitName(name).some((word) => PATH.has(word)),
  NAMES_MAX,
)

const EVERYBODY: ReadonlySet<string> = toWordSet(
  'public anyone everyone everybody world internet allusers all_users anonymous',
)

/** A value that says who gets something, whatever its argument is called. */
export function isEverybody(text: string): boolean {
  // Asked of every value: most are longer, or begin with another letter.
  if (text.length < 5 || text.length > 9 || !'paewiPAEWI'.includes(text[0] as string)) return false
  return EVERYBODY.has(text.toLowerCase())
}

/** Words of an identifier, in lower case. Asked for several times a call, mostly for the same names. */
export const splitName = memoize(
  (name): readonly string[] =>
    name
      .slice(0, NAME_CHARS_MAX)
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== ''),
  NAMES_MAX,
)

const NAME_CHARS_MAX = 200
