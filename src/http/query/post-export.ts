/** POST /v1/events/export */
import type { RequestHandler, Response } from 'express'
import type { ExportedEvents } from '../../analytics/export/export-events.js'
import type { AnswerFormat } from '../../contract/answer-formats.js'
import type { ExportRequest } from '../../contract/api.js'
import { describeEvents } from '../formats/describe-events.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { streamJson, streamTable } from '../formats/send-table.js'
import { respond } from './api-handlers.js'
import { createOperationContext } from './operation-context.js'
import { answerExport } from './operations.js'
import type { ApiUseCases } from './use-cases.js'

/** Exports events as a stream, in any format. */
export function postExport(api: ApiUseCases, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const { answerFormat = 'json' } = request
    const send = (events: ExportedEvents, pace: ReaderPace) =>
      sendEvents(response, answerFormat, events, pace)
    await respond(response, stopping, ignore, (signal) => {
      const context = createOperationContext(request, signal)
      return answerExport(api, request.body as ExportRequest, context, send)
    })
  }
}

const ignore = (): void => undefined

async function sendEvents(
  response: Response,
  format: AnswerFormat,
  events: ExportedEvents,
  pace: ReaderPace,
): Promise<void> {
  const { period, query } = events
  const table = describeEvents(events)
  if (format === 'json') await streamJson(response, { period, query }, table, pace)
  else await streamTable(response, format, table, pace)
}
