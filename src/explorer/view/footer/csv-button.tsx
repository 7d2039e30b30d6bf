/** Downloads the answer to a question as CSV, with all its rows. */
import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../client/api.js'
import type { Question } from '../../client/contract.js'
import { ApiFailure } from '../../client/failure.js'
import { buildTableRequest, nameTable } from '../../code/footer.js'

export function CsvButton({ api, question }: { readonly api: Api; readonly question: Question }) {
  const [status, setStatus] = useState<{ isBusy: boolean; message: string }>(IDLE)
  // What is said about a question is not about the next one.
  useEffect(() => setStatus(IDLE), [question])
  const download = async (): Promise<void> => {
    setStatus({ isBusy: true, message: '' })
    try {
      const { content, period } = await api.readTable(buildTableRequest(question))
      save(content, nameTable(question, period))
      setStatus({ isBusy: false, message: 'Downloaded' })
    } catch (error) {
      const reason = error instanceof ApiFailure ? error.message : String(error)
      setStatus({ isBusy: false, message: `No file: ${reason}` })
    }
  }
  return (
    <>
      <button class="csv" disabled={status.isBusy} onClick={() => void download()}>
        CSV
      </button>
      <span role="status">{status.message}</span>
    </>
  )
}

const IDLE = { isBusy: false, message: '' }

/** Saves a file where the browser keeps downloads. */
function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser has begun to read it after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
