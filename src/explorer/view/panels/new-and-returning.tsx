/** How many of the users are new, and how many have been there before. */
import type { QueryAnswer } from '../../client/contract.js'
import { Bars } from './bars.js'

export interface NewAndReturningProps {
  readonly answer: QueryAnswer
  readonly isOld: boolean
}

export function NewAndReturning({ answer, isOld }: NewAndReturningProps) {
  const { users = 0, new_users: isNew = 0 } = answer.data[0]?.metrics ?? {}
  const rows = [
    ['New', isNew],
    ['Returning', users - isNew],
  ] as const
  return (
    <Bars
      title={<span class="hidden">Kind</span>}
      metric="users"
      bars={rows.map(([group, count]) => ({
        group,
        label: <span class="label">{group}</span>,
        count,
      }))}
      longest={users}
      whole={users}
      isOld={isOld}
    />
  )
}
