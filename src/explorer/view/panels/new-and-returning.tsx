/** How many of the users are new, and how many have been there before. */
import { formatShare } from '../../format/numbers.js'
import type { QueryAnswer } from '../../client/contract.js'
import { Value } from '../shared/value.js'

export function NewAndReturning({ answer }: { readonly answer: QueryAnswer }) {
  const { users = 0, new_users: isNew = 0 } = answer.data[0]?.metrics ?? {}
  const rows = [
    ['New', isNew],
    ['Returning', users - isNew],
  ] as const
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden">Kind</span>
          </th>
          <th scope="col">Users</th>
          <th scope="col">
            <span class="hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, count]) => (
          <tr key={name} data-value={name}>
            <th scope="row">
              <span class="fill" style={{ width: `${users === 0 ? 0 : (100 * count) / users}%` }} />
              <span class="label">{name}</span>
            </th>
            <td>
              <Value metric="users" value={count} />
            </td>
            <td class="share">{formatShare(count, users)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
