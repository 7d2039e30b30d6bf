/** Says what went wrong, and asks again where that may help. */
import type { Failure } from '../../client/failure.js'
import type { Parts } from './parts.js'

export function FailureNote({
  failure: { message, canRetry },
  answers: { retry },
}: Pick<Parts, 'answers'> & { readonly failure: Failure }) {
  return (
    <p class="failure" role="alert">
      {message}{' '}
      {canRetry && (
        <button class="control" onClick={retry}>
          Try again
        </button>
      )}
    </p>
  )
}
