// Words of questions and of tools, for the search: those that say nothing, and those that mean the same.

import { toWords } from '@sluice/policy/structures/word-set'

/** Words of which no tool is found. */
export const STOP_WORDS: readonly string[] = toWords(`
  a about all also am an and any are as at be been but by can could did do does for from get give
  had has have how i if in into is it its let me my no not of on one or our out please should so
  some tell than that the their them then there these they this to up use used using want was we
  were what when where which who will with would you your mcp server tool
`)

/** Words of users and of tools for the same thing: each also finds the others of its line, for less. */
export const SYNONYMS: readonly (readonly string[])[] = [
  'delete remove drop erase destroy clear discard purge trash rid wipe',
  'create add make new insert put write register setup provision open',
  'update change edit modify set rename patch adjust switch mark replace correct',
  'list show get read display fetch view retrieve see look load details info information',
  'find search lookup query discover',
  'stop end finish cancel terminate kill close quit',
  'start begin launch run execute trigger boot init initialize',
  'copy duplicate clone',
  'multiple several many batch bulk various',
  'send post publish broadcast notify',
  'check verify validate test assert',
  'comment remark reply note annotation',
  'message mail email',
  'directory folder',
  'issue ticket bug problem',
  'user person people member colleague coworker teammate collaborator',
  'event meeting appointment',
  'row line record',
  'file document object',
  'table sheet spreadsheet',
  'page website site url',
  'image picture photo',
  'share access permission sharing',
  'color colour',
  'upload attach',
  'download save export dump',
  'statistic metric report analytic figure',
  'machine computer instance vm node droplet',
].map(toWords)
