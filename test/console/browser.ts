// Chromium for the tests of the console, see test/support/programs.ts.

import { type Browser, chromium } from 'playwright-core'
import {
  findProgram,
  howToInstall,
  type Machine,
  nameSuite,
  type Program,
} from '../support/programs.ts'

const CHROMIUM: Program = {
  title: 'Chromium',
  neededBy: "the console's tests need",
  package: 'chromium',
  variable: 'SLUICE_TEST_CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
}
export const HOW = howToInstall(CHROMIUM)

export function findChromium(machine?: Machine): string | undefined {
  return findProgram(CHROMIUM, machine)
}

/** The name of a suite that needs it. */
export function named(suite: string, file: string | undefined): string {
  return nameSuite(suite, CHROMIUM, file)
}

/** Playwright's own, which the argument below replaces, and two popups of the address bar: hidden pages of Chromium in
 * every window, which take as much CPU as the page that is tested. */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
]

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
    ],
    // A list with a bar beside its rows is narrower, as on most desktops.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  })
}
