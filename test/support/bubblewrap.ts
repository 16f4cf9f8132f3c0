// bubblewrap, by which servers are isolated, see test/support/programs.ts.

import { findProgram, nameSuite, type Program } from './programs.ts'

const BUBBLEWRAP: Program = {
  title: 'bubblewrap',
  neededBy: 'the tests of isolation need',
  package: 'bubblewrap',
  variable: 'SLUICE_TEST_BUBBLEWRAP',
  names: ['bwrap'],
}

export function findBubblewrap(): string | undefined {
  return process.platform === 'linux' ? findProgram(BUBBLEWRAP) : undefined
}

export function nameBubblewrapSuite(suite: string, file: string | undefined): string {
  return nameSuite(suite, BUBBLEWRAP, file)
}
