/** Formats what the demo prints when it is ready. */
import type { StoredProject } from '../projects/project.js'
import { formatDashboardLink, formatExplorerLink, toOpenable } from './shared/explorer-link.js'

interface Welcome {
  /** Where the service listens, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  readonly project: Pick<StoredProject, 'id' | 'domain' | 'hasPublicDashboard'>
  readonly apiKey: string
  /** Days until the key expires. */
  readonly keyDays: number
}

const QUERY = JSON.stringify({
  date_range: '30days',
  metrics: ['users', 'pageviews', 'bounce_rate'],
  group_by: ['country'],
  limit: 5,
})

/** Formats the welcome text: the link to the explorer, the addresses to open, the key, and two requests to paste into a shell. */
export function formatWelcome({ address, project, apiKey, keyDays }: Welcome): string {
  const url = toOpenable(address)
  // People may turn it off.
  const share = project.hasPublicDashboard
    ? `\n  share:    ${formatDashboardLink(url, project.id)}\n            the same for everybody, without a key`
    : ''
  return `
The demo is ready. Press Ctrl-C to stop it.

  look:     ${formatExplorerLink(url, apiKey)}${share}

  docs:     ${url}/docs
  shop:     ${url}/demo
            visit it: your own visits are counted
  project:  ${project.id} (${project.domain})
  API key:  ${apiKey}
            expires in ${keyDays} days

Query the visitors of the last 30 days by country:

  curl -s ${url}/v1/analytics/query \\
    -H 'Authorization: Bearer ${apiKey}' \\
    -H 'Content-Type: application/json' \\
    -d '${QUERY}'

Show the project of the key:

  curl -s ${url}/v1/project \\
    -H 'Authorization: Bearer ${apiKey}'
`
}
