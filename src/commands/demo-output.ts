/** What the demo says when it is ready. */

export interface Shown {
  readonly address: string
  readonly project: string
  readonly token: string
  readonly keyDays: number
}

const QUESTION = JSON.stringify({
  date_range: '30days',
  metrics: ['users', 'pageviews', 'bounce_rate'],
  group_by: ['country'],
  limit: 5,
})

/** Where to look, the key, and two requests to paste into a shell. */
export function welcome({ address, project, token, keyDays }: Shown): string {
  // An address that stands for all addresses of the machine is none to go to.
  const url = address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  return `
The demo is ready. Stop it with Ctrl-C.

  docs     ${url}/docs
  shop     ${url}/demo
           what you do there is tracked, and counts
  project  ${project}
  API key  ${token}
           good for ${keyDays} days

Ask it who came in the last 30 days:

  curl -s ${url}/v1/analytics/query \\
    -H 'Authorization: Bearer ${token}' \\
    -H 'Content-Type: application/json' \\
    -d '${QUESTION}'

and which project the key belongs to:

  curl -s ${url}/v1/project \\
    -H 'Authorization: Bearer ${token}'
`
}
