/** Describes tests of the explorer: with the service of the known project, and a browser. */
import { afterAll, beforeAll, expect } from '@jest/globals'
import type { Browser } from 'puppeteer-core'
import type { NewProject } from '../../../../src/projects/project.js'
import { describeInBrowser, startChromium } from '../chromium.js'
import { openExplorer, type ExplorerPage } from './explorer-page.js'
import { startExploredService, type ExploredService } from './project.js'

export interface StartedExplorer {
  readonly service: ExploredService
  readonly browser: Browser
  /** Opens the page, uses it, and closes it. No script may fail on the way. @param query such as `?period=7days` */
  readonly explore: (query: string, use: (explorer: ExplorerPage) => Promise<void>) => Promise<void>
}

/** Describes tests that need a browser. They get what was started once they run. @param fields of the project */
export function describeExplorer(
  name: string,
  tests: (started: () => StartedExplorer) => void,
  fields: Partial<NewProject> = {},
): void {
  describeInBrowser(name, () => {
    let service: ExploredService
    let browser: Browser
    beforeAll(async () => {
      ;[service, browser] = await Promise.all([startExploredService(fields), startChromium()])
    })
    afterAll(async () => {
      await browser.close()
      await service.stop()
    })
    const explore: StartedExplorer['explore'] = async (query, use) => {
      const explorer = await openExplorer(browser, service, query)
      await use(explorer)
      expect(explorer.errors).toEqual([])
      await explorer.close()
    }
    tests(() => ({ service, browser, explore }))
  })
}
