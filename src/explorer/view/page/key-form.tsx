/** Asks for an API key. */

export function KeyForm({
  reason,
  onKey,
}: {
  /** Why the last key was of no use. */
  readonly reason: string | undefined
  readonly onKey: (key: string) => void
}) {
  return (
    <main class="key-form">
      <h1>Tallyhouse</h1>
      {reason !== undefined && <p role="alert">{reason}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const key = new FormData(event.currentTarget).get('key')
          if (typeof key === 'string' && key.trim() !== '') onKey(key.trim())
        }}
      >
        <label for="key">API key of the project</label>
        <input
          class="control"
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          required
          autofocus
        />
        <button class="control" type="submit">
          Show the numbers
        </button>
      </form>
      <p>
        The key stays in this tab until you close it. <code>tallyhouse open --project …</code>{' '}
        prints a link with a key; <code>tallyhouse key issue --project …</code> prints a key.
      </p>
    </main>
  )
}
