/** The page of all projects in a real browser: its numbers are those of the query it shows, and a click opens a project. */
import { expect, test } from '@jest/globals'
import { issueAdminKey } from '../../../../src/auth/admin-keys.js'
import { listKeys } from '../../../../src/auth/api-keys.js'
import type { AdminScope } from '../../../../src/contract/admin-scopes.js'
import { createWorld } from '../../../support/world/world.js'
import { describeExplorer } from './describe-explorer.js'
import { openExplorer } from './explorer-page.js'
import { NOW } from './project.js'
import { readText, readTexts } from './read-page.js'

describeExplorer('the overview', (started) => {
  const issue = async (scopes?: readonly AdminScope[]): Promise<string> => {
    const asked = { name: 'overview', org: null, expiresAt: null }
    const { secret } = await issueAdminKey(
      started().service.store,
      scopes === undefined ? asked : { ...asked, scopes },
      NOW,
    )
    return secret
  }
  const ask = async (key: string, body: object): Promise<object> => {
    const response = await fetch(`${started().service.address}/v1/analytics/projects`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as object
  }

  test('shows the numbers of each project, sorts them, and opens one with a key of its own', async () => {
    const { browser, service } = started()
    const { address, store } = service
    const event = { timestamp: '2026-02-20T10:00:00Z', user_id: 'a', path: '/' }
    await createWorld(store, [event], { id: 'blog', name: 'The blog', org: 'acme' })
    await createWorld(store, [], { id: 'empty', name: 'Nobody yet', org: 'other' })
    const key = await issue()
    const { page, act, errors, close } = await openExplorer(
      browser,
      { address, key },
      '?period=30days',
    )
    const readShown = () => page.evaluate(READ_ROWS)
    const query = {
      date_range: '30days',
      metrics: ['users', 'visits', 'pageviews', 'events'],
      interval: 'day',
      order_by: [['users', 'desc']],
      limit: 50,
      offset: 0,
      compare: 'previous_period',
    }
    await page.click('.corner summary')
    await page.waitForSelector('.corner pre')
    expect(JSON.parse(await readText(page, '.corner pre'))).toEqual(query)
    expect(await readTexts(page, '.forms [aria-pressed]')).toEqual(['JSON', 'curl', 'TypeScript'])
    // The menu lies on the heads of the columns.
    await page.keyboard.press('Escape')
    expect(await readShown()).toEqual(toRows(await ask(key, query)))
    expect(await readTexts(page, 'tbody th')).toEqual(['Known numbers', 'The blog', 'Nobody yet'])

    await act(() => page.locator('thead th:first-child button').click())
    const byProject = { ...query, order_by: [['project', 'asc']] }
    expect(await readShown()).toEqual(toRows(await ask(key, byProject)))
    await act(() => page.select('select[name=org]', 'acme'))
    expect(await readTexts(page, 'tbody th')).toEqual(['The blog'])

    await act(() => page.locator('tbody a').click())
    expect(page.url()).toBe(`${address}/explore/blog?period=30days`)
    expect(await readText(page, 'h1')).toBe('The blog')
    expect(await readText(page, '.card[data-metric=users] strong')).toBe('1')
    expect(await listKeys(store.writer, 'blog')).toMatchObject([
      { name: 'explorer', scopes: ['read'], expiresAt: expect.any(Date) },
    ])
    // The key is there already.
    await act(() => page.reload())
    expect(await listKeys(store.writer, 'blog')).toHaveLength(1)
    await act(() => page.locator('.bar a[href="/explore"]').click())
    expect(await readText(page, 'h1')).toBe('All projects')
    expect(page.url()).not.toContain(key)
    expect(errors).toEqual([])
    await close()
  })

  test('says which scope an admin key lacks', async () => {
    const { browser, service } = started()
    const { address } = service
    const key = await issue(['analytics:read'])
    const { page, close } = await openExplorer(browser, { address, key }, '?period=30days')
    expect(await readTexts(page, 'tbody th')).toContain(service.id)
    await page.locator('tbody a').click()
    await page.waitForSelector('[role=alert]')
    expect(await readText(page, '[role=alert]')).toBe(
      'The project cannot be opened: This operation needs an admin key with the scope keys:write. This key has: analytics:read.',
    )
    await close()
  })
})

/** Reads the rows of the page: their projects, numbers and changes. */
const READ_ROWS = `[...document.querySelectorAll('tbody tr')].map((row) => [
  row.dataset.value,
  ...[...row.querySelectorAll('td[data-metric]')].map((cell) =>
    [...cell.querySelectorAll('data')].map((one) => Number(one.value))),
])`

interface Row {
  readonly project: string
  readonly metrics: Readonly<Record<string, number>>
  readonly comparison: { readonly change: Readonly<Record<string, number | null>> }
}

/** What the page shows of a response. */
const toRows = (response: object): readonly unknown[] =>
  (response as { readonly data: readonly Row[] }).data.map(({ project, metrics, comparison }) => [
    project,
    ...Object.entries(metrics).map(([metric, value]) =>
      [value, comparison.change[metric]].filter((one) => typeof one === 'number'),
    ),
  ])
