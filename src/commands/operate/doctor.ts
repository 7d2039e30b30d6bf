/** The command `tallyhouse doctor`: checks an installation, and says what to do about what it finds. */
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'
import type { AddCommand } from '../shared/context.js'
import { formatJson, formatTable } from '../shared/output.js'
import { examine } from './examine.js'
import type { Examined } from './examine-store.js'

export const addDoctor: AddCommand = (program, context) => {
  program
    .command('doctor')
    .description('Check the installation, say what to do, and exit with 1 if a check fails')
    .option('--json', 'Print JSON')
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const rows = await examine(context)
      context.print(json ? formatJson(rows) : formatRows(rows))
      const failed = rows.filter(({ verdict }) => verdict === 'fail').length
      if (failed > 0) throw new UserError(`${formatCount(failed, 'check')} failed`)
    })
}

/** Formats one check per line, and what to do about it on the next. */
const formatRows = (rows: readonly Examined[]): string =>
  formatTable(
    rows.flatMap(({ name, verdict, finding, advice }) => [
      [verdict, name, finding],
      ...(advice === null ? [] : [['', '', `→ ${advice}`]]),
    ]),
  )
