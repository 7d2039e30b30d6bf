/** Sends the results of a batch in the format that its request accepts. */
import type { Request, Response } from 'express'
import { MEDIA_TYPES } from '../../contract/answer-formats.js'
import type { BatchResponse, BatchResult } from '../../contract/api.js'
import '../server/request-context.js'

export interface ResultSender {
  /** To be called with each result as soon as it is there. */
  readonly add: (result: BatchResult) => void
  /** To be called with all results, in the order of their queries. */
  readonly end: (answer: BatchResponse) => void
}

/**
 * Creates the sender of a batch. NDJSON is sent line by line, so an error after the first one breaks off the connection: a response
 * that has an end has all results.
 */
export const createSender = ({ answerFormat }: Request, response: Response): ResultSender =>
  answerFormat === 'ndjson'
    ? {
        add: (result) => {
          if (!response.headersSent) response.type(MEDIA_TYPES.ndjson)
          // A batch has few results, so nothing waits until the client has taken the last one.
          response.write(`${JSON.stringify(result)}\n`)
        },
        end: () => void response.end(),
      }
    : {
        add: () => undefined,
        end: (answer) => void response.json(answer),
      }
