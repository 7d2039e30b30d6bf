/** The command `tallyhouse project status`: how a project is doing. */
import type { Command } from 'commander'
import { readProjectStatus, type ProjectStatus } from '../usage/project-status.js'
import { formatCount } from '../lib/counts.js'
import type { OutputOptions } from './project-output.js'
import type { CommandContext } from './shared/context.js'
import { escapeControls, formatJson, formatTable, formatTime } from './shared/output.js'
import { withStore } from './shared/with-store.js'

export function addStatus(project: Command, context: CommandContext): void {
  project
    .command('status')
    .description(
      'Show when events arrived, what waits, what was rejected lately, and what is wrong',
    )
    .argument('<id>', 'Id of the project')
    .option('--json', 'Print JSON')
    .action((id: string, { json = false }: OutputOptions) =>
      withStore(context, 'project status', async ({ cluster }) => {
        const status = await readProjectStatus(cluster, id, context.now)
        context.print(json ? formatJson(status) : formatStatus(status))
      }),
    )
}

function formatStatus({
  firstEventAt,
  lastEventAt,
  waiting,
  lagSeconds,
  rejectedLately,
  problems,
}: ProjectStatus): string {
  const { days, reasons, samples } = rejectedLately
  const rejected = Object.entries(reasons).filter(([, count]) => count > 0)
  const lag = waiting === 0 ? '' : `, the oldest for ${formatCount(lagSeconds, 'second')}`
  return formatTable([
    ['first event', formatTime(firstEventAt)],
    ['last event', formatTime(lastEventAt)],
    ['waiting', `${formatCount(waiting, 'event')}${lag}`],
    ...(rejected.length === 0 ? [[`rejected in ${days} days`, 'none']] : []),
    ...rejected.map(([reason, count]) => [
      `rejected in ${days} days`,
      `${formatCount(count, 'event')}: ${reason}`,
    ]),
    ...samples.flatMap(({ at, reason, line }) => [
      [`rejected ${formatTime(at)}`, escapeControls(reason)],
      ['', escapeControls(line)],
    ]),
    ...problems.map(({ kind, message }) => [`problem: ${kind}`, message]),
  ])
}
